//! A view of this machine's files that nothing inside can write to.
//!
//! A mount namespace whose root holds every top-level entry of the real one, bound recursively and read-only, plus
//! the few places of [`Layout`] that the kernel program needs. A guest kernel that remounts its root, as root or not,
//! meets the host's read-only mounts underneath. A PID namespace around it makes sure that nothing outlives it.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::sched::{unshare, CloneFlags};
use nix::unistd::{chdir, getegid, geteuid, pivot_root};

/// Where things stand inside the sandbox. Fixed, because the kernel's command line must not differ between boots.
pub struct Layout;

impl Layout {
    /// The shared folder, the only place that leads to a host file that can be written.
    pub const SHARE: &'static str = "/rexmit";
    /// This program, the guest's process 1.
    pub const INIT: &'static str = "/.rexmit-init";
    /// A tmpfs for the guest's memory and the kernel program's own files.
    pub const MEMORY: &'static str = "/.rexmit-memory";
}

/// Leaves the caller's namespaces for new ones: mount and PID, and a user namespace when not root.
///
/// The PID namespace takes effect for the next child.
pub fn unshare_namespaces() -> Result<()> {
    let (uid, gid) = (geteuid(), getegid());
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID;
    if !uid.is_root() {
        flags |= CloneFlags::CLONE_NEWUSER;
    }
    unshare(flags).context(
        "cannot make namespaces of its own; without root this needs unprivileged user namespaces \
         (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0)",
    )?;
    if !uid.is_root() {
        fs::write("/proc/self/setgroups", "deny").context("/proc/self/setgroups")?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).context("/proc/self/uid_map")?;
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).context("/proc/self/gid_map")?;
    }
    Ok(())
}

/// Makes the read-only root over `share` and enters it. Call it in the mount namespace of [`unshare_namespaces`].
///
/// `memory_bytes` bounds the tmpfs for the guest's memory.
pub fn enter(share: &Path, init: &Path, memory_bytes: u64) -> Result<()> {
    const NONE: Option<&str> = None;
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)
        .context("cannot make the mounts private")?;

    // The new root hangs below the shared folder: a place that is known to be there and to be ours.
    let root = share.join(".root");
    fs::create_dir_all(&root).with_context(|| root.display().to_string())?;
    mount(
        Some("tmpfs"),
        &root,
        Some("tmpfs"),
        MsFlags::empty(),
        Some("mode=755,size=1m"),
    )
    .context("cannot mount a tmpfs for the sandbox's root")?;
    // Unbindable, or the recursive bind of the folder above it would hold it once more.
    mount(NONE, &root, NONE, MsFlags::MS_UNBINDABLE, NONE)?;

    // The host's /proc leads out, by the root and the folder of every process there; its /dev to every disk.
    let skip = [Layout::SHARE, Layout::INIT, Layout::MEMORY, "/proc", "/dev"].map(PathBuf::from);
    for entry in fs::read_dir("/").context("/")? {
        let from = entry?.path();
        if !skip.contains(&from) {
            bind_entry(&from, &root)
                .with_context(|| format!("cannot show {} to the guest", from.display()))?;
        }
    }
    let inside = |path: &str| root.join(path.trim_start_matches('/'));
    bind(init, &inside(Layout::INIT), false)?;
    fs::create_dir(inside("/proc"))?;
    mount(
        Some("proc"),
        &inside("/proc"),
        Some("proc"),
        MsFlags::empty(),
        NONE,
    )
    .context("cannot mount /proc for the sandbox's own processes")?;
    fs::create_dir(inside("/dev"))?;
    for device in DEVICES {
        fs::write(inside(device), "")?;
    }
    fs::create_dir(inside(Layout::SHARE))?;
    fs::create_dir(inside(Layout::MEMORY))?;
    set_attributes(
        &root,
        libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID,
    )?;

    for device in DEVICES {
        bind(Path::new(device), &inside(device), false)?;
    }
    bind(share, &inside(Layout::SHARE), true)?;
    set_attributes(
        &inside(Layout::SHARE),
        libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID,
    )?;
    let options = format!("mode=700,size={memory_bytes}");
    mount(
        Some("tmpfs"),
        &inside(Layout::MEMORY),
        Some("tmpfs"),
        MsFlags::empty(),
        Some(options.as_str()),
    )
    .context("cannot mount a tmpfs for the guest's memory")?;

    // pivot_root(2): with both arguments ".", the old root ends up on top of the new one, to be detached.
    chdir(&root)?;
    pivot_root(".", ".").context("pivot_root")?;
    umount2(".", MntFlags::MNT_DETACH).context("cannot let go of the old root")?;
    chdir("/")?;
    drop_rights()
}

/// What the kernel program and the launcher open themselves.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/// Gives up, for all programs started from here on, the rights of root that reach beyond files: to make device nodes, to
/// mount, to change the network, clock or kernel of the host.
fn drop_rights() -> Result<()> {
    /// linux/capability.h: NET_ADMIN, NET_RAW, SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_BOOT, SYS_TIME, MKNOD.
    const BEYOND_FILES: [libc::c_ulong; 9] = [12, 13, 16, 17, 19, 21, 22, 25, 27];
    for capability in BEYOND_FILES {
        // SAFETY: prctl with plain numbers.
        let result = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        if result != 0 {
            return Err(std::io::Error::last_os_error()).context("cannot give up rights");
        }
    }
    Ok(())
}

fn bind_entry(from: &Path, root: &Path) -> Result<()> {
    let to = root.join(from.strip_prefix("/")?);
    let kind = fs::symlink_metadata(from)?.file_type();
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_dir() {
        fs::create_dir(&to)?;
        bind(from, &to, true)?;
    } else if kind.is_file() {
        bind(from, &to, true)?;
    }
    Ok(())
}

fn bind(from: &Path, to: &Path, recursive: bool) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
    } else if !to.exists() {
        fs::write(to, "")?;
    }
    let flags = MsFlags::MS_BIND
        | if recursive {
            MsFlags::MS_REC
        } else {
            MsFlags::empty()
        };
    mount(Some(from), to, None::<&str>, flags, None::<&str>)
        .with_context(|| format!("cannot bind {} to {}", from.display(), to.display()))
}

/// Sets attributes (`MOUNT_ATTR_…`) of every mount at and below `root`, as mount_setattr(2) does in one step (Linux 5.12).
fn set_attributes(root: &Path, set: u64) -> Result<()> {
    let dir = fs::File::open(root)?;
    let empty = CString::new("")?;
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is a C string, the structure is live for the call and its size is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            dir.as_raw_fd(),
            empty.as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result != 0 {
        let error = std::io::Error::last_os_error();
        bail!(
            "cannot protect {:?}: {error} (mount_setattr needs Linux 5.12)",
            root.as_os_str().as_bytes()
        );
    }
    Ok(())
}

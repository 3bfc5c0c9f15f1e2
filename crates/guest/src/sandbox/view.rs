//! A root of its own: most of this machine's files, that nothing inside can write to.
//!
//! It holds every top-level entry of the real root, bound recursively and read-only; fresh ones in place of those that
//! lead to processes, devices and daemons of the host; nothing where [`secrets`] are; and the few [`Place`]s of its own.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::unistd::{chdir, pivot_root};

use super::{below, secrets};

/// What the program sees.
pub struct View {
    /// What it has besides this machine's files.
    pub places: Vec<Place>,
    /// Paths (absolute, without links) that are seen though they, or a folder above, would be hidden.
    pub shown: Vec<PathBuf>,
}

/// Something that stands at a path of the sandbox.
pub enum Place {
    /// A file of the host that can be read.
    Readable {
        /// On the host, without links.
        from: PathBuf,
        /// Inside.
        to: PathBuf,
    },
    /// A folder of the host that can be written.
    Writable {
        /// On the host, without links.
        from: PathBuf,
        /// Inside.
        to: PathBuf,
    },
    /// An empty folder that is gone in the end.
    Memory {
        /// Inside.
        to: PathBuf,
        /// How much it may hold; half of the machine's memory if nothing is said.
        bytes: Option<u64>,
    },
}

/// Where the new root is put together: a folder that every machine has and that is not part of it.
const ROOT: &str = "/proc";
/// Top-level folders that are not the host's. Its /proc leads out, by the root and the folder of every process there; its
/// /dev to every disk; /run to the sockets of every daemon; /sys tells of the machine.
const FRESH: [&str; 4] = ["/proc", "/dev", "/sys", "/run"];
/// The devices that there are.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// An empty folder and an empty file, to be put over what is hidden.
const NOTHING: &str = "/.rexmit-hidden";

const NONE: Option<&str> = None;
const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID;
const WRITABLE: u64 = libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID;

/// One mount on the new root, in the order of their paths: what lies deeper comes later and is on top.
enum Layer<'a> {
    Place(&'a Place),
    Shown,
    Hidden,
}

/// Keeps what is mounted from here on to this mount namespace.
pub fn keep_private() -> Result<()> {
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)
        .context("cannot make the mounts private")
}

impl View {
    /// Makes it the root of this process. Call it in a mount namespace and as the first process of a PID namespace.
    pub(super) fn enter(&self) -> Result<()> {
        let layers = self.layers();
        let root = Path::new(ROOT);
        tmpfs(root, "mode=755,size=1m")?;
        self.bind_top_level(root)?;
        make_fresh(root)?;

        let mut sealed = vec![root.to_owned()];
        for (path, layer) in &layers {
            let to = below(root, path);
            match layer {
                Layer::Place(Place::Readable { from, .. }) => bind(from, &to, READ_ONLY)?,
                Layer::Place(Place::Writable { from, .. }) => bind(from, &to, WRITABLE)?,
                Layer::Place(Place::Memory { bytes, .. }) => {
                    fs::create_dir_all(&to)?;
                    let size = bytes.map(|bytes| format!(",size={bytes}"));
                    tmpfs(&to, &format!("mode=1777{}", size.unwrap_or_default()))?;
                }
                Layer::Shown => bind(path, &to, READ_ONLY)?,
                Layer::Hidden if !to.exists() => {}
                Layer::Hidden if layers.iter().any(|(other, _)| is_below(other, path)) => {
                    tmpfs(&to, "mode=755,size=1m")?;
                    sealed.push(to);
                }
                Layer::Hidden => {
                    let kind = if to.is_dir() { "folder" } else { "file" };
                    bind(&below(root, Path::new(NOTHING)).join(kind), &to, READ_ONLY)?;
                }
            }
        }
        for path in &sealed {
            set_attributes(path, READ_ONLY, false)?;
        }
        for device in DEVICES.into_iter().map(Path::new) {
            let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;
            bind(device, &below(root, device), attributes)?;
        }

        // pivot_root(2): with both arguments ".", the old root ends up on top of the new one, to be detached.
        chdir(root)?;
        pivot_root(".", ".").context("pivot_root")?;
        umount2(".", MntFlags::MNT_DETACH).context("cannot let go of the old root")?;
        chdir("/")?;
        Ok(())
    }

    fn layers(&self) -> Vec<(PathBuf, Layer<'_>)> {
        let mut layers: Vec<_> = self
            .shown
            .iter()
            .map(|path| (path.clone(), Layer::Shown))
            .collect();
        layers.extend(self.places.iter().map(|place| {
            let (Place::Readable { to, .. }
            | Place::Writable { to, .. }
            | Place::Memory { to, .. }) = place;
            (to.clone(), Layer::Place(place))
        }));
        for path in secrets::here() {
            let shown = self.shown.iter().any(|shown| path.starts_with(shown));
            let taken = layers.iter().any(|(other, _)| *other == path);
            if !shown && !taken {
                layers.push((path, Layer::Hidden));
            }
        }
        // A path sorts before what is below it.
        layers.sort_by(|(one, _), (other, _)| one.cmp(other));
        layers
    }

    fn bind_top_level(&self, root: &Path) -> Result<()> {
        let own = |path: &Path| {
            self.places.iter().any(|place| {
                let (Place::Readable { to, .. }
                | Place::Writable { to, .. }
                | Place::Memory { to, .. }) = place;
                to == path
            })
        };
        for entry in fs::read_dir("/").context("/")? {
            let from = entry?.path();
            if own(&from) || FRESH.iter().any(|fresh| from == Path::new(fresh)) {
                continue;
            }
            let to = below(root, &from);
            let kind = fs::symlink_metadata(&from)?.file_type();
            if kind.is_symlink() {
                symlink(fs::read_link(&from)?, to)?;
            } else if kind.is_dir() || kind.is_file() {
                bind(&from, &to, READ_ONLY).context("cannot show this machine's files")?;
            }
        }
        Ok(())
    }
}

/// The top-level folders that are not the host's, and where devices go.
fn make_fresh(root: &Path) -> Result<()> {
    for folder in FRESH {
        fs::create_dir(below(root, Path::new(folder)))?;
    }
    let proc = root.join("proc");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
    mount(Some("proc"), &proc, Some("proc"), flags, NONE)
        .context("cannot mount /proc for the sandbox's own processes")?;
    for device in DEVICES {
        fs::write(below(root, Path::new(device)), "")?;
    }
    let descriptors = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ];
    for (name, to) in descriptors {
        symlink(to, root.join("dev").join(name))?;
    }
    let nothing = below(root, Path::new(NOTHING));
    fs::create_dir_all(nothing.join("folder"))?;
    fs::write(nothing.join("file"), "")?;
    Ok(())
}

/// Whether `path` lies below `folder`.
fn is_below(path: &Path, folder: &Path) -> bool {
    path != folder && path.starts_with(folder)
}

fn tmpfs(to: &Path, options: &str) -> Result<()> {
    let flags = MsFlags::MS_NODEV | MsFlags::MS_NOSUID;
    mount(Some("tmpfs"), to, Some("tmpfs"), flags, Some(options))
        .with_context(|| format!("cannot mount a tmpfs on {}", to.display()))
}

/// Binds `from`, and what is mounted below it, to `to`, which is made where it is missing.
fn bind(from: &Path, to: &Path, attributes: u64) -> Result<()> {
    let missing = || format!("cannot make {} for {}", to.display(), from.display());
    if from.is_dir() {
        fs::create_dir_all(to).with_context(missing)?;
    } else if !to.exists() {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).with_context(missing)?;
        }
        fs::write(to, "").with_context(missing)?;
    }
    mount(
        Some(from),
        to,
        NONE,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        NONE,
    )
    .with_context(|| format!("cannot bind {} to {}", from.display(), to.display()))?;
    set_attributes(to, attributes, true)
}

/// Sets attributes (`MOUNT_ATTR_…`) of the mount at `path`, and of every mount below it if `recursive`
/// (mount_setattr(2), Linux 5.12).
pub fn set_attributes(path: &Path, set: u64, recursive: bool) -> Result<()> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string, the structure is live for the call and its size is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            name.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result != 0 {
        let error = std::io::Error::last_os_error();
        bail!(
            "cannot protect {}: {error} (mount_setattr needs Linux 5.12)",
            path.display()
        );
    }
    Ok(())
}

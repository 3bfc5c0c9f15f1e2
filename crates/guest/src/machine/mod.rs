//! The guest in an emulated machine: an unmodified kernel image, started from an initramfs, without a file of the host.
//!
//! What it needs of the host comes through [`fw_cfg`], what it has to tell goes out by a [port](ports) in [frames]; the
//! host's side is in [`launch`] and [`intake`].

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

pub mod frames;
mod fw_cfg;
pub mod intake;
pub mod launch;
mod modules;
mod order;
pub mod ports;
mod qmp;
mod random;
mod ticks;
mod unpack;

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use nix::mount::{mount, MsFlags};
use nix::sys::stat::{makedev, mknod, Mode, SFlag};

use crate::sandbox::Layout;
use frames::Kind;

/// Stands in the initramfs that rexmit makes: the modules to load, in order.
const MODULES: &str = "/.rexmit/modules";

/// How long (virtual time) the kernel may take to settle on its clock: two seconds on kernels that measure it.
const CLOCK_SETTLES: Duration = Duration::from_secs(10);

/// Whether this guest runs in an emulated machine, not as a user-mode kernel.
pub fn here() -> bool {
    Path::new(MODULES).exists()
}

/// Brings the machine to where every run begins, pauses there, and then takes what it is given for this run: files,
/// randomness and, in the shared folder, the plan.
pub fn start() -> Result<()> {
    ports::open()?;
    mount_all()?;
    modules::load(Path::new(MODULES))?;
    wait_for_the_clock();
    crate::clock::set_ticks_began(ticks::began_ns());
    ports::pause();
    random::seed(&fw_cfg::read("seed")?)?;
    unpack::unpack(&fw_cfg::read("files")?, Path::new("/"))?;
    fs::write(
        Path::new(Layout::SHARE).join("plan.json"),
        fw_cfg::read("plan")?,
    )
    .context("plan.json")
}

/// Appends to a stream of the host's.
pub fn send(stream: &str, bytes: &[u8]) {
    for part in bytes.chunks(frames::LONGEST) {
        send_frame(Kind::Stream, stream, 0, part);
    }
}

/// Hands what lies at `path`, a name below `share`, over to the host, and removes it here.
pub fn hand_over(share: &Path, path: &Path) -> Result<()> {
    let name = path.strip_prefix(share)?.to_string_lossy().into_owned();
    let found = fs::symlink_metadata(path)?;
    let kind = found.file_type();
    let mode = (found.permissions().mode() & 0o777) as u16;
    if kind.is_symlink() {
        let target = fs::read_link(path)?;
        send_frame(Kind::Link, &name, mode, target.as_os_str().as_bytes());
    } else if kind.is_dir() {
        send_frame(Kind::Folder, &name, mode, b"");
        for entry in sorted(path)? {
            hand_over(share, &entry)?;
        }
        fs::remove_dir(path)?;
        return Ok(());
    } else if kind.is_file() {
        let mut file = fs::File::open(path)?;
        send_frame(Kind::File, &name, mode, b"");
        let mut buffer = vec![0; frames::LONGEST];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                length => send_frame(Kind::More, &name, 0, &buffer[..length]),
            }
        }
    }
    fs::remove_file(path).with_context(|| path.display().to_string())
}

/// Hands over all that lies in the shared folder.
pub fn hand_over_all(share: &Path) -> Result<()> {
    for path in sorted(share)? {
        if path.file_name().is_some_and(|name| name != "plan.json") {
            hand_over(share, &path)?;
        }
    }
    Ok(())
}

fn sorted(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut found = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

fn send_frame(kind: Kind, name: &str, mode: u16, data: &[u8]) {
    static TURN: Mutex<()> = Mutex::new(());
    let bytes = frames::encode(kind, name, mode, data);
    // Two threads' frames must not mix.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    ports::write(&bytes);
}

/// Kernel file systems, devices, and memory to write in; all else is the initramfs, which is memory too.
fn mount_all() -> Result<()> {
    let fresh = |kind: &str, to: &str, options: &str| {
        fs::create_dir_all(to)?;
        mount(Some(kind), to, Some(kind), MsFlags::empty(), Some(options))
            .with_context(|| format!("cannot mount {kind} on {to}"))
    };
    fresh("proc", "/proc", "")?;
    fresh("sysfs", "/sys", "")?;
    // An old or small kernel may not keep devices itself.
    if fresh("devtmpfs", "/dev", "mode=755").is_err() {
        fresh("tmpfs", "/dev", "mode=755")?;
        for (name, minor) in [
            ("null", 3),
            ("zero", 5),
            ("full", 7),
            ("random", 8),
            ("urandom", 9),
        ] {
            let mode = Mode::from_bits_truncate(0o666);
            let path = Path::new("/dev").join(name);
            mknod(&path, SFlag::S_IFCHR, mode, makedev(1, minor))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
        }
    }
    for (to, options) in [
        ("/dev/shm", "mode=1777"),
        ("/run", "mode=755"),
        ("/tmp", "mode=1777"),
        ("/var", "mode=755"),
        (Layout::MEMORY, "mode=755"),
        (Layout::SHARE, "mode=755"),
    ] {
        fresh("tmpfs", to, options)?;
    }
    Ok(())
}

/// Waits until the kernel reads the time from the processor. Until then its timers move in whole ticks.
fn wait_for_the_clock() {
    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let began = crate::clock::now();
    loop {
        match fs::read_to_string(CURRENT) {
            Ok(name) if name.trim() != "tsc" => {}
            _ => return,
        }
        if crate::clock::now().as_nanos() - began.as_nanos() > CLOCK_SETTLES.as_nanos() as u64 {
            // Some other clock, then; what a kernel makes of it is its own affair.
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Fails where a file that comes from the host does not hold what it must.
fn not_whole(what: &str) -> Result<()> {
    bail!("{what} is not whole")
}

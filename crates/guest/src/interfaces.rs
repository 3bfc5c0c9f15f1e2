//! The kernel's interfaces that this program speaks, by the version of Linux that has them.
//!
//! docs/notes/old-interfaces.md lists all of them, and what is done on kernels without those that are newer than Linux 3.2; a
//! test holds the program's text against that list. A plan may name a version older than the kernel's (`interfaces`): so the
//! ways for old kernels can be seen at work on a new one.

use std::sync::OnceLock;

/// Major and minor version.
pub type Series = (u32, u32);

static SPOKEN: OnceLock<Series> = OnceLock::new();

/// From now on no interface is spoken that is newer than `series`.
pub fn limit_to(series: Series) {
    // Who comes second finds that something has been spoken already, by the kernel's own version.
    let _ = SPOKEN.set(series);
}

/// Whether interfaces may be spoken that came with `series`.
pub fn has(series: Series) -> bool {
    *SPOKEN.get_or_init(kernel) >= series
}

/// The version of the kernel, whatever interfaces of it are spoken.
pub fn kernel() -> Series {
    static KERNEL: OnceLock<Series> = OnceLock::new();
    *KERNEL.get_or_init(|| {
        let release = nix::sys::utsname::uname().ok();
        release
            .and_then(|names| series(&names.release().to_string_lossy()))
            .unwrap_or_default()
    })
}

/// Major and minor version of a release such as `6.12.117`.
pub fn series(release: &str) -> Option<Series> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Where the kernel shows `what` of the calling thread, such as `net/snmp` or `ns/net`.
///
/// By the thread's number: `/proc/thread-self` came with Linux 3.17, as did `net` below `/proc/self/task/NUMBER`, and
/// `/proc/self/net` shows the network namespace of the program's first thread.
pub fn of_this_thread(what: &str) -> String {
    format!("/proc/{}/{what}", nix::unistd::gettid())
}

#[cfg(test)]
mod tests;

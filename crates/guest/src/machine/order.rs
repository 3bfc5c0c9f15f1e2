//! Which of the emulator's threads runs first: never the processor while the main loop has something to do.
//!
//! When a timer ends while the processor works, its thread wakes the main loop, too, which then looks whether the
//! processor rests, to move the clock on. If it looks in the very moment between the instruction that halts and the
//! account of the instructions before it, the clock moves too far by these, some nanoseconds (QEMU 7.2:
//! `icount_start_warp_timer` against `icount_process_data`). On one core and with this order the main loop is done
//! before the processor goes on, and never looks then.

use std::fs;

use anyhow::{ensure, Context, Result};
use nix::errno::Errno;
use nix::sched::{sched_setaffinity, CpuSet};
use nix::unistd::Pid;

/// What QEMU calls the thread of its processors, with `debug-threads`.
const PROCESSORS: [&str; 2] = ["ALL CPUs/TCG", "CPU 0/TCG"];

/// Ties this process, and what it starts, to the core that it is on.
pub fn stay_here() -> Result<()> {
    // SAFETY: takes nothing.
    let core = Errno::result(unsafe { libc::sched_getcpu() }).context("sched_getcpu")?;
    let mut set = CpuSet::new();
    set.set(usize::try_from(core)?)?;
    sched_setaffinity(Pid::from_raw(0), &set).context("cannot stay on a core")
}

/// Puts the processor's thread behind all others of this core.
pub fn main_loop_first(emulator: Pid) -> Result<()> {
    let mut found = false;
    for thread in fs::read_dir(format!("/proc/{emulator}/task"))? {
        let thread = thread?;
        let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        if PROCESSORS.contains(&name.trim()) {
            let number: libc::pid_t = thread.file_name().to_string_lossy().parse()?;
            let none = libc::sched_param { sched_priority: 0 };
            // SAFETY: the parameters are live.
            let set =
                unsafe { libc::sched_setscheduler(number, libc::SCHED_IDLE, &raw const none) };
            Errno::result(set).context("sched_setscheduler")?;
            found = true;
        }
    }
    ensure!(found, "QEMU has no thread for its processor");
    Ok(())
}

//! The one place that reads the clock.

use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::time::TimeSpec;
use nix::time::{clock_gettime, clock_nanosleep, ClockId, ClockNanosleepFlags};
use rexmit_time::Time;

/// Now, on CLOCK_MONOTONIC.
#[must_use]
pub fn now() -> Time {
    // Fails for clocks that the kernel lacks; this one every kernel has.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC");
    Time::from_nanos(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// When the kernel's count of ticks began, on CLOCK_MONOTONIC: at 0 in a user-mode kernel.
static TICKS_BEGAN_NS: AtomicU64 = AtomicU64::new(0);

/// Notes when the kernel's count of ticks began.
pub fn set_ticks_began(nanos: u64) {
    TICKS_BEGAN_NS.store(nanos, Ordering::Relaxed);
}

/// The first time, `soonest` (nanoseconds) or later, at which the kernel's ticks have filled whole periods. Its timers
/// are the same from there on: the longer ones end at multiples of 8, 64 and more ticks (kernel/time/timer.c).
pub fn boundary(soonest: u64, period_ns: u64) -> u64 {
    let began = TICKS_BEGAN_NS.load(Ordering::Relaxed);
    began
        + soonest
            .saturating_sub(began)
            .next_multiple_of(period_ns.max(1))
}

/// Sleeps until `time`, not the 50 µs longer that Linux allows itself (`timer_slack_ns`); returns at once if that is past.
pub fn sleep_until(time: Time) {
    // A kernel without it sleeps longer, which the rows show.
    let _ = nix::sys::prctl::set_timerslack(1);
    let nanos = time.as_nanos();
    let until = TimeSpec::new(
        (nanos / 1_000_000_000) as i64,
        (nanos % 1_000_000_000) as i64,
    );
    while clock_nanosleep(
        ClockId::CLOCK_MONOTONIC,
        ClockNanosleepFlags::TIMER_ABSTIME,
        &until,
    )
    .is_err()
    {}
}

/// What CLOCK_REALTIME shows less what CLOCK_MONOTONIC does, nanoseconds: the same all the time here, as nobody sets the
/// clock, and exact to the step that a look takes.
#[must_use]
pub fn realtime_over_monotonic_ns() -> u64 {
    let before = now().as_nanos();
    let real = clock_gettime(ClockId::CLOCK_REALTIME).expect("CLOCK_REALTIME");
    let after = now().as_nanos();
    let real = real.tv_sec() as u64 * 1_000_000_000 + real.tv_nsec() as u64;
    real - (before + after) / 2
}

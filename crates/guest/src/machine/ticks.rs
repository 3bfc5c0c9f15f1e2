//! When the kernel's count of ticks began.
//!
//! A user-mode kernel counts from its first nanosecond on. On a real machine ticks are lost before the first timer works,
//! and an old kernel's come at any offset. Where its longer timers end follows from the count, so a transfer has to begin
//! at the same place in it, whatever the kernel.

use std::fs;
use std::time::Duration;

/// Ticks a second that x86 kernels may have (kernel/Kconfig.hz).
const RATES: [u64; 4] = [100, 250, 300, 1000];
/// The count begins five minutes before its lower 32 bits are full (`INITIAL_JIFFIES`).
const BEFORE_FULL_S: u64 = 300;
const SECOND_NS: u64 = 1_000_000_000;

/// What /proc/timer_list says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    now_ns: u64,
    ticks: u64,
    /// When one of the ticks came, or will come.
    tick_ns: u64,
}

/// When the count began, on CLOCK_MONOTONIC; 0 where the kernel does not tell.
pub fn began_ns() -> u64 {
    let look = || parse(&fs::read_to_string("/proc/timer_list").unwrap_or_default());
    let before = look();
    // Long enough for the processor to rest, which notes a tick, and to tell the rates from each other.
    std::thread::sleep(Duration::from_secs(1));
    before
        .zip(look())
        .and_then(|(before, after)| began(before, after))
        .unwrap_or(0)
}

fn parse(list: &str) -> Option<Seen> {
    let after = |name: &str| {
        let line = list
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(name))?;
        let word = line.trim_start_matches([' ', ':']).split(' ').next()?;
        word.parse().ok()
    };
    Some(Seen {
        now_ns: after("now at")?,
        ticks: after("jiffies:")?,
        tick_ns: after(".idle_tick")
            .filter(|at| *at > 0)
            .or_else(|| after(".last_tick"))?,
    })
}

fn began(before: Seen, after: Seen) -> Option<u64> {
    let took = after
        .now_ns
        .checked_sub(before.now_ns)
        .filter(|took| *took > 0)?;
    let counted = after.ticks.checked_sub(before.ticks)? * SECOND_NS / took;
    let rate = RATES
        .into_iter()
        .min_by_key(|rate| rate.abs_diff(counted))?;
    let tick = SECOND_NS / rate;
    let first = (1_u64 << 32) - BEFORE_FULL_S * rate;
    let since = after.ticks.checked_sub(first)?;
    // The tick that is told of may be the next one.
    let edge = after.now_ns - after.now_ns.checked_sub(after.tick_ns % tick)? % tick;
    edge.checked_sub(since * tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(now_ns: u64, ticks: u64, tick_ns: u64) -> Seen {
        Seen {
            now_ns,
            ticks,
            tick_ns,
        }
    }

    #[test]
    fn lost_ticks_move_the_beginning() {
        let before = seen(1_924_882_263, 4_294_892_757, 0);
        let after = seen(2_903_227_405, 4_294_893_001, 2_904_000_000);
        assert_eq!(began(before, after), Some(80_000_000));
    }

    #[test]
    fn ticks_at_an_offset_are_met() {
        // 1000 a second, the first one at 7.3 ms.
        let first = (1 << 32) - 300_000;
        let at = |ms: u64| 7_300_000 + ms * 1_000_000;
        let (before, after) = (
            seen(at(500) + 9, first + 500, at(499)),
            seen(at(1500) + 1, first + 1500, at(1400)),
        );
        assert_eq!(began(before, after), Some(7_300_000));
    }

    #[test]
    fn the_list_is_read() {
        let list = "Timer List Version: v0.9\nnow at 98048 nsecs\n\ncpu: 0\n  .last_tick      : 12000000 nsecs\n\
                    \x20 .last_jiffies   : 4294892300\njiffies: 4294892301\n";
        assert_eq!(parse(list), Some(seen(98_048, 4_294_892_301, 12_000_000)));
        assert_eq!(parse("nothing"), None);
    }
}

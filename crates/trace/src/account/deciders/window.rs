//! The receiver's window: what was left of it took no more, and data followed when it moved on (Linux's
//! `TCP_CHRONO_RWND_LIMITED`; Zhang et al. 2002, *receiver window limited*).

use super::{rate, Owner, Wait};

/// Of fewer packets in flight round trips are long because a receiver holds its acknowledgements back: fewer than every sender may
/// send at first (RFC 6928).
const QUEUES: i64 = 10;

/// Its receiver has no longer room for half of what it had, and half of what is left is used: its program reads no faster than
/// packets come, and where it acknowledges as it reads, round trips are long without a queue on the path.
pub(super) fn lags(wait: &Wait) -> bool {
    let used = |window: u32| window <= wait.largest_window / 2 && wait.flight * 2 >= window.into();
    wait.window.is_some_and(used)
}

pub(super) fn decide(wait: &Wait, program: Owner) -> Option<Owner> {
    // RFC 9293 §3.8.6.2.1: a sender does not send less than a segment, nor less than half of the largest window.
    let least = i64::from(wait.mss.min(wait.largest_window / 2).max(1));
    let window = wait.window?;
    let full = i64::from(window) - wait.flight < least;
    // A byte probes a window that is closed when a timer says so (RFC 9293 §3.8.6.1).
    let probes = window == 0 && wait.lens[1] == 1;
    // What fits into a window of less than a segment is sent when a timer says so (RFC 9293 §3.8.6.2.1).
    let fills = wait.fills && i64::from(wait.lens[1]) < least;
    // Where packets queue, a window that is as large as ever would only make the queue longer.
    let open = window > wait.largest_window / 2
        && wait.flight >= i64::from(wait.mss) * QUEUES
        && rate::decide(wait, program).is_some();
    let held = full && (wait.clocked || probes) || fills;
    (held && !open).then_some(Owner::ReceiverWindow)
}

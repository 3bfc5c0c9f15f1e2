//! The receiver's window: what was left of it took no more, and data followed when it moved on (Linux's
//! `TCP_CHRONO_RWND_LIMITED`; Zhang et al. 2002, *receiver window limited*).

use super::{Owner, Wait};

pub(super) fn decide(wait: &Wait, _: Owner) -> Option<Owner> {
    // RFC 9293 §3.8.6.2.1: a sender does not send less than a segment, nor less than half of the largest window.
    let least = i64::from(wait.mss.min(wait.largest_window / 2).max(1));
    let full = i64::from(wait.window?) - wait.flight < least;
    (full && wait.clocked).then_some(Owner::ReceiverWindow)
}

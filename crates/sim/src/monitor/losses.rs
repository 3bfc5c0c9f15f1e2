//! Packets that passed a point and that its capture has not: of a full buffer, which takes all for a while, and single
//! ones. What the truth knows of them is not in this capture any more.

use rexmit_time::Streams;

use super::packet::{chance, log_between};
use super::Captures;

/// Takes out packets of every point.
pub(super) fn miss(captures: &mut Captures, streams: &Streams) {
    for seen in captures {
        let mut stream = streams.stream("missed", seen.point as u64);
        let single = log_between(&mut stream, 0.0003, 0.02);
        let begins = log_between(&mut stream, 0.00003, 0.002);
        let ends = log_between(&mut stream, 0.02, 0.5);
        let mut is_full = false;
        seen.packets.retain(|_| {
            is_full = chance(&mut stream, if is_full { 1.0 - ends } else { begins });
            !is_full && !chance(&mut stream, single)
        });
    }
}

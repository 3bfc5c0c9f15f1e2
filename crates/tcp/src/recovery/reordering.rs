//! How far packets overtake each other, in segments: the threshold of duplicates follows it, and what relies on order is
//! turned off.
//!
//! | | Linux 3.10 (`tcp_update_reordering`) | Linux 6.x (`tcp_check_sack_reordering`) |
//! |---|---|---|
//! | distance | in segments as sent | in bytes, rounded up to segments |
//! | turns off | FACK once the threshold rises, early retransmit at any distance | RACK's threshold of duplicates |

use rexmit_wire::SeqNum;

/// What reordering does in 3.10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// The threshold of duplicates.
    pub threshold: u32,
    /// FACK is off for good.
    pub fack_off: bool,
    /// So is early retransmit.
    pub early_retransmit_off: bool,
}

/// Segments overtook each other by `distance` segments, in 3.10.
#[must_use]
pub const fn note_segments(distance: u32, threshold: u32, most: u32) -> Noted {
    let raised = distance > threshold;
    Noted {
        threshold: match (raised, distance > most) {
            (false, _) => threshold,
            (true, false) => distance,
            (true, true) => most,
        },
        fack_off: raised,
        early_retransmit_off: distance > 0,
    }
}

/// The threshold after a segment that was never sent again was delivered at `low`, and one at `high` before it, in 6.x;
/// none if that is in order.
#[must_use]
pub fn note_bytes(low: SeqNum, high: SeqNum, mss: u32, threshold: u32, most: u32) -> Option<u32> {
    if !low.is_before(high) {
        return None;
    }
    let distance = high.offset_from(low).unsigned_abs();
    Some(if distance > threshold * mss {
        distance.div_ceil(mss).min(most)
    } else {
        threshold
    })
}

/// Without SACK each duplicate stands for a segment delivered, and there are never more of them than are out besides the
/// lost (`tcp_limit_reno_sacked`): the number to keep, if it is to come down. That it must means reordering.
#[must_use]
pub fn limit_duplicates(duplicates: u32, lost_out: u32, packets_out: u32) -> Option<u32> {
    let holes = lost_out.max(1).min(packets_out);
    (duplicates + holes > packets_out).then(|| packets_out - holes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_3_10_turns_off_what_relies_on_order() {
        let noted = |distance| {
            let noted = note_segments(distance, 3, 127);
            (noted.threshold, noted.fack_off, noted.early_retransmit_off)
        };
        assert_eq!(noted(0), (3, false, false));
        assert_eq!(noted(3), (3, false, true));
        assert_eq!(noted(4), (4, true, true));
        assert_eq!(noted(500), (127, true, true));
    }

    #[test]
    fn linux_6_counts_bytes() {
        let high = SeqNum::new(100);
        let noted = |distance| note_bytes(high - distance, high, 1_000, 3, 300);
        assert_eq!(noted(0), None);
        assert_eq!(noted(3_000), Some(3));
        assert_eq!(noted(3_001), Some(4));
        assert_eq!(noted(900_000), Some(300));
    }

    #[test]
    fn duplicates_are_never_more_than_what_is_out_besides_the_lost() {
        assert_eq!(limit_duplicates(3, 0, 4), None);
        assert_eq!(limit_duplicates(4, 0, 4), Some(3));
        assert_eq!(limit_duplicates(3, 2, 4), Some(2));
        assert_eq!(limit_duplicates(1, 0, 0), Some(0));
    }
}

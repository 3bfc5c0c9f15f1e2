//! Forward acknowledgement (Linux before 4.15): segments are counted up to the highest SACK, holes too, and the clock
//! finds the rest.

use rexmit_wire::SeqNum;

/// Segments up to the highest SACK, which are `reach`; without SACK, the duplicates and the hole (`tcp_fackets_out`).
#[must_use]
pub const fn reach(sack: bool, reach: u32, duplicates: u32) -> u32 {
    if sack {
        reach
    } else {
        duplicates + 1
    }
}

/// Whether a retransmission is lost: something sent after it was SACKed. `nxt_then` is what had been sent when it was
/// (`tcp_mark_lost_retrans`).
#[must_use]
pub fn retransmission_is_lost(highest_sack: SeqNum, nxt_then: SeqNum) -> bool {
    highest_sack.is_after(nxt_then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_sack_the_hole_counts_too() {
        assert_eq!(reach(true, 5, 2), 5);
        assert_eq!(reach(false, 5, 2), 3);
    }

    #[test]
    fn a_retransmission_is_lost_when_later_data_were_sacked() {
        let nxt_then = SeqNum::new(u32::MAX);
        assert!(!retransmission_is_lost(nxt_then, nxt_then));
        assert!(retransmission_is_lost(nxt_then + 1, nxt_then));
    }
}

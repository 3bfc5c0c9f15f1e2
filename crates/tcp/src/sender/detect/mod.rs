//! What finds losses, a part each, and what it goes by.

mod counting;
mod dupack;
mod early_retransmit;
mod fack;
mod rack;
mod rfc6675;

use rexmit_wire::SeqNum;

use crate::recovery::rack::Rack;
use crate::recovery::reordering;
use crate::settings::{EarlyRetransmit, Settings};

use fack::Fack;

/// What loss detection goes by.
#[derive(Clone, Debug)]
pub(super) struct Detection {
    pub rack: Rack,
    pub fack: Fack,
    /// The early retransmit is on (`do_early_retrans`).
    pub early_retransmit: bool,
    /// Duplicates that make a loss, as reordering has raised it (`tp->reordering`).
    pub threshold: u32,
    /// How often reordering was seen (`reord_seen`).
    pub reordering_seen: u32,
    /// D-SACKed segments (`dsack_dups`).
    pub dsacks_reported: u32,
}

impl Detection {
    /// Of a sender whose first byte has the number `first`.
    pub fn new(settings: &Settings, first: SeqNum) -> Self {
        Detection {
            rack: Rack::default(),
            fack: Fack::new(settings.fack, first),
            early_retransmit: settings.early_retransmit != EarlyRetransmit::Off
                && settings.dupack_threshold == 3,
            threshold: settings.dupack_threshold,
            reordering_seen: 0,
            dsacks_reported: 0,
        }
    }

    /// Segments overtook each other by this distance, in 3.10. Whether FACK was turned off by it.
    pub fn note_segments_overtaken(&mut self, distance: u32, most: u32) -> bool {
        let noted = reordering::note_segments(distance, self.threshold, most);
        self.threshold = noted.threshold;
        self.early_retransmit &= !noted.early_retransmit_off;
        let turned_off = noted.fack_off && self.fack.on;
        self.fack.on &= !noted.fack_off;
        turned_off
    }

    /// A segment never sent again was delivered at `low`, one at `high` before it, in 6.x.
    pub fn note_overtaken(&mut self, low: SeqNum, high: SeqNum, mss: u32, most: u32) {
        if let Some(threshold) = reordering::note_bytes(low, high, mss, self.threshold, most) {
            self.threshold = threshold;
            self.reordering_seen += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    fn of(stack: &str) -> Detection {
        let settings = stacks::page(stack).unwrap().settings;
        Detection::new(&settings, SeqNum::new(0))
    }

    #[test]
    fn reordering_turns_off_for_good_what_relies_on_order() {
        let mut detection = of("linux-3.10");
        assert!(detection.fack.on && detection.early_retransmit);
        assert!(!detection.note_segments_overtaken(2, 127));
        assert!(detection.fack.on && !detection.early_retransmit);
        assert!(detection.note_segments_overtaken(5, 127));
        assert!(!detection.note_segments_overtaken(9, 127));
        assert!(!detection.fack.on && detection.threshold == 9);
    }

    #[test]
    fn linux_6_counts_how_often_it_saw_reordering() {
        let mut detection = of("linux-6.12");
        let seq = SeqNum::new;
        detection.note_overtaken(seq(2_000), seq(1_000), 1_000, 300);
        assert_eq!(detection.reordering_seen, 0);
        detection.note_overtaken(seq(1_000), seq(2_000), 1_000, 300);
        detection.note_overtaken(seq(1_000), seq(9_000), 1_000, 300);
        assert_eq!((detection.reordering_seen, detection.threshold), (2, 8));
    }
}

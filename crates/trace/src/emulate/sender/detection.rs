//! What an emulated sender finds losses by, and how reordering changes it.

use rexmit_tcp::recovery::rack::Rack;
use rexmit_tcp::recovery::reordering;
use rexmit_tcp::settings::{AckOrder, EarlyRetransmit, Settings};
use rexmit_wire::SeqNum;

use super::without_frto::Frto;

/// What losses are found by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detection {
    pub rack: Rack,
    pub fack: bool,
    pub early_retransmit: bool,
    /// Duplicates that make a loss, as reordering has raised it (`tp->reordering`).
    pub threshold: u32,
    /// What it was at first, and whether that may be another than the page's.
    pub own_threshold: u32,
    pub threshold_open: bool,
    /// Reordering was seen, in 6.x.
    pub reordered: bool,
    /// Whether the host has F-RTO.
    pub frto: Frto,
}

impl Detection {
    pub fn new(settings: &Settings) -> Self {
        Detection {
            rack: Rack::default(),
            fack: settings.fack,
            early_retransmit: settings.early_retransmit != EarlyRetransmit::Off
                && settings.dupack_threshold == 3,
            threshold: settings.dupack_threshold,
            own_threshold: settings.dupack_threshold,
            // By counting a recovery begins early for other reasons, too.
            threshold_open: settings.ack_order == AckOrder::LossesFirst,
            reordered: false,
            frto: Frto::default(),
        }
    }

    /// Segments overtook each other by this distance, in 3.10.
    pub fn note_segments_overtaken(&mut self, distance: u32, most: u32) {
        let noted = reordering::note_segments(distance, self.threshold, most);
        self.threshold = noted.threshold;
        self.fack &= !noted.fack_off;
        self.early_retransmit &= !noted.early_retransmit_off;
    }

    /// A segment never sent again was delivered at `low`, one at `high` before it, in 6.x.
    pub fn note_overtaken(&mut self, low: SeqNum, high: SeqNum, mss: u32, most: u32) {
        if let Some(threshold) = reordering::note_bytes(low, high, mss, self.threshold, most) {
            self.threshold = threshold;
            self.reordered = true;
        }
    }

    /// The threshold at first is another than the page's.
    pub fn set_own_threshold(&mut self, threshold: u32) {
        self.own_threshold = threshold;
        self.threshold = threshold;
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;

    use super::*;

    fn of(page: &str) -> Detection {
        Detection::new(&stacks::page(page).unwrap().settings)
    }

    #[test]
    fn reordering_turns_off_what_relies_on_order() {
        let mut old = of("linux-3.10");
        assert!(old.fack && old.early_retransmit && !old.threshold_open);
        old.note_segments_overtaken(2, 127);
        assert!(old.fack && !old.early_retransmit);
        old.note_segments_overtaken(5, 127);
        assert!(!old.fack && old.threshold == 5 && old.own_threshold == 3);
    }

    #[test]
    fn what_arrives_in_order_is_no_reordering() {
        let mut new = of("linux-6.12");
        let seq = SeqNum::new;
        new.note_overtaken(seq(2_000), seq(1_000), 1_000, 300);
        assert!(!new.reordered && new.threshold_open);
        new.note_overtaken(seq(1_000), seq(9_000), 1_000, 300);
        assert!(new.reordered && new.threshold == 8);
        new.set_own_threshold(5);
        assert_eq!((new.threshold, new.own_threshold), (5, 5));
    }
}

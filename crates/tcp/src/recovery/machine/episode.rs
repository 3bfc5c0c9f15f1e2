//! What the machine keeps: the state, with what goes with it until nothing is in doubt, and what losses are found by.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use crate::estimator::Rtt;
use crate::recovery::causes::Causes;
use crate::recovery::rack::{Rack, Reordering};
use crate::recovery::undo::Undo;
use crate::recovery::{reordering, tlp, CaState};
use crate::settings::{EarlyRetransmit, Settings};

/// An episode of loss, or the peace between two.
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    /// The state.
    pub state: CaState,
    /// What had been sent when the state began (`high_seq`).
    pub point: SeqNum,
    /// What a reduction would need to be taken back.
    pub undo: Undo,
    /// The tail loss probe.
    pub probe: tlp::Episode,
    /// F-RTO's test runs.
    pub frto: bool,
    /// What retransmissions are called.
    pub causes: Causes,
    /// Timeouts without progress (`icsk_retransmits`).
    pub timeouts: u32,
}

impl Episode {
    /// Nothing is in doubt; the first byte has the number `first`.
    #[must_use]
    pub fn new(first: SeqNum) -> Self {
        Episode {
            state: CaState::Open,
            point: first,
            undo: Undo::default(),
            probe: tlp::Episode::default(),
            frto: false,
            causes: Causes::default(),
            timeouts: 0,
        }
    }

    /// Whether the window is being reduced (`tcp_in_cwnd_reduction`).
    #[must_use]
    pub const fn in_reduction(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }
}

/// What losses are found by, and how reordering changes it.
#[derive(Clone, Copy, Debug)]
pub struct Detection {
    /// RACK.
    pub rack: Rack,
    /// FACK is on: off for good once segments were seen to overtake each other.
    pub fack: bool,
    /// The early retransmit is on (`do_early_retrans`).
    pub early_retransmit: bool,
    /// Duplicates that make a loss, as reordering has raised it (`tp->reordering`).
    pub threshold: u32,
    /// The same as it is set (`tcp_reordering`).
    pub own_threshold: u32,
    /// How often reordering was seen (`reord_seen`).
    pub reordering_seen: u32,
}

impl Detection {
    /// At the beginning of a connection.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Detection {
            rack: Rack::default(),
            fack: settings.loss.fack,
            early_retransmit: settings.loss.early_retransmit != EarlyRetransmit::Off
                && settings.loss.dupack_threshold == 3,
            threshold: settings.loss.dupack_threshold,
            own_threshold: settings.loss.dupack_threshold,
            reordering_seen: 0,
        }
    }

    /// Segments overtook each other by this distance, in 3.10. Whether FACK was turned off by it.
    pub(super) fn note_segments_overtaken(&mut self, distance: u32, most: u32) -> bool {
        let noted = reordering::note_segments(distance, self.threshold, most);
        self.threshold = noted.threshold;
        self.early_retransmit &= !noted.early_retransmit_off;
        let turned_off = noted.fack_off && self.fack;
        self.fack &= !noted.fack_off;
        turned_off
    }

    /// A segment never sent again was delivered at `low`, one at `high` before it, in 6.x.
    pub(super) fn note_overtaken(&mut self, low: SeqNum, high: SeqNum, mss: u32, most: u32) {
        if let Some(threshold) = reordering::note_bytes(low, high, mss, self.threshold, most) {
            self.threshold = threshold;
            self.reordering_seen += 1;
        }
    }

    /// How long RACK waits for reordered segments, in this state, with so many SACKed.
    #[must_use]
    pub fn reordering_window(
        &self,
        settings: &Settings,
        state: CaState,
        sacked_out: u32,
        min_rtt: Option<Duration>,
        rtt: &Rtt,
    ) -> Duration {
        self.rack.reordering_window(&Reordering {
            state,
            seen: self.reordering_seen > 0,
            sacked_out,
            threshold: self.threshold,
            no_threshold: settings.loss.rack_no_dupack_threshold,
            min_rtt,
            srtt: rtt.srtt_micros(),
        })
    }

    /// The threshold at first is another than was thought.
    pub fn set_own_threshold(&mut self, threshold: u32) {
        self.own_threshold = threshold;
        self.threshold = threshold;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    fn of(stack: &str) -> Detection {
        Detection::new(&stacks::page(stack).unwrap().settings)
    }

    #[test]
    fn reordering_turns_off_for_good_what_relies_on_order() {
        let mut detection = of("linux-3.10");
        assert!(detection.fack && detection.early_retransmit);
        assert!(!detection.note_segments_overtaken(2, 127));
        assert!(detection.fack && !detection.early_retransmit);
        assert!(detection.note_segments_overtaken(5, 127));
        assert!(!detection.note_segments_overtaken(9, 127));
        assert!(!detection.fack && detection.threshold == 9 && detection.own_threshold == 3);
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

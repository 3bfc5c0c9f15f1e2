//! What the receiver has shown of itself: what it offers, what it repeats, and which duplicates it reports.

use std::collections::VecDeque;

use rexmit_time::Time;

use super::merge::Ack;
use crate::event::Event;
use crate::measures::Extent;

/// Repeated acknowledgements that are remembered.
const MOST_REPEATS: usize = 64;

/// What the receiver said last.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// Bytes it offers, scaled.
    pub window: Option<u32>,
    /// The byte that was sent last into a window that was shut.
    pub refused: Option<i64>,
    /// Its newest packet that was no RST.
    pub last_heard: Option<Ack>,
    /// Its RSTs, or those of somebody between.
    pub resets: Extent,
    /// Its SYN-ACK, where that came by before the SYN that it answers.
    pub early_answer: Option<Event>,
    /// The last one that said anything, in the sender's order.
    pub last_heard_in_order: Option<Ack>,
}

impl Receiver {
    /// Its window is shut.
    pub fn is_shut(&self) -> bool {
        self.window == Some(0)
    }
}

/// Acknowledgements that repeat the one before, where there is no SACK.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// Those that nothing acknowledged since explains.
    pub credit: u32,
    /// When they came since the edge moved.
    at: VecDeque<Time>,
    /// Most segments in order that one acknowledgement was for.
    pub longest_step: u32,
}

impl Repeats {
    /// The receiver repeated itself at `at`.
    pub fn note(&mut self, at: Time) {
        self.credit += 1;
        if self.at.len() == MOST_REPEATS {
            self.at.pop_front();
        }
        self.at.push_back(at);
    }

    /// The edge moved.
    pub fn forget(&mut self) {
        self.at.clear();
    }

    /// How often it did so after `since`.
    pub fn after(&self, since: Time) -> u32 {
        self.at.iter().filter(|&&at| at > since).count() as u32
    }
}

/// Duplicates, by what the receiver says of them.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// It reported them (D-SACK).
    pub reported: u32,
    /// It must have got them and did not report.
    pub unreported: u32,
    /// It answered them without such a report.
    pub answers: u32,
    /// Keep-alives and window probes whose answers are still to come.
    pub probed: u32,
    /// It reported duplicates of what was sent once.
    pub network_doubles: bool,
}

impl Reports {
    /// Whether it reports duplicates, as far as it has shown; `old`: it is of the time before that was common.
    pub fn are_made(&self, sack: bool, old: bool) -> bool {
        let silent = self.unreported > 1 || self.answers > 0 || old;
        sack && (self.reported > 0 || !silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_reports_until_it_has_shown_that_it_does_not() {
        let mut reports = Reports::default();
        assert!(reports.are_made(true, false));
        assert!(!reports.are_made(false, false) && !reports.are_made(true, true));
        reports.answers = 1;
        assert!(!reports.are_made(true, false));
        reports.reported = 1;
        assert!(reports.are_made(true, true));
    }

    #[test]
    fn repeats_are_counted_until_the_edge_moves() {
        let mut repeats = Repeats::default();
        for nanos in 0..100 {
            repeats.note(Time::from_nanos(nanos));
        }
        assert_eq!(repeats.credit, 100);
        assert_eq!(repeats.after(Time::from_nanos(89)), 10);
        assert_eq!(repeats.after(Time::ZERO), MOST_REPEATS as u32);
        repeats.forget();
        assert_eq!(repeats.after(Time::ZERO), 0);
    }
}

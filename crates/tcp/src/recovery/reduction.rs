//! How much may be in flight while losses are repaired: the window of a reduction, step by step, and at its end.

use super::prr::{Prr, PrrInput};
use super::rate_halving::{self, Halving};
use crate::settings::{Recovery, UndoWindow};

/// The window after a step of a reduction: after an acknowledgement, or when a recovery begins. `halving` is the window
/// before.
pub fn step(rule: Recovery, prr: &mut Prr, halving: Halving, step: PrrInput) -> Halving {
    let cwnd = match rule {
        Recovery::RateHalving => {
            return rate_halving::step(halving, step.ssthresh, step.in_flight);
        }
        Recovery::Prr | Recovery::PrrConservative => prr.step(rule, step),
        // RFC 6582 §3.2, RFC 6675 §5: duplicates and SACKs let the count in flight fall instead.
        Recovery::NewReno | Recovery::Pipe => {
            step.ssthresh.max(step.in_flight + u32::from(step.begins))
        }
    };
    Halving { cwnd, ..halving }
}

/// The window when a reduction ends (`tcp_end_cwnd_reduction`).
#[must_use]
pub fn end(rule: Recovery, cwnd: u32, ssthresh: u32) -> u32 {
    match rule {
        Recovery::RateHalving => cwnd.min(ssthresh),
        _ => ssthresh,
    }
}

/// A window before a reduction is taken back, and what it may become.
#[derive(Clone, Copy, Debug)]
pub struct Reduced {
    /// The congestion window.
    pub cwnd: u32,
    /// The slow start threshold.
    pub ssthresh: u32,
    /// The threshold before the reduction, 0 where it must not come back (`prior_ssthresh`).
    pub prior_ssthresh: u32,
    /// What the congestion control would make of the window (`undo_cwnd`).
    pub undone_cwnd: u32,
}

impl Reduced {
    /// The window and the threshold after a reduction was taken back, the threshold too or the window alone
    /// (`tcp_undo_cwnd_reduction`; 3.10: `tcp_undo_cwr`).
    #[must_use]
    pub fn undone(&self, rule: UndoWindow, threshold_too: bool) -> (u32, u32) {
        match (self.prior_ssthresh, rule) {
            (0, UndoWindow::Threshold) => (self.cwnd.max(self.ssthresh), self.ssthresh),
            (0, UndoWindow::Prior) => (self.cwnd, self.ssthresh),
            (prior, _) if threshold_too => (self.undone_cwnd, self.ssthresh.max(prior)),
            (_, _) => (self.undone_cwnd, self.ssthresh),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_reno_keeps_the_threshold_and_lets_a_recovery_begin_with_a_segment() {
        let view = |begins, in_flight| PrrInput {
            delivered: 1,
            lost: 0,
            advanced: false,
            in_flight,
            ssthresh: 5,
            prior_cwnd: 10,
            begins,
        };
        let before = Halving {
            cwnd: 10,
            acknowledgements: 1,
        };
        let cwnd = |view| step(Recovery::NewReno, &mut Prr::default(), before, view).cwnd;
        assert_eq!(cwnd(view(false, 3)), 5);
        assert_eq!(cwnd(view(false, 9)), 9);
        assert_eq!(cwnd(view(true, 9)), 10);
    }

    #[test]
    fn without_a_threshold_to_come_back_only_3_10_raises_the_window() {
        let reduced = |prior_ssthresh| Reduced {
            cwnd: 4,
            ssthresh: 7,
            prior_ssthresh,
            undone_cwnd: 10,
        };
        let undone = |prior, too| {
            [UndoWindow::Threshold, UndoWindow::Prior].map(|rule| reduced(prior).undone(rule, too))
        };
        assert_eq!(undone(0, true), [(7, 7), (4, 7)]);
        assert_eq!(undone(20, true), [(10, 20); 2]);
        assert_eq!(undone(20, false), [(10, 7); 2]);
    }

    #[test]
    fn rate_halving_alone_does_not_rise_to_the_threshold_at_the_end() {
        assert_eq!(end(Recovery::RateHalving, 4, 7), 4);
        assert_eq!(end(Recovery::Prr, 4, 7), 7);
    }
}

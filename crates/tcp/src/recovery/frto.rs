//! F-RTO (RFC 5682 §3.1): acknowledgements after a timeout tell whether it was spurious.
//!
//! The setting `frto_test` chooses between Linux 3.10's test and that of 6.x. A new loss starts the test in 3.10 when the
//! timeout reduces the threshold, in 6.x when no recovery ran. And after new data were sent, an acknowledgement that advances
//! without deciding the test lets 3.10 send new data once more. Whether undo by timestamps and D-SACK is asked for before the
//! test or after it is the caller's order of work (`ack_order`).

use super::CaState;
use crate::settings::FrtoTest;

/// What decides whether the test begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// The state before the timeout.
    pub state: CaState,
    /// The timeout reduced the threshold.
    pub reduced: bool,
    /// Timeouts without progress, this one not counted.
    pub timeouts: u32,
}

/// Whether a timeout begins the test (RFC 5682 §3.1 step 1, §3.2; `tcp_enter_loss`).
#[must_use]
pub fn begins(test: FrtoTest, view: &Begin) -> bool {
    let new_loss = match test {
        FrtoTest::EachAdvance => view.reduced,
        FrtoTest::Once => view.state < CaState::Recovery,
    };
    new_loss || view.timeouts > 0
}

/// An acknowledgement in the state Loss while the test runs.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Data sent once, before the timeout, were delivered by it.
    pub original: bool,
    /// It moved the first byte not acknowledged.
    pub advanced: bool,
    /// It SACKs something new, or is a duplicate.
    pub sacked_or_duplicate: bool,
    /// New data were sent after the recovery point.
    pub new_data_sent: bool,
    /// It acknowledges the recovery point.
    pub point_acknowledged: bool,
}

/// What an acknowledgement says of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrtoVerdict {
    /// Nothing yet.
    Open,
    /// The timeout was spurious (step 3b).
    Spurious,
    /// The loss is real; the test is over (step 3a).
    Real,
    /// The recovery point moves to what has been sent, and new data are sent if they can be; else the test is over
    /// (step 2b).
    SendNew,
}

/// What an acknowledgement says of a timeout (`tcp_process_loss`).
#[must_use]
pub const fn on_ack(test: FrtoTest, answer: &Answer) -> FrtoVerdict {
    if answer.original {
        return FrtoVerdict::Spurious;
    }
    if answer.new_data_sent && answer.sacked_or_duplicate {
        return FrtoVerdict::Real;
    }
    if answer.new_data_sent && matches!(test, FrtoTest::Once) {
        return FrtoVerdict::Open;
    }
    if answer.advanced && !answer.point_acknowledged {
        FrtoVerdict::SendNew
    } else {
        FrtoVerdict::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: [FrtoTest; 2] = [FrtoTest::EachAdvance, FrtoTest::Once];

    const ANSWER: Answer = Answer {
        original: false,
        advanced: true,
        sacked_or_duplicate: false,
        new_data_sent: false,
        point_acknowledged: false,
    };

    fn judged(answer: Answer) -> [FrtoVerdict; 2] {
        TESTS.map(|test| on_ack(test, &answer))
    }

    #[test]
    fn the_original_that_arrives_after_all_says_spurious() {
        let original = Answer {
            original: true,
            ..ANSWER
        };
        assert_eq!(judged(original), [FrtoVerdict::Spurious; 2]);
    }

    #[test]
    fn the_first_advance_sends_new_data_and_a_duplicate_then_says_real() {
        assert_eq!(judged(ANSWER), [FrtoVerdict::SendNew; 2]);
        let duplicate = Answer {
            advanced: false,
            sacked_or_duplicate: true,
            ..ANSWER
        };
        assert_eq!(judged(duplicate), [FrtoVerdict::Open; 2]);
        let after_new = Answer {
            new_data_sent: true,
            ..duplicate
        };
        assert_eq!(judged(after_new), [FrtoVerdict::Real; 2]);
    }

    #[test]
    fn a_further_advance_sends_new_data_again_in_3_10_only() {
        let further = Answer {
            new_data_sent: true,
            ..ANSWER
        };
        assert_eq!(judged(further), [FrtoVerdict::SendNew, FrtoVerdict::Open]);
        let all = Answer {
            point_acknowledged: true,
            ..ANSWER
        };
        assert_eq!(judged(all), [FrtoVerdict::Open; 2]);
    }

    #[test]
    fn a_timeout_in_recovery_begins_no_test_unless_it_is_a_further_one() {
        let begun = |state, reduced, timeouts| {
            let view = Begin {
                state,
                reduced,
                timeouts,
            };
            TESTS.map(|test| begins(test, &view))
        };
        assert_eq!(begun(CaState::Open, true, 0), [true, true]);
        assert_eq!(begun(CaState::Recovery, false, 0), [false, false]);
        assert_eq!(begun(CaState::Recovery, true, 0), [true, false]);
        assert_eq!(begun(CaState::Loss, false, 1), [true, true]);
    }
}

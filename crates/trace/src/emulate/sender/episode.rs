//! Where an emulated sender stands between losses and their repair.

use rexmit_tcp::recovery::causes::Causes;
use rexmit_tcp::recovery::tlp;
use rexmit_tcp::recovery::undo::Undo;
use rexmit_tcp::recovery::State;
use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::doubt::Before;
use super::instead::Instead;

/// The state, and what belongs to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    pub state: State,
    /// What had been sent when the state began (`high_seq`).
    pub point: SeqNum,
    /// The probe that is out.
    pub probe: tlp::Episode,
    /// F-RTO's test runs.
    pub frto: bool,
    pub undo: Undo,
    /// What retransmissions of it are called.
    pub causes: Causes,
    /// A recovery began then and nothing was sent again since.
    pub entered: Option<Time>,
    /// It went on with what it had not found lost, as no new data could be sent, and none was since.
    pub forward: bool,
    /// It began only if no new data could be sent.
    pub unless_more: bool,
    /// When the last timeout was.
    pub loss_at: Option<Time>,
    /// What it was before the last timeout, if that may have been none.
    pub before: Option<Before>,
    /// The timeout that there may have been in place of what was taken for it.
    pub instead: Option<Instead>,
}

impl Default for Episode {
    fn default() -> Self {
        Episode {
            state: State::Open,
            point: SeqNum::default(),
            probe: tlp::Episode::default(),
            frto: false,
            undo: Undo::default(),
            causes: Causes::default(),
            entered: None,
            forward: false,
            unless_more: false,
            loss_at: None,
            before: None,
            instead: None,
        }
    }
}

impl Episode {
    /// The window is being reduced.
    pub fn in_reduction(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// The recovery that began at this time did not, and nothing was sent again since.
    pub fn take_recovery_back(&mut self) {
        self.entered = None;
        self.causes.recovery_began = false;
        self.state = State::Disorder;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_that_is_taken_back_leaves_disorder() {
        let mut episode = Episode {
            state: State::Recovery,
            entered: Some(Time::ZERO),
            ..Episode::default()
        };
        episode.causes.recovery_began = true;
        assert!(episode.in_reduction());
        episode.take_recovery_back();
        assert!(!episode.in_reduction() && episode.entered.is_none());
        assert!(!episode.causes.recovery_began);
    }
}

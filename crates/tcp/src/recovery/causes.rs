//! What retransmissions of what is lost are called: as the kernel counts them, and by what finds losses.

use super::CaState;
use crate::words::Mechanism;

/// What is known of the retransmissions so far.
#[derive(Clone, Copy, Debug)]
pub struct Causes {
    /// What began the recovery, without RACK.
    pub began_by: Mechanism,
    /// A recovery began after the last retransmission.
    pub recovery_began: bool,
    /// The last retransmission belonged to a recovery.
    in_recovery: bool,
}

impl Default for Causes {
    fn default() -> Self {
        Causes {
            began_by: Mechanism::FastRetransmit,
            recovery_began: false,
            in_recovery: false,
        }
    }
}

impl Causes {
    /// What the next retransmission of what is lost is called; the first of a recovery without RACK by what began it.
    #[must_use]
    pub fn of_lost(&self, state: CaState, sack: bool, rack: bool) -> Mechanism {
        if state == CaState::Loss {
            Mechanism::RtoRecovery
        } else if sack && rack {
            Mechanism::Rack
        } else if self.recovery_began || !self.in_recovery {
            self.began_by
        } else if sack {
            Mechanism::SackRecovery
        } else {
            Mechanism::FastRetransmit
        }
    }

    /// A segment was sent again.
    pub fn note(&mut self, mechanism: Mechanism) {
        self.recovery_began = false;
        self.in_recovery = !matches!(
            mechanism,
            Mechanism::Rto | Mechanism::RtoRecovery | Mechanism::Tlp
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_recovery_is_called_by_what_began_it() {
        let mut causes = Causes {
            began_by: Mechanism::Fack,
            recovery_began: true,
            ..Causes::default()
        };
        let of = |causes: &Causes, sack| causes.of_lost(CaState::Recovery, sack, false);
        assert_eq!(of(&causes, true), Mechanism::Fack);
        causes.note(Mechanism::Fack);
        assert_eq!(of(&causes, true), Mechanism::SackRecovery);
        assert_eq!(of(&causes, false), Mechanism::FastRetransmit);
        causes.note(Mechanism::Tlp);
        assert_eq!(of(&causes, true), Mechanism::Fack);
    }

    #[test]
    fn rack_needs_sack_and_a_timeout_comes_before_both() {
        let causes = Causes::default();
        let of = |state, sack| causes.of_lost(state, sack, true);
        assert_eq!(of(CaState::Recovery, true), Mechanism::Rack);
        assert_eq!(of(CaState::Recovery, false), Mechanism::FastRetransmit);
        assert_eq!(of(CaState::Loss, true), Mechanism::RtoRecovery);
    }
}

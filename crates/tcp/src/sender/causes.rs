//! What retransmissions of a recovery without RACK are called: the first one by what began the recovery.

use crate::words::Mechanism;

/// What is known of the retransmissions so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Causes {
    /// What began the recovery.
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
    /// What the next retransmission of a recovery is called.
    pub fn of_recovery(&self, sack: bool) -> Mechanism {
        if self.recovery_began || !self.in_recovery {
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
        assert_eq!(causes.of_recovery(true), Mechanism::Fack);
        causes.note(Mechanism::Fack);
        assert_eq!(causes.of_recovery(true), Mechanism::SackRecovery);
        assert_eq!(causes.of_recovery(false), Mechanism::FastRetransmit);
        causes.note(Mechanism::Tlp);
        assert_eq!(causes.of_recovery(true), Mechanism::Fack);
    }
}

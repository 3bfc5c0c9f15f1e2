//! Which packets are dropped, by the rule's choice.

use super::choice::Choice;
use super::flow::{Flow, Packet};
use super::out::Out;
use crate::tail::Mode;
use crate::Verdict;

impl Flow {
    /// What happens to a packet of the sending side; `retransmission` says that some of its bytes were sent before.
    pub(crate) fn judge(&mut self, p: &Packet, retransmission: bool, out: &mut Out) -> Verdict {
        match &out.choice {
            Choice::Tail { segments: 0, .. } => Verdict::Accept,
            Choice::Tail { .. } if retransmission => Verdict::Accept,
            Choice::Tail {
                mode: Mode::Sequence,
                ..
            } => self.judge_by_sequence(p, out),
            Choice::Tail {
                mode: Mode::Hold, ..
            } => self.judge_by_hold(p, out),
            Choice::Pattern(_) => self.judge_by_pattern(p, retransmission, out),
        }
    }
}

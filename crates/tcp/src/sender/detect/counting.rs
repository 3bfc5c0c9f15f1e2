//! When a recovery begins by counting, as far as acknowledgements alone tell (`tcp_time_to_recover`, 3.10).

use super::super::Sender;
use crate::recovery::dupack::{self, Count, Reason};
use crate::words::Mechanism;

impl Sender {
    /// Why a recovery should begin, if it should.
    pub(in super::super) fn reason_by_counting(&mut self) -> Option<Mechanism> {
        let new_data_can_go = self.may_send_now();
        let view = Count {
            packets_out: self.queue.out,
            sacked_out: self.queue.sacked,
            lost_out: self.queue.lost,
            threshold: self.detection.threshold,
            least_threshold: self.settings.dupack_threshold,
            fack: self.detection.fack.on.then_some(self.detection.fack.reach),
            head_timed_out: self.head_timed_out(),
            new_data_can_go,
        };
        match dupack::reason(&view) {
            Some(Reason::Fack) => Some(Mechanism::Fack),
            Some(Reason::Lost | Reason::Duplicates | Reason::FewOut) => {
                Some(Mechanism::FastRetransmit)
            }
            None if self.retransmits_early(new_data_can_go) => Some(Mechanism::EarlyRetransmit),
            None => None,
        }
    }
}

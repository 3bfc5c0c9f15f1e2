//! Loss by duplicate acknowledgements without SACK (RFC 5681 §3.2, NewReno of RFC 6582).

use super::super::Sender;
use crate::recovery::dupack;

impl Sender {
    /// The head is lost at the third duplicate, and in recovery whenever an acknowledgement stops before its end
    /// (`tcp_newreno_mark_lost`).
    pub(in super::super) fn mark_lost_by_duplicates(&mut self, advanced: bool) {
        let duplicates = self.queue.sacked;
        let lost = dupack::head_is_lost(
            self.episode.state,
            duplicates,
            self.detection.threshold,
            advanced,
        );
        let Some(head) = self.queue.head().filter(|head| lost && !head.is_lost()) else {
            return;
        };
        if head.packets > 1 && head.len() > self.mss {
            self.split(0, self.mss);
        }
        self.queue.mark_lost(0);
    }
}

//! What acknowledgements say in the state Loss: was the timeout spurious (F-RTO, RFC 5682 §3.1), is it over.

use super::news::{News, Resume};
use super::Sender;

impl Sender {
    /// `tcp_process_loss`
    pub(super) fn process_loss(&mut self, news: News, duplicates: u32) -> Resume {
        let recovered = !self.una.is_before(self.recovery_point);
        if news.any(News::ADVANCED) && self.try_undo_loss(false) {
            return Resume::Nothing;
        }
        if self.frto {
            // RFC 5682 §3.1 step 3b: something arrived that was sent once, before the timeout.
            if news.any(News::ORIGINAL) && self.try_undo_loss(true) {
                return Resume::Nothing;
            }
            if self.nxt.is_after(self.recovery_point) {
                if news.any(News::SACKED) || duplicates > 0 {
                    // Step 3a: the loss is real.
                    self.frto = false;
                }
            } else if news.any(News::ADVANCED) && !recovered {
                self.recovery_point = self.nxt;
                // Step 2b: new data, if there are any; what comes back then tells.
                if !self.backlog.is_empty() && self.window_end().is_after(self.nxt) {
                    return Resume::New;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.end_recovery();
            return Resume::Nothing;
        }
        if !self.sack {
            if self.nxt.is_after(self.recovery_point) && duplicates > 0 {
                self.add_duplicate(duplicates);
            } else if news.any(News::ADVANCED) {
                self.queue.sacked = 0;
            }
        }
        Resume::Lost
    }
}

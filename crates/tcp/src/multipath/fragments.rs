//! The data on the sender's side as upstream keeps them: fragments, as the writes of a program fill pages with them
//! (`struct mptcp_data_frag`, `rtx_queue`).

use std::collections::VecDeque;

use crate::connection::WRITE_PAGE_BYTES as PAGE;

/// Bytes that a fragment takes of it besides its data (`sizeof(struct mptcp_data_frag)`).
const HEAD: u32 = 40;
/// Bytes that must be left for a fragment to begin.
const LEAST: u32 = 32 + HEAD;

/// Data that were written together, and go together on a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    /// The first byte that is not acknowledged.
    pub start: u64,
    pub len: u32,
    /// Bytes from there that were handed to a subflow (`already_sent`).
    pub sent: u32,
    overhead: u32,
    page: u32,
}

impl Fragment {
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

/// Fragments in order, from the first that is not acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragments {
    queue: VecDeque<Fragment>,
    /// The first that was not handed out whole (`first_pending`).
    pending: Option<usize>,
    /// Bytes of the send buffer in use (`sk_wmem_queued`).
    pub cost: u32,
    /// Bytes that the chosen subflow may still be handed (`snd_burst`).
    pub burst: i64,
    /// All was given back to be sent again, and until when that lasts (`recovery_snd_nxt`).
    pub recovery: Option<u64>,
    page: u32,
    page_used: u32,
}

impl Fragments {
    /// Takes up to `most` bytes that begin at `at`: what fits into the page at hand.
    pub fn take(&mut self, at: u64, most: u32) -> u32 {
        if !self.grows(at) {
            self.begin(at);
        }
        let len = most.min(PAGE - self.page_used);
        self.page_used += len;
        self.cost += len;
        if let Some(last) = self.queue.back_mut() {
            last.len += len;
        }
        len
    }

    /// The last fragment waits and has room for data that begin at `at` (`mptcp_frag_can_collapse_to`).
    pub fn grows(&self, at: u64) -> bool {
        let tail = self.queue.back().filter(|_| self.pending.is_some());
        tail.is_some_and(|last| last.page == self.page && last.end() == at && self.page_used < PAGE)
    }

    fn begin(&mut self, at: u64) {
        let shared = self.queue.iter().any(|old| old.page == self.page);
        if !shared {
            self.page_used = 0;
        } else if self.page_used + LEAST > PAGE {
            self.page += 1;
            self.page_used = 0;
        }
        let overhead = self.page_used.next_multiple_of(8) - self.page_used + HEAD;
        self.page_used += overhead;
        self.cost += overhead;
        self.queue.push_back(Fragment {
            start: at,
            len: 0,
            sent: 0,
            overhead,
            page: self.page,
        });
        self.pending.get_or_insert(self.queue.len() - 1);
    }

    /// The first that was not handed out whole.
    pub fn head(&self) -> Option<Fragment> {
        self.queue.get(self.pending?).copied()
    }

    /// `bytes` more of it were.
    pub fn advance(&mut self, bytes: u32) {
        if let Some(head) = self.pending.and_then(|n| self.queue.get_mut(n)) {
            head.sent += bytes;
            self.burst -= i64::from(bytes);
        }
    }

    /// All of it was.
    pub fn next(&mut self) {
        self.pending = self
            .pending
            .map(|n| n + 1)
            .filter(|n| *n < self.queue.len());
    }

    /// The first that is not acknowledged.
    pub fn first(&self) -> Option<Fragment> {
        self.queue.front().copied()
    }

    /// `bytes` of the first one were sent again.
    pub fn sent_again(&mut self, bytes: u32) {
        if let Some(first) = self.queue.front_mut() {
            first.sent = first.sent.max(bytes);
        }
    }

    /// Everything before `una` is acknowledged (`__mptcp_clean_una`).
    pub fn acknowledge(&mut self, una: u64) {
        while self.queue.front().is_some_and(|first| first.end() <= una) {
            if let Some(gone) = self.queue.pop_front() {
                self.cost -= gone.len + gone.overhead;
            }
            self.pending = match self.pending {
                // It can be acknowledged while it is sent again.
                Some(0) if self.queue.is_empty() => None,
                Some(n) => Some(n.saturating_sub(1)),
                None => None,
            };
        }
        if let Some(first) = self.queue.front_mut().filter(|first| first.start < una) {
            let gone = (una - first.start) as u32;
            first.start = una;
            first.len -= gone;
            first.sent = first.sent.saturating_sub(gone);
            self.cost -= gone;
        }
        if self.recovery.is_some_and(|until| una > until) {
            self.recovery = None;
        }
    }

    /// All that was handed out is to be handed out again (`__mptcp_retransmit_pending_data`). False if there is nothing.
    pub fn give_back(&mut self, nxt: u64) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        self.recovery = Some(nxt);
        self.pending = Some(0);
        self.burst = 0;
        for fragment in &mut self.queue {
            fragment.sent = 0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLDS: u32 = PAGE - HEAD;

    /// Fragments with the data of writes of these lengths, each as far as its page goes.
    fn written(lens: &[u32]) -> Fragments {
        let mut fragments = Fragments::default();
        let mut at = 0;
        for &len in lens {
            at += u64::from(fragments.take(at, len));
        }
        fragments
    }

    #[test]
    fn writes_share_a_fragment_up_to_the_end_of_its_page() {
        let mut fragments = written(&[1_000]);
        assert_eq!(fragments.cost, 1_000 + HEAD);
        assert!(fragments.grows(1_000));
        assert_eq!(fragments.take(1_000, PAGE), HOLDS - 1_000);
        assert_eq!(fragments.cost, PAGE);
        assert!(!fragments.grows(u64::from(HOLDS)));
        assert_eq!(fragments.head().map(|head| head.len), Some(HOLDS));
    }

    /// What was handed out whole does not grow: the page goes on with a new head, at a multiple of 8 bytes.
    #[test]
    fn a_fragment_that_was_handed_out_does_not_grow() {
        let mut fragments = written(&[1_001]);
        fragments.advance(1_001);
        fragments.next();
        assert!(!fragments.grows(1_001));
        assert_eq!(fragments.take(1_001, 500), 500);
        assert_eq!(fragments.cost, 1_001 + 500 + 2 * HEAD + 7);
        let head = fragments.head();
        assert_eq!(head.map(|head| (head.start, head.len)), Some((1_001, 500)));
    }

    #[test]
    fn what_is_acknowledged_of_a_fragment_is_freed_at_once() {
        let mut fragments = written(&[PAGE, 10_000]);
        fragments.advance(HOLDS);
        fragments.next();
        fragments.advance(4_000);
        assert_eq!(fragments.cost, PAGE + 10_000 + HEAD);
        fragments.acknowledge(20_000);
        assert_eq!(fragments.cost, PAGE + 10_000 + HEAD - 20_000);
        let first = fragments.first();
        assert_eq!(first.map(|first| first.start), Some(20_000));
        // The head goes with the last of its data.
        fragments.acknowledge(u64::from(HOLDS) + 1_000);
        assert_eq!(fragments.cost, 9_000 + HEAD);
        let head = fragments.head();
        assert_eq!(head.map(|head| (head.len, head.sent)), Some((9_000, 3_000)));
    }
}

//! What was written and not sent: the segments that writes cut, and what holds short ones back.

use rexmit_wire::SeqNum;

use super::backlog::{Backlog, Unsent};
use super::flight::{Flight, Sizes};
use super::nagle::{Hold, Nagle};

/// What was written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// After the last byte, a FIN counted (`write_seq`).
    pub end: SeqNum,
    /// A FIN was.
    closed: bool,
    pub backlog: Backlog,
    pub nagle: Nagle,
}

impl Written {
    /// Nothing was; the first byte has the number `first`.
    pub fn new(first: SeqNum) -> Self {
        Written {
            end: first,
            closed: false,
            backlog: Backlog::default(),
            nagle: Nagle::new(first),
        }
    }

    /// An empty segment is begun, in a buffer of its own for `mss` bytes if one is given (`tcp_skb_entail`).
    pub fn begin(&mut self, buffer: Option<u32>, flight: &mut Flight) {
        if let Some(mss) = buffer {
            flight.memory.begin(self.end, mss, &flight.settings);
        }
        self.push_back(false);
        self.nagle.push = false;
    }

    fn push_back(&mut self, fin: bool) {
        self.backlog.push(Unsent {
            seq: self.end,
            end: self.end + u32::from(fin),
            fin,
            push: false,
        });
    }

    /// `bytes` more follow in the last segment, which is `first` of its write: it has no PSH then.
    pub fn extend(&mut self, bytes: u32, first: bool) -> Option<Unsent> {
        self.end += bytes;
        let tail = self.backlog.tail_mut()?;
        tail.end += bytes;
        tail.push &= !first;
        Some(*tail)
    }

    /// Ends the stream: a FIN on the last unsent segment, else alone. False if it had ended (`tcp_send_fin`).
    pub fn finish(&mut self) -> bool {
        if self.closed {
            return false;
        }
        self.closed = true;
        match self.backlog.tail_mut() {
            Some(tail) => {
                tail.fin = true;
                tail.end += 1;
            }
            None => self.push_back(true),
        }
        self.end += 1;
        true
    }

    /// Half the peer's largest window was written without PSH (`forced_push`).
    pub fn push_is_due(&self, largest_window: u32) -> bool {
        self.end.is_after(self.nagle.pushed + largest_window / 2)
    }

    /// The last segment gets PSH.
    pub fn mark_push(&mut self) {
        if let Some(tail) = self.backlog.tail_mut() {
            tail.push = true;
        }
        self.nagle.pushed = self.end;
    }

    /// Bytes that the last segment has room for in a packet of `goal`; none where there is none.
    pub fn room(&self, goal: u32) -> Option<u32> {
        let tail = self.backlog.tail()?;
        Some(goal.saturating_sub(tail.len()))
    }

    /// Cuts the head of what waits.
    pub fn cut_head(&mut self, head: &Unsent, len: u32, flight: &mut Flight) {
        self.backlog.cut_head(len);
        let (at, rest) = (head.seq + len, head.len() - len);
        flight.memory.split(head.seq, at, rest, &flight.settings);
    }

    /// Whether a short segment waits for more to be written (`tcp_nagle_test`). `out`: packets that are, from `una` to `nxt`.
    pub fn waits_for_more(
        &self,
        head: &Unsent,
        sizes: &Sizes,
        hold: Hold,
        (out, una, nxt): (u32, SeqNum, SeqNum),
    ) -> bool {
        let last = self.backlog.len() == 1;
        head.len() < sizes.mss
            && last
            && !head.fin
            && !hold.push
            && self.nagle.waits(hold, out, una, nxt)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::stacks;

    #[test]
    fn writes_fill_a_segment_and_a_fin_goes_with_the_last() {
        let settings = Arc::new(stacks::page("linux-6.12").unwrap().settings);
        let mut flight = Flight::new(settings, 1000, SeqNum::new(1));
        let first = SeqNum::new(u32::MAX - 9);
        let mut written = Written::new(first);
        assert_eq!(written.room(1000), None);
        written.begin(None, &mut flight);
        let tail = written.extend(300, true).unwrap();
        assert_eq!(
            (tail.seq, tail.len(), written.end),
            (first, 300, first + 300)
        );
        written.mark_push();
        assert!(!written.push_is_due(200), "all was pushed");
        assert!(written.extend(100, false).unwrap().push);
        assert!(!written.extend(0, true).unwrap().push);
        assert!(!written.push_is_due(200) && written.push_is_due(198));
        assert_eq!(written.room(1000), Some(600));
        assert!(written.finish() && !written.finish());
        assert_eq!(written.end, first + 401);
        let head = written.backlog.head().unwrap();
        let whole = (0, first, first);
        let sizes = Sizes::new(1000);
        assert!(
            !written.waits_for_more(&head, &sizes, Hold::CORK, whole),
            "a FIN"
        );
        written.cut_head(&head, 250, &mut flight);
        let head = written.backlog.pop().unwrap();
        assert_eq!(
            (head.len(), head.fin, written.backlog.len()),
            (250, false, 1)
        );
        let rest = written.backlog.head().unwrap();
        assert_eq!((rest.seq, rest.len(), rest.fin), (first + 250, 150, true));
    }

    #[test]
    fn a_fin_alone_takes_a_segment() {
        let mut written = Written::new(SeqNum::new(1));
        assert!(written.finish());
        let head = written.backlog.head().unwrap();
        assert_eq!((head.len(), head.fin, head.end), (0, true, written.end));
    }
}

//! Packets that one acknowledgement let go.
//!
//! They left together. The link and the queues before a monitor elsewhere draw them apart, and RACK asks which left first:
//! of what left at once, what has the higher number (RFC 8985 §6.2).

use rexmit_time::{Duration, Time};

use super::TOGETHER;
use crate::event::{Sent, SentKind};

/// The packets since the last acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LetGo {
    /// When the first left, and the stamp that it bore.
    first: Option<(Time, Option<u32>)>,
    /// When the last was seen to leave.
    last: Option<Time>,
    /// The least time from one packet to the next: what a full one takes on the link.
    apart: Option<Duration>,
}

impl LetGo {
    /// An acknowledgement came.
    pub(super) fn acked(&mut self) {
        self.first = None;
    }

    /// A packet left; `by_ack`: so soon that the last acknowledgement may have let it go. When that was.
    pub(super) fn sent(&mut self, sent: &Sent, by_ack: bool) -> Time {
        let gap = self.last.map(|last| sent.at - last);
        let link = self.apart.unwrap_or(Duration::ZERO);
        if sent.kind == SentKind::Unseen {
            // It was lost between those before it and those after it.
            let follows = gap.is_some_and(|gap| gap <= TOGETHER + sent.slack + link * 2);
            return match self.first {
                Some((first, _)) if follows => first,
                _ => sent.at,
            };
        }
        self.last = Some(sent.at);
        if let Some(gap) = gap.filter(|gap| *gap > Duration::ZERO) {
            self.apart = Some(self.apart.map_or(gap, |apart| apart.min(gap)));
        }
        let follows = gap.is_some_and(|gap| gap <= TOGETHER + sent.slack + link);
        match self.first {
            Some((first, stamp)) if follows && stamp == sent.stamp => first,
            _ => {
                self.first = (by_ack || follows).then_some((sent.at, sent.stamp));
                sent.at
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::{Flags, SeqNum, SeqRange};

    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn sent(ms: u64, stamp: Option<u32>) -> Sent {
        Sent {
            at: at(ms),
            range: SeqRange::new(SeqNum::new(0), 1_000),
            kind: SentKind::New,
            flags: Flags::ACK,
            stamp,
            echo: None,
            slack: Duration::from_millis(1),
            own_time: false,
            counted: false,
            missing: None,
        }
    }

    #[test]
    fn what_the_link_drew_apart_left_together() {
        let mut let_go = LetGo::default();
        let mut left = |ms| let_go.sent(&sent(ms, None), true);
        // The link takes 5 ms for each, as is seen by and by.
        assert_eq!([left(100), left(105)], [at(100), at(105)]);
        assert_eq!([left(110), left(115)], [at(105), at(105)]);
        assert_eq!(left(140), at(140), "something else let it go");
        let_go.acked();
        assert_eq!(let_go.sent(&sent(145, None), true), at(145));
        assert_eq!(let_go.sent(&sent(150, None), true), at(145));
    }

    #[test]
    fn another_stamp_tells_another_time() {
        let mut let_go = LetGo::default();
        let mut left = |ms, stamp| let_go.sent(&sent(ms, Some(stamp)), true);
        assert_eq!(
            [left(100, 7), left(101, 7), left(102, 8)],
            [at(100), at(100), at(102)]
        );
    }
}

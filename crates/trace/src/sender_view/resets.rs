//! Resets of a receiver that has closed: each answers one packet, which had come to it.
//!
//! Such a reset bears as its number what the packet acknowledged, and no acknowledgement (RFC 9293 §3.10.7.1). Packets and resets are
//! held against each other in the order in which they came by the monitor.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use super::copies::NO_TIMER;
use crate::event::Event;

/// Packets that wait for their reset, and packets that had one, at most.
const MOST: usize = 256;

/// A packet of the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unanswered {
    at: Time,
    range: SeqRange,
    ack: SeqNum,
}

/// What resets have answered.
#[derive(Debug, Default)]
pub(super) struct Resets {
    /// Packets without an answer so far, the oldest first.
    open: VecDeque<Unanswered>,
    /// When those came by that were answered, and where they begin.
    answered: VecDeque<(Time, SeqNum)>,
}

impl Resets {
    /// The sender's packet came by. What it carries once more was not answered before; of two that carry the same and come together
    /// it is not known which one a reset answers.
    pub fn sent(&mut self, event: &Event) {
        let range = event.range();
        if range.is_empty() || !event.flags.ack() {
            return;
        }
        let again = |sent: &Unanswered| sent.range.intersects(range);
        if self.open.iter().any(again) {
            let together = |sent: &Unanswered| again(sent) && event.at - sent.at < NO_TIMER;
            let ambiguous = self.open.iter().any(together);
            self.open.retain(|sent| !again(sent));
            if ambiguous {
                return;
            }
        }
        if self.open.len() == MOST {
            self.open.pop_front();
        }
        self.open.push_back(Unanswered {
            at: event.at,
            range,
            ack: event.ack,
        });
    }

    /// Something that the receiver sends only while its connection lasts.
    pub fn lives(&mut self) {
        self.open.clear();
    }

    /// The receiver's reset came by: how long after the packet that it answers, if there is one.
    pub fn reset(&mut self, event: &Event) -> Option<Duration> {
        if event.flags.ack() {
            return None;
        }
        let found = self.open.iter().position(|sent| sent.ack == event.seq)?;
        let sent = self.open.remove(found)?;
        if self.answered.len() == MOST {
            self.answered.pop_front();
        }
        self.answered.push_back((sent.at, sent.range.start));
        Some(event.at - sent.at)
    }

    /// Whether a reset answered the packet that came by at `at` and begins at `start`.
    pub fn has_answered(&self, at: Time, start: SeqNum) -> bool {
        self.answered.contains(&(at, start))
    }

    /// No reset answered anything.
    pub fn is_empty(&self) -> bool {
        self.answered.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::Flags;

    use super::*;
    use crate::event::Direction;
    use crate::testing;

    fn packet(ms: u64, seq: u32, flags: Flags) -> Event {
        Event {
            seq: SeqNum::new(seq),
            ack: SeqNum::new(7),
            payload_len: if flags.rst() { 0 } else { 10 },
            flags,
            ..testing::event(Time::from_nanos(ms * 1_000_000), Direction::Forward)
        }
    }

    #[test]
    fn each_reset_answers_one_packet_of_its_number() {
        let mut resets = Resets::default();
        let reset = |ms, seq| packet(ms, seq, Flags::RST);
        resets.sent(&packet(0, 100, Flags::ACK));
        resets.sent(&packet(1, 110, Flags::ACK));
        assert_eq!(resets.reset(&reset(2, 8)), None, "of another packet");
        let both = [3, 4].map(|ms| resets.reset(&reset(ms, 7)));
        assert_eq!(both, [Some(Duration::from_millis(3)); 2]);
        assert_eq!(resets.reset(&reset(5, 7)), None);
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        assert!(resets.has_answered(at(0), SeqNum::new(100)));
        assert!(!resets.has_answered(at(0), SeqNum::new(110)));
        // The first was not answered when it came again.
        resets.sent(&packet(10, 120, Flags::ACK));
        resets.sent(&packet(200, 120, Flags::ACK));
        assert!(resets.reset(&reset(201, 7)).is_some());
        assert!(!resets.has_answered(at(10), SeqNum::new(120)));
        assert!(resets.has_answered(at(200), SeqNum::new(120)));
        // Which of two was answered is not known.
        resets.sent(&packet(300, 130, Flags::ACK));
        resets.sent(&packet(301, 130, Flags::ACK));
        assert_eq!(resets.reset(&reset(302, 7)), None);
    }
}

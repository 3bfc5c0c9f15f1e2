//! What a sender sends again though it has found no loss ([`PROMPTED`](crate::necessary::PROMPTED)).

use rexmit_time::{Duration, Time};
use rexmit_wire::{Headers, SeqNum};

use super::pieces::{Copy, MOST_PARTS};
use super::SenderView;
use crate::event::Event;
use crate::necessary::{Basis, Shown};

/// Returned packets that are remembered of a direction.
pub(crate) const MOST_RETURNED: usize = 64;

/// What a packet prompts leaves within this time, and the way from the monitor and back.
const AT_ONCE: Duration = Duration::from_millis(5);

/// Bytes of IP's and TCP's headers, at least.
const HEADERS: u32 = 40;

/// A packet that a router returned, as too large for its next link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Returned {
    at: Time,
    /// Its sequence number.
    seq: SeqNum,
    /// The next link's MTU; 0 where it is not known.
    mtu: u32,
}

impl Returned {
    /// The packet of which a message that came by quotes these headers.
    pub fn new(at: Time, headers: &Headers) -> Self {
        Self::beginning(at, headers.seq, u32::from(headers.window))
    }

    /// The packet that begins with `seq`, as larger than `mtu`.
    pub const fn beginning(at: Time, seq: SeqNum, mtu: u32) -> Self {
        Returned { at, seq, mtu }
    }

    /// Whether a packet with so many bytes of payload is larger than the next link's MTU.
    const fn is_exceeded_by(&self, span: u32) -> bool {
        span + HEADERS > self.mtu
    }
}

/// A packet of the peer that the sender has to acknowledge.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToAcknowledge {
    /// The sender's clock.
    at: Time,
    came_by: Time,
    end: SeqNum,
    /// It acknowledged a part of what was sent again.
    partial: bool,
    syn: bool,
}

impl SenderView {
    /// A router has returned a packet of this sender.
    pub(crate) fn returned(&mut self, returned: Returned) {
        if self.heard.returned.len() == MOST_RETURNED {
            self.heard.returned.pop_front();
        }
        self.heard.returned.push_back(returned);
    }

    /// Marks the copy that each returned packet was, of those at these places.
    pub(super) fn mark_returned(&mut self, (start, end): (i64, i64)) {
        let Some(line) = self.board.line.filter(|_| !self.heard.returned.is_empty()) else {
            return;
        };
        for piece in self.board.pieces.within(start, end).take(MOST_PARTS) {
            for one in &self.heard.returned {
                let is = |copy: &&mut Copy| {
                    let left = copy.seen && copy.at <= one.at;
                    left && line.seq(copy.from) == one.seq && one.is_exceeded_by(copy.span)
                };
                if let Some(copy) = piece.what.copies_mut().rfind(is) {
                    copy.returned = true;
                }
            }
        }
    }

    /// The sender heard a packet of the peer at `at`, which acknowledges something new or not.
    pub(super) fn note_asked(&mut self, event: &Event, at: Time, moved: bool) {
        if !event.range().is_empty() {
            self.heard.asked = Some(ToAcknowledge {
                at,
                came_by: event.at,
                end: event.range().end,
                partial: moved && self.heard.recovers(),
                syn: event.flags.syn(),
            });
        }
    }

    /// What `event` is sent again for, if that is no loss; its first place, `start`, was sent last as `last`.
    pub(super) fn prompted(&self, event: &Event, start: i64, last: Option<Copy>) -> Option<Shown> {
        let last = last.filter(|last| last.seen)?;
        let soon = AT_ONCE + self.times.clock.delay(true) * 2;
        let right_after = |at: Time| at <= event.at && event.at - at <= soon;
        let mut returned = self.heard.returned.iter().rev();
        let of = returned.find(|one| right_after(one.at) && last.at <= one.at);
        if let Some(one) = of {
            let part = event.payload_len > 0 && event.range().len() < last.span;
            let fits = event.payload_len < one.mtu && one.is_exceeded_by(last.span);
            if part && (fits || one.mtu == 0) {
                return Some((Basis::PathMtu, Some(one.at)));
            }
        }
        let asked = self.heard.asked?;
        if !right_after(asked.came_by) || asked.at < last.sent {
            return None;
        }
        let shown = Some(asked.came_by);
        if asked.syn {
            let refused = last.said.flags().syn() && !event.flags.syn();
            let next = start == last.from + 1 && start == self.board.pieces.una();
            return (refused && next).then_some((Basis::FastOpen, shown));
        }
        let answers = event.flags.ack() && event.ack == asked.end && !asked.partial;
        let fin = event.flags.fin() && event.payload_len == 0 && last.said.flags().fin();
        (fin && answers).then_some((Basis::FinAgain, shown))
    }
}

//! The turns of a connection: who sent data last, and whose program is silent until more come.
//!
//! A program that is to answer cannot have begun before what it answers came to it, and its answer is seen when it comes by:
//! of a silence, the way from the monitor to the program and back is the path's.

use rexmit_time::{Duration, Time};

use super::owner::Owner;
use super::Step;
use crate::event::Direction;

/// A receiver acknowledges within this time what it has (RFC 1122 §4.2.3.2: half a second; Windows: 200 ms). What takes longer
/// was on its way.
const DELAYED: Duration = Duration::from_millis(210);

/// Who sent what.
#[derive(Debug)]
pub(super) struct Turns {
    start: Time,
    /// The newest SYN, and how often; the newest SYN-ACK, and how often.
    asked: Option<(Time, u32)>,
    answered: Option<(Time, u32)>,
    /// The handshake is over.
    open: bool,
    /// The newest data, or what it began with.
    pub mark: Time,
    last: Option<Direction>,
    /// The server has sent data.
    served: bool,
    /// The first FIN or RST.
    pub closed: Option<(Time, Direction)>,
}

impl Default for Turns {
    fn default() -> Self {
        Turns::begun(Time::ZERO)
    }
}

impl Turns {
    pub fn begun(start: Time) -> Self {
        Turns {
            start,
            asked: None,
            answered: None,
            open: false,
            mark: start,
            last: None,
            served: false,
            closed: None,
        }
    }

    /// Who sent data last.
    pub fn last(&self) -> Option<Direction> {
        self.last
    }

    /// Whether it is known to be open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether a SYN or its answer was seen.
    pub fn is_asked(&self) -> bool {
        self.asked.is_some() || self.answered.is_some()
    }

    /// Whether the server has sent any data.
    pub fn has_served(&self) -> bool {
        self.served
    }

    /// A SYN, or the answer. Of an answer: how long it took.
    pub fn syn(&mut self, step: &Step) -> Option<Duration> {
        let newest = if step.flags.ack() {
            &mut self.answered
        } else {
            &mut self.asked
        };
        let count = newest.map_or(1, |(_, count)| count.saturating_add(1));
        *newest = Some((step.at, count));
        let (asked, count) = self.asked?;
        let once = step.flags.ack() && count == 1 && self.answered.is_some_and(|(_, n)| n == 1);
        once.then(|| step.at.since(asked))
    }

    /// The first packet after the handshake ends it.
    pub fn opens(&mut self, step: &Step) -> Option<Time> {
        let by_client = step.of == Direction::Forward || self.answered.is_none();
        if self.open || step.flags.rst() || !(by_client || step.payload_len > 0) {
            return None;
        }
        self.open = true;
        self.mark = step.at;
        self.is_asked().then_some(step.at)
    }

    /// How long the client took to acknowledge the answer to its SYN, if this does.
    pub fn client_part(&self, step: &Step) -> Option<Duration> {
        let (answered, count) = self.answered?;
        (count == 1 && step.of == Direction::Forward).then(|| step.at.since(answered))
    }

    /// Whose the time was until this packet with data, the first of its turn, came by. `near`: from the monitor to its sender
    /// and back; `acked`: when its sender acknowledged all that its peer had sent.
    pub fn silence(
        &self,
        step: &Step,
        near: Option<Duration>,
        acked: Option<Time>,
    ) -> [(Time, Owner); 2] {
        let of = step.of;
        let program = match (self.last, of) {
            (Some(Direction::Backward), Direction::Forward) => Owner::BetweenRequests,
            _ => Owner::program(of),
        };
        let begins = self.last.is_none();
        if begins && !self.is_asked() {
            return [(self.mark, Owner::Unknown), (step.at, Owner::Unknown)];
        }
        // The client sends its first request right behind its acknowledgement.
        let way = if begins && of == Direction::Forward {
            Some(Duration::ZERO)
        } else {
            near
        };
        let acked = acked.filter(|acked| *acked > self.mark && *acked < step.at);
        let arrived = match (way, acked) {
            (Some(way), Some(acked)) if acked.since(self.mark) > way + DELAYED => acked,
            (Some(way), _) => self.mark + way,
            (None, Some(acked)) => acked,
            (None, None) => self.mark,
        };
        [(arrived.min(step.at), Owner::RoundTrip), (step.at, program)]
    }

    /// New data.
    pub fn data(&mut self, step: &Step) {
        self.mark = self.mark.max(step.at);
        self.last = Some(step.of);
        self.served |= step.of == Direction::Backward;
        self.open = true;
        // What is sent behind a FIN was on its way, or is a new beginning.
        self.closed = None;
        if step.flags.fin() || step.flags.rst() {
            self.closes(step);
        }
    }

    /// Data that were sent again.
    pub fn again(&mut self, step: &Step) {
        self.mark = self.mark.max(step.at);
    }

    /// A FIN or an RST.
    pub fn closes(&mut self, step: &Step) {
        self.closed.get_or_insert((step.at, step.of));
    }

    /// When it began.
    pub fn start(&self) -> Time {
        self.start
    }
}

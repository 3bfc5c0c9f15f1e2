//! The turns of a connection: who sent data last, and whose program is silent until more come.
//!
//! A program that is to answer cannot have begun before what it answers came to it, and its answer is seen when it comes by:
//! of a silence, the way from the monitor to the program and back is the path's.

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::Record;
use rexmit_wire::message::{Body, Status};
use rexmit_wire::{Flags, SeqNum};

use super::owner::Owner;
use super::Step;
use crate::event::Direction;

/// A receiver acknowledges within this time what it has (RFC 1122 §4.2.3.2: half a second; Windows: 200 ms). What takes longer
/// was on its way.
const DELAYED: Duration = Duration::from_millis(210);

/// A client that sends again after so long a silence, unasked, wants no answer.
const PUSHED: Duration = Duration::from_millis(200);

/// Bytes of a body whose end sequence numbers tell from its beginning.
const MOST_BODY: u32 = 1 << 30;

/// How far a session of TLS is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Session {
    /// No TLS.
    #[default]
    None,
    /// The client said hello; the server answered; the client sent again.
    Hello,
    Answered,
    Agreed,
    /// Programs have sent data over it.
    Up,
}

impl Session {
    /// After this packet with data.
    fn after(self, step: &Step) -> Self {
        let data = step.record == Record::Data;
        match (self, step.of) {
            (Session::None, Direction::Forward) if step.record == Record::SetUp => Session::Hello,
            (Session::Hello, Direction::Backward) => Session::Answered,
            // TLS 1.3 looks like data from the server's answer on (RFC 8446 §5.1): the client tells when that is over.
            (Session::Answered | Session::Agreed, Direction::Forward) if data => Session::Up,
            (Session::Answered, Direction::Forward) => Session::Agreed,
            (Session::Agreed, Direction::Backward) if data => Session::Up,
            _ => self,
        }
    }

    fn is_being_set_up(self) -> bool {
        !matches!(self, Session::None | Session::Up)
    }
}

/// Who sent what.
#[derive(Debug)]
pub(super) struct Turns {
    start: Time,
    /// The newest SYN, and how often; the newest SYN-ACK, and how often.
    asked: Option<(Time, u32)>,
    answered: Option<(Time, u32)>,
    /// When the handshake was over, or data came.
    open: Option<Time>,
    /// The newest data, or what it began with.
    pub mark: Time,
    /// The same, of data that were sent for the first time.
    pub news: Time,
    last: Option<Direction>,
    session: Session,
    /// The client's program has sent data over TLS.
    requested: bool,
    /// The server has sent data.
    served: bool,
    /// It has sent data over TLS when it had all that the client had sent: before that come the tickets of TLS 1.3.
    answers: bool,
    /// The client has sent after a silence, and the server nothing ever.
    pushes: bool,
    /// The server sends unasked.
    unasked: bool,
    /// It waits no longer for the client.
    pub gives_up: bool,
    /// Where the head of the last response ends, and where its body does; where the body of the last request does.
    announced: Option<(SeqNum, SeqNum)>,
    request: Option<SeqNum>,
    /// Only its FIN ends it.
    until_close: bool,
    /// Both ends echo congestion marks (RFC 3168 §6.1.1): the SYN asked for it, and its answer.
    marking: [bool; 2],
    /// Until when the server answered the SYN again, though the client had sent data: it had no room for the connection, or
    /// got nothing of it.
    pub not_taken: Option<Time>,
    /// When that had arrived, of which all was acknowledged, if something [aside](Turns::is_aside) came after it.
    arrived: Option<Time>,
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
            open: None,
            mark: start,
            news: start,
            last: None,
            session: Session::None,
            requested: false,
            served: false,
            answers: false,
            pushes: false,
            unasked: false,
            gives_up: false,
            announced: None,
            request: None,
            until_close: false,
            marking: [false; 2],
            not_taken: None,
            arrived: None,
            closed: None,
        }
    }

    /// Whether both ends echo congestion marks, each as long as it is not heard.
    pub fn is_marking(&self) -> bool {
        self.marking == [true; 2]
    }

    /// Who sent data last.
    pub fn last(&self) -> Option<Direction> {
        self.last
    }

    /// Whether it is known to be open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the answer to a SYN was seen.
    pub fn is_answered(&self) -> bool {
        self.answered.is_some()
    }

    /// When the client had an answer to its SYN, if the client alone was seen.
    pub fn connected_by_client(&self) -> Option<Time> {
        self.open
            .filter(|_| self.asked.is_some() && self.answered.is_none())
    }

    /// Whether a SYN or its answer was seen.
    pub fn is_asked(&self) -> bool {
        self.asked.is_some() || self.answered.is_some()
    }

    /// How far TLS is set up after this packet with data.
    pub fn session(&self, step: &Step) -> Session {
        self.session.after(step)
    }

    /// When the handshake ended, if it was seen and no data since.
    pub fn opened(&self) -> Option<Time> {
        (self.last.is_none() && self.is_asked()).then_some(self.mark)
    }

    /// The client only ever sends, and waits for no answer.
    pub fn is_pushed(&self) -> bool {
        self.pushes
    }

    /// Whose time it is after the last data, until the connection or the capture ends.
    pub fn rest(&self) -> Owner {
        match self.last {
            _ if self.session.is_being_set_up() => Owner::TlsSetUp,
            Some(Direction::Forward) if !self.pushes => Owner::Unanswered,
            _ if self.requested && !self.answers => Owner::Unanswered,
            Some(Direction::Backward) if self.until_close && self.is_closed_by_server() => {
                Owner::Server
            }
            _ => Owner::Closing,
        }
    }

    /// A program whose turn this is not says nothing by it that anybody waited for.
    pub fn is_aside(&self, step: &Step) -> bool {
        let answers = self.last == Some(Direction::Forward) && step.of == Direction::Backward;
        step.record == Record::Control && !answers
    }

    /// It came by, and of whom sent last all was acknowledged at `acked`.
    pub fn aside(&mut self, acked: Option<Time>) {
        self.arrived = self.arrived.or(acked).or(Some(self.mark));
    }

    /// When the newest data had arrived, of whose sender all was acknowledged last at `acked`.
    pub fn arrival(&self, acked: Option<Time>) -> Option<Time> {
        self.arrived.or(acked)
    }

    /// Whose a silence of the sender of this packet is.
    pub fn program(&self, step: &Step) -> Owner {
        let between = self.session == Session::None || self.requested;
        let answered = self.last == Some(Direction::Backward);
        if self.session.is_being_set_up() && step.record != Record::Data {
            return Owner::TlsSetUp;
        }
        match step.of {
            Direction::Forward if answered && between => Owner::BetweenRequests,
            Direction::Backward if self.gives_up && answered => Owner::BetweenRequests,
            Direction::Backward if self.gives_up => Owner::Client,
            Direction::Backward if answered && self.unasked => Owner::Messages,
            of => Owner::program(of),
        }
    }

    /// A SYN, or the answer. Of an answer: how long it took.
    pub fn syn(&mut self, step: &Step) -> Option<Duration> {
        if step.flags.ack() && self.last.is_some() && !self.served {
            self.not_taken = Some(step.at);
        }
        // Of accurate ECN (RFC 9768 §3.1) the answer has other flags, and so have acknowledgements.
        let marks = step.flags.contains(Flags::ECE);
        let asks = step.flags.contains(Flags::CWR);
        self.marking[usize::from(step.flags.ack())] = marks && asks != step.flags.ack();
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
        if self.is_open() || step.flags.rst() || !(by_client || step.payload_len > 0) {
            return None;
        }
        self.open = Some(step.at);
        (self.mark, self.news) = (step.at, step.at);
        self.is_asked().then_some(step.at)
    }

    /// How long the client took to acknowledge the answer to its SYN, if this does.
    pub fn client_part(&self, step: &Step) -> Option<Duration> {
        let (answered, count) = self.answered?;
        (count == 1 && step.of == Direction::Forward).then(|| step.at.since(answered))
    }

    /// Whose the time was until this packet with data, the first of its turn, came by, and `left` its sender. `near`: from the
    /// monitor to its sender and back; `acked`: when its sender acknowledged more of what its peer had sent last, and all of it.
    pub fn silence(
        &self,
        step: &Step,
        left: Time,
        near: Option<Duration>,
        [partly, acked]: [Option<Time>; 2],
    ) -> [(Time, Owner); 2] {
        let of = step.of;
        let program = self.program(step);
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
        let acked = self
            .arrival(acked)
            .filter(|acked| *acked > self.mark && *acked < left);
        let arrived = match (way, acked) {
            (Some(way), Some(acked)) if acked.since(self.mark) > way + DELAYED => acked,
            // Where the way from it has become longer, the way to it may have, too.
            (Some(way), _) => self.mark + way + step.at.since(left),
            (None, Some(acked)) => acked,
            (None, None) => self.mark,
        };
        let arrived = partly.map_or(arrived, |partly| arrived.max(partly));
        [(arrived.min(left), Owner::RoundTrip), (left, program)]
    }

    /// New data; `has_all`: its sender had got all that its peer had sent.
    pub fn data(&mut self, step: &Step, has_all: bool) {
        let silent = step.at.since(self.mark) >= PUSHED;
        let alone = !self.served && self.last == Some(Direction::Forward);
        self.pushes |= alone && silent && step.of == Direction::Forward;
        self.pushes &= step.of == Direction::Forward;
        self.requested |= step.of == Direction::Forward && self.session.after(step) == Session::Up;
        self.session = self.session.after(step);
        self.mark = self.mark.max(step.at);
        self.news = self.mark;
        self.last = Some(step.of);
        self.arrived = None;
        self.served |= step.of == Direction::Backward;
        self.answers |= step.of == Direction::Backward && has_all && self.requested;
        self.open.get_or_insert(step.at);
        // What is sent behind a FIN was on its way, or is a new beginning.
        self.closed = None;
        if step.flags.fin() || step.flags.rst() {
            self.closes(step);
        }
    }

    /// What a response's head says of what comes behind it.
    pub fn responds(&mut self, status: Status, seq: SeqNum) {
        self.unasked = status.unasked;
        self.until_close = status.body == Body::UntilClose;
        self.announced = announced(status.body, seq);
    }

    /// What a request's head says of what comes behind it.
    pub fn asks(&mut self, body: Body, seq: SeqNum) {
        self.request = announced(body, seq).map(|(_, end)| end);
    }

    /// Whether the last request is not all there, if all that was sent of it is before `to`.
    pub fn is_asking(&self, to: SeqNum) -> bool {
        self.request.is_some_and(|end| to.is_before(end))
    }

    /// Whether the body of the last response ends before its end, if all that was sent of it is before `to`. One that does not
    /// begin may be the answer to a HEAD (RFC 9110 §9.3.2).
    pub fn breaks_off(&self, to: SeqNum) -> bool {
        let within = |(head, end): (SeqNum, SeqNum)| to.is_after(head) && to.is_before(end);
        self.announced.is_some_and(within)
    }

    fn is_closed_by_server(&self) -> bool {
        self.closed.is_some_and(|(_, by)| by == Direction::Backward)
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

/// Where the head of a message ends that begins at `seq`, and where its body does, if it says so.
fn announced(body: Body, seq: SeqNum) -> Option<(SeqNum, SeqNum)> {
    match body {
        Body::Bytes(head, body) if body < MOST_BODY => Some((seq + head, seq + head + body)),
        _ => None,
    }
}

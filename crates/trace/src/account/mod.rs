//! The account of time: every instant of a connection, in each direction, belongs to one [`Owner`].
//!
//! All connections have it, also those in which nothing is lost. It comes of one light stream of steps: data, and what was
//! acknowledged, each once and in the order in which it came by. A connection's *turns* tell whose program was silent
//! ([`turns`]); what a sender waited for between two packets of one turn is told by a [decider](deciders) for each cause,
//! from its [flow](flow::Flow). What only the end tells, which retransmissions there were and that a peer was gone, is
//! [written over](ending) that.

mod bottleneck;
mod deciders;
mod ending;
mod flow;
mod newest;
mod owner;
mod path;
mod policer;
mod rounds;
mod scale;
mod sizes;
mod stream;
mod timeline;
mod turns;
mod wait;

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::Record;
use rexmit_wire::message::Message;
use rexmit_wire::{Flags, SeqNum, SeqRange};
use serde::{Deserialize, Serialize};

use crate::event::Direction;
use crate::requests::{Request, Requests, Told};
use flow::Flow;
use stream::Stream;
use timeline::{By, Timeline};
use turns::Turns;
use wait::New;

pub(crate) use ending::Ending;
pub use owner::Owner;
pub(crate) use turns::Session;

/// What an owner has of a direction's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Whose it is.
    pub owner: Owner,
    /// How much. The shares of a direction add up to the connection's duration.
    pub length: Duration,
    /// How much of it held up the sender of the other direction, while this one's had nothing to send.
    pub other: Duration,
    /// In how many stretches.
    pub stretches: u32,
    /// Of those, how many took 200 ms or more, how long these took in all, and the shortest of them.
    pub slow: u32,
    /// How long these took in all.
    pub slow_length: Duration,
    /// The shortest of these.
    pub slow_least: Option<Duration>,
    /// The longest stretch.
    pub longest: Duration,
    /// The packet at which that ended.
    pub evidence: Time,
}

/// A packet as the account takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub at: Time,
    pub of: Direction,
    pub flags: Flags,
    pub payload_len: u32,
    /// What record of TLS its payload begins with.
    pub record: Record,
    /// Its sequence number.
    pub seq: SeqNum,
    /// One past its last sequence number.
    pub end: SeqNum,
    /// It bears data that were not sent before.
    pub new: bool,
    /// What it acknowledges of its peer's.
    pub ack: Option<SeqNum>,
    /// What it offers its peer, scaled if the scale is known.
    pub window: u32,
    /// Its IP identification, if it has one that changes.
    pub id: Option<u16>,
    /// Its time stamp and echo.
    pub stamps: Option<(u32, u32)>,
    /// A packet of its peer came by so long before that it acknowledges.
    pub sample: Option<Duration>,
}

/// The account of one connection.
#[derive(Debug, Default)]
pub(crate) struct Account {
    turns: Turns,
    flows: [Flow; 2],
    lines: [Line; 2],
    streams: [Stream; 2],
    /// A head of HTTP/1 came by, which says how long a message is.
    heads: bool,
    /// Of each side: the largest segment it may send, if that was agreed on.
    mss: [Option<u32>; 2],
    requests: Requests,
}

/// The time of one direction.
#[derive(Debug, Default)]
struct Line {
    /// Up to its sender's last data.
    sure: Timeline,
    /// What its sender has meanwhile waited for, if it turns out that it had nothing to send.
    meanwhile: Vec<(Time, Owner, By)>,
    /// Whose its sender's last wait was.
    last: Option<Owner>,
}

/// The direction whose sender answers: while it does not, it waits for what its client waits for.
const SERVER: usize = Direction::Backward as usize;

/// Changes of owner that a direction has without sending anything, at most, before they are sure.
const MOST_MEANWHILE: usize = 1 << 12;

impl Line {
    fn begin(&mut self, start: Time) {
        self.sure.begin(start);
        self.meanwhile.clear();
        self.last = None;
    }

    fn wait(&mut self, to: Time, owner: Owner, by: By) {
        match self.meanwhile.last_mut() {
            Some(last) if (last.1, last.2) == (owner, by) => last.0 = last.0.max(to),
            _ => self.meanwhile.push((to, owner, by)),
        }
        if self.meanwhile.len() >= MOST_MEANWHILE {
            self.settle();
        }
    }

    fn settle(&mut self) {
        for (to, owner, by) in self.meanwhile.drain(..) {
            self.sure.push(to, owner, by);
        }
    }

    /// Its sender waited for this since it sent last, whatever came by meanwhile.
    fn own(&mut self, to: Time, owner: Owner, by: By) {
        self.meanwhile.clear();
        self.last = Some(owner);
        self.sure.push(to, owner, by);
    }
}

impl Account {
    /// Begins a connection, in the same memory; `timeline`: its shares are stretches, not sums.
    pub fn begin(&mut self, start: Time, mss: [Option<u32>; 2], timeline: bool) {
        self.turns = Turns::begun(start);
        self.flows.iter_mut().for_each(Flow::begin);
        self.streams.iter_mut().for_each(Stream::begin);
        self.heads = false;
        for line in &mut self.lines {
            line.begin(start);
            line.sure.apart = timeline;
        }
        self.mss = mss;
        self.requests.begin();
    }

    /// Requests that nothing changes any more.
    pub fn ready(&mut self) -> impl Iterator<Item = Request> + '_ {
        self.requests.ready()
    }

    /// All requests that are left, when the account is [finished](Account::finish).
    pub fn requests(&mut self) -> impl Iterator<Item = Request> + '_ {
        self.requests.finish(&mut self.lines[SERVER].sure.spans)
    }

    /// Congestion marks that a sender heard of.
    pub fn marks(&self, of: Direction) -> u32 {
        self.flows[of as usize].marks.count
    }

    /// The next packet, and what its payload begins with.
    #[inline]
    pub fn step(&mut self, step: &Step, message: Option<Message>) {
        let (me, peer) = (step.of as usize, step.of.reversed() as usize);
        if step.flags.syn() {
            self.flows[me].begins(step.seq + 1);
            self.flows[me].left(step, self.turns.start());
            if let Some(sample) = self.turns.syn(step) {
                self.sample(peer, sample);
            }
            if let Some(Message::Named(name)) = message {
                self.requests.named(name);
            }
            return;
        }
        self.flows[me].stamped(step);
        if let Some(ack) = step.ack {
            let echoed = self.flows[me].is_acked(step.seq);
            let stamp = step.stamps.map(|(value, _)| value).filter(|_| echoed);
            let several = self.flows[peer].is_of_several(ack, self.mss[peer]);
            // One of all that was sent may have been held back for more, which a sender with a small window did not send. What queues
            // before a link comes one by one, and is acknowledged so.
            let held = several && ack == self.flows[peer].sent();
            if let Some(sample) = step.sample.filter(|_| !held) {
                if let Some(queue) = self.sample(peer, sample) {
                    // Its stamp tells whether itself was in it.
                    let late = self.flows[me].late(step);
                    self.flows[peer].path.waits_back(step.at, queue, late);
                }
            }
            let marked = self.turns.is_marking() && step.flags.contains(Flags::ECE);
            self.flows[peer].acked(step, ack, stamp, marked, several);
        }
        if let Some(to) = self.turns.opens(step) {
            if let Some(sample) = self.turns.client_part(step) {
                self.sample(peer, sample);
            }
            self.both(to, Owner::Connecting);
        }
        if step.payload_len > 0 {
            self.data(step, message, me, peer);
            return;
        }
        if !step.flags.rst() {
            self.flows[me].says(step.seq);
            self.flows[me].probe(step.at, step.seq);
        }
        if step.flags.fin() || step.flags.rst() {
            self.turns.closes(step);
        }
    }

    /// From the monitor to a sender's receiver and back it took so long. By how much that is longer than the shortest, if it shows a
    /// queue.
    fn sample(&mut self, of: usize, sample: Duration) -> Option<Duration> {
        let near = self.flows[1 - of].beyond().unwrap_or(Duration::ZERO);
        self.flows[of].path.sample(sample, near)
    }

    fn data(&mut self, step: &Step, message: Option<Message>, me: usize, peer: usize) {
        let echo = step.stamps.map(|(_, echo)| echo);
        // Where the handshake did not come by.
        if !self.turns.is_asked() {
            if let Some(sample) = self.flows[me].echoed(step.at, echo) {
                if self.flows[peer].beyond().is_none_or(|least| sample < least) {
                    self.sample(peer, sample);
                }
            }
        }
        let near = self.flows[peer].beyond();
        let doubled = step
            .id
            .is_some_and(|id| self.flows[me].newest.is_doubled(step.seq, id));
        if doubled && !step.new {
            return;
        }
        if !step.new {
            // One byte below or at the edge probes, and sends nothing again.
            if step.payload_len > 1 {
                self.again(step, me, peer);
            } else {
                self.flows[me].probe(step.at, step.seq);
            }
            return;
        }
        let flow = &mut self.flows[me];
        flow.catch_up(step.at, echo, near.unwrap_or(Duration::ZERO));
        if let Some(queue) = flow.path.held_back.filter(|_| flow.path.away) {
            let ack = flow.late(step).map(|late| queue - late);
            flow.path.waits_back(step.at, queue, ack);
        }
        let busy = flow.is_busy();
        let mine = busy || self.turns.last() == Some(step.of);
        let new = New {
            at: step.at,
            len: step.payload_len,
            end: step.end,
            echo,
            turn: !mine,
        };
        let was_shut = flow.was_shut(step.at);
        let wait = flow.send(new, near.unwrap_or(Duration::ZERO), self.mss[me]);
        if self.turns.is_aside(step) && !busy {
            let last = self.turns.last().unwrap_or(step.of);
            self.turns.aside(self.flows[last as usize].acked_at[1]);
            return;
        }
        self.turns.gives_up = message.as_ref().is_some_and(Message::gives_up);
        self.heads |= matches!(message, Some(Message::Request(_) | Message::Response(_)));
        self.streams[peer].ends();
        match wait.filter(|_| mine) {
            Some(wait) => {
                let program = self.turns.program(step);
                let decided = match near {
                    Some(_) => deciders::decide(&wait, program),
                    None => Some(deciders::decide_afar(&wait, program)),
                };
                let line = &mut self.lines[me];
                let owner = decided.or(line.last).unwrap_or(Owner::SlowStart);
                if wait.clocked {
                    self.flows[me].bind(owner);
                }
                // The queue may be of the other direction: acknowledgements waited in it.
                let back = owner == Owner::PathRate && wait.back;
                line.own(step.at, owner, By::own(!back));
                let silent = decided.is_some_and(Owner::is_program);
                if !self.heads && (silent || decided.is_none()) {
                    self.streams[me].sends(step.at, step.payload_len, wait.mss, silent);
                }
                // A program is told by its owner.
                let by = By::own(back || owner == self.turns.program(step));
                self.lines[peer].wait(step.at, owner, by);
            }
            None => {
                let acked = self.flows[peer].acked_at;
                let left = self.flows[me].left(step, self.turns.news);
                let [(arrived, way), (to, mut program)] =
                    self.turns.silence(step, left, near, acked);
                if was_shut {
                    program = Owner::ReceiverWindow;
                }
                self.on_way(peer, arrived, way);
                // Of what both do in turn it is told who was late.
                let of_peer = By::own(program != Owner::TlsSetUp);
                self.lines[me].wait(to, program, By::Own);
                self.lines[peer].wait(to, program, of_peer);
                if to < step.at {
                    self.both(step.at, Owner::RoundTrip);
                }
                self.lines[me].settle();
                self.lines[me].last = None;
                let full = self.mss[me].unwrap_or(self.flows[me].largest());
                self.streams[me].ends();
                if !self.heads {
                    self.streams[me].sends(step.at, step.payload_len, full, true);
                }
            }
        }
        match &message {
            Some(Message::Response(status)) => self.turns.responds(*status, step.seq),
            Some(Message::Request(request)) => self.turns.asks(request.body, step.seq),
            _ => {}
        }
        if !self.turns.is_aside(step) {
            let told = Told {
                step,
                message,
                session: self.turns.session(step),
                opened: self.turns.opened(),
            };
            let spans = &mut self.lines[SERVER].sure.spans;
            self.requests.data(told, spans);
            let has_all = step
                .ack
                .is_none_or(|ack| self.flows[peer].is_all_acked(ack));
            self.turns.data(step, has_all);
        }
    }

    /// Something is sent again.
    fn again(&mut self, step: &Step, me: usize, peer: usize) {
        let range = SeqRange::new(step.seq, step.payload_len);
        // RFC 9293 §3.9.1.2: PSH is on the last packet of what a program has written.
        let more = !step.flags.contains(Flags::PSH) && !step.flags.fin();
        let near = self.flows[peer].beyond().unwrap_or(Duration::ZERO);
        let flow = &mut self.flows[me];
        if flow.is_overtaken(step.at, range, near) {
            return;
        }
        let Some(by_timer) = flow.resend(step.at, range, self.mss[me], more) else {
            return;
        };
        let owner = if by_timer {
            Owner::RecoveryTimer
        } else {
            Owner::RecoveryFast
        };
        self.lines[me].own(step.at, owner, By::Own);
        self.lines[peer].wait(step.at, owner, By::Other);
        self.turns.again(step);
    }

    /// What was sent last in a direction was on its way until `to`, when it `arrived`: a repair is one until then, and a queue
    /// drains until then.
    fn on_way(&mut self, of: usize, to: Time, owner: Owner) {
        let flow = &self.flows[of];
        let repair = self.lines[of].last.filter(|last| last.is_recovery());
        let repair = repair.filter(|_| flow.is_repairing());
        let queue = flow.drains(self.mss[of]).then_some(Owner::PathRate);
        match repair.or(queue).filter(|_| owner == Owner::RoundTrip) {
            Some(owner) => {
                self.lines[of].wait(to, owner, By::Own);
                self.lines[1 - of].wait(to, owner, By::Other);
            }
            None => self.both(to, owner),
        }
    }

    fn both(&mut self, to: Time, owner: Owner) {
        self.lines
            .iter_mut()
            .for_each(|line| line.wait(to, owner, By::Own));
    }
}

//! Two hosts with paths between them, in simulated time.

use std::collections::VecDeque;

use rexmit_tcp::connection::{Event as Happened, Local, Sent, State};
use rexmit_tcp::multipath::Options;
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Streams, Time};
use rexmit_wire::{FlowKey, SeqNum};

use super::bursts::Bursts;
use super::ends::{End, Out};
use super::gate::{Gate, Leaving};
use super::wires::{Arrival, Wires};
use crate::link::{self, Link};
use crate::machine::Stack;
use crate::queue::Queue;

/// The server's place among the ends, and the client's.
pub const SERVER: usize = 0;
pub const CLIENT: usize = 1;

/// Bytes of an Ethernet header.
const FRAME: u32 = 14;

/// What happens; those at the same time in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A packet arrives.
    Arrive(Arrival),
    /// An end's timers.
    Timer(usize),
    /// The server begins a burst.
    Burst,
    /// An end's program goes on: all that came at once is taken in before.
    Program(usize),
    /// The server's filter lets its packets go, once nothing else goes on.
    Filter,
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Sent,
    options: Options,
}

/// What makes a world.
pub struct Parts<'a> {
    pub stacks: [&'a Stack; 2],
    pub multipath: bool,
    pub mtu: u32,
    pub ip_header: u32,
    /// Of each path, which the server's packets take.
    pub flows: Vec<FlowKey>,
    pub links: Vec<link::Settings>,
    pub first_path: usize,
    /// How far a look at the hosts' clock moves it on.
    pub look: Duration,
}

/// The simulation of one connection.
pub struct World<'a> {
    parts: Parts<'a>,
    queue: Queue<Event>,
    ends: [End; 2],
    /// `[path][sender]`
    links: Vec<[Link; 2]>,
    wires: Wires<Packet>,
    armed: [Time; 2],
    /// What a program is to be told.
    happened: [VecDeque<Happened>; 2],
    filter_armed: bool,
    /// Packets of the server that wait for its filter.
    outbox: VecDeque<Out>,
    numbers: rexmit_time::Stream,
    /// What both programs do, once the connection is up.
    pub bursts: Option<Bursts>,
    burst_armed: Option<Time>,
    /// Bytes that the server has heard of the client.
    heard: u32,
    pub gate: Gate,
}

impl<'a> World<'a> {
    pub fn new(parts: Parts<'a>, gate: Gate, streams: &Streams, now: Time) -> Self {
        let end = |side: usize| {
            End::new(
                parts.stacks[side],
                parts.multipath,
                parts.first_path,
                side == CLIENT,
            )
        };
        let links = (0..).zip(&parts.links).map(|(path, settings)| {
            [SERVER, CLIENT].map(|side| {
                let stream = || streams.stream("link", 2 * path + side as u64);
                Link::new(settings.clone(), stream)
            })
        });
        World {
            queue: Queue::new(now),
            ends: [end(SERVER), end(CLIENT)],
            links: links.collect(),
            wires: Wires::new(parts.links.len()),
            armed: [Time::MAX; 2],
            happened: [VecDeque::new(), VecDeque::new()],
            filter_armed: false,
            outbox: VecDeque::new(),
            numbers: streams.stream("isn", 0),
            bursts: None,
            burst_armed: None,
            heard: 0,
            gate,
            parts,
        }
    }

    pub fn now(&self) -> Time {
        self.queue.now()
    }

    pub fn end(&self, side: usize) -> &End {
        &self.ends[side]
    }

    fn local(&mut self) -> Local {
        let random = self.numbers.next_u64();
        Local {
            iss: SeqNum::new(random as u32),
            timestamp_offset: (random >> 32) as u32,
            mtu: self.parts.mtu,
            ip_header: self.parts.ip_header,
            window_clamp: None,
            metrics: Metrics::default(),
            look: self.parts.look,
            defer_accept: None,
            subflow: None,
        }
    }

    /// The client opens the connection, or a subflow, on `path`.
    pub fn open(&mut self, now: Time, path: usize) {
        let local = self.local();
        let stack = self.parts.stacks[CLIENT];
        self.ends[CLIENT].connect(now, stack, path, &local);
        self.settle(now, CLIENT);
    }

    /// The client says something, so that the server knows it is there (RFC 8684 §3.1).
    pub fn say_hello(&mut self, now: Time) {
        self.ends[CLIENT].write(now, 1);
        self.settle(now, CLIENT);
    }

    /// Bytes that the server has heard of the client.
    pub fn heard(&self) -> u32 {
        self.heard
    }

    /// Whether both ends know that the connection, or the subflow, on `path` is up.
    pub fn is_up(&self, path: usize) -> bool {
        self.ends.iter().all(|end| match end.meta() {
            Some(meta) => meta.confirmed(path).is_some(),
            None => end
                .connection(path)
                .is_some_and(|c| c.state() == State::Established),
        }) && self.heard > 0
    }

    /// Whether the client's handshake on `path` is over.
    pub fn is_open(&self, path: usize) -> bool {
        let connection = self.ends[CLIENT].connection(path);
        connection.is_some_and(|c| c.state() == State::Established)
    }

    /// The server's data are to leave at once, as they are written.
    pub fn begin(&mut self, now: Time, bursts: Bursts) {
        self.ends[SERVER].set_nodelay(now);
        self.bursts = Some(bursts);
        self.settle(now, SERVER);
        self.arm_burst();
    }

    /// Lets the next thing happen unless it is later than `until`; false when it is.
    pub fn step(&mut self, until: Time) -> bool {
        if self.queue.next_time().is_none_or(|time| time > until) {
            return false;
        }
        let Some((now, event)) = self.queue.pop() else {
            return false;
        };
        match event {
            Event::Arrive(arrival) => self.arrive(now, arrival),
            Event::Timer(side) => self.timer(now, side),
            Event::Burst => self.burst(now),
            Event::Program(side) => self.program(now, side),
            Event::Filter => self.filter(now),
        }
        true
    }

    fn arrive(&mut self, now: Time, arrival: Arrival) {
        let Some((packet, next)) = self.wires.take(arrival) else {
            return;
        };
        self.await_arrival(next);
        let Arrival { path, to, .. } = arrival;
        let Packet { sent, options } = packet;
        let leaving = self.leaving(1 - to, path, &sent, &options);
        self.gate.on_received(now, &leaving);
        let opens = sent.segment.flags.syn() && !sent.segment.flags.ack();
        let local = if opens { self.local() } else { self.blank() };
        let stack = self.parts.stacks[to];
        self.ends[to].on_segment(now, stack, (path, &local), &sent.segment, &options);
        self.settle(now, to);
    }

    /// What a packet that opens nothing needs of a host: nothing.
    fn blank(&self) -> Local {
        Local {
            iss: SeqNum::default(),
            timestamp_offset: 0,
            mtu: self.parts.mtu,
            ip_header: self.parts.ip_header,
            window_clamp: None,
            metrics: Metrics::default(),
            look: Duration::ZERO,
            defer_accept: None,
            subflow: None,
        }
    }

    fn leaving<'b>(
        &self,
        from: usize,
        path: usize,
        sent: &'b Sent,
        options: &'b Options,
    ) -> Leaving<'b> {
        let key = self.parts.flows[path];
        Leaving {
            from,
            path,
            key: if from == SERVER { key } else { key.reversed() },
            segment: &sent.segment,
            options,
            mechanism: sent.mechanism,
        }
    }

    fn timer(&mut self, now: Time, side: usize) {
        if self.armed[side] != now {
            return;
        }
        self.armed[side] = Time::MAX;
        if self.ends[side].deadline().is_some_and(|due| due <= now) {
            self.ends[side].on_deadline(now);
        }
        self.settle(now, side);
    }

    fn burst(&mut self, now: Time) {
        self.burst_armed = None;
        if let Some(bursts) = &mut self.bursts {
            if bursts.next().is_some_and(|time| time <= now) {
                bursts.begin(now);
                self.write(now);
                self.settle(now, SERVER);
            }
        }
        self.arm_burst();
    }

    /// The server writes what is left of its burst until nothing more is taken.
    fn write(&mut self, now: Time) {
        while let Some(bursts) = self.bursts.as_mut().filter(|bursts| bursts.left > 0) {
            let bytes = u32::try_from(bursts.left).unwrap_or(u32::MAX);
            let taken = self.ends[SERVER].write(now, bytes);
            bursts.left -= u64::from(taken);
            if taken == 0 {
                break;
            }
        }
        self.arm_burst();
    }

    fn arm_burst(&mut self) {
        let next = self.bursts.as_ref().and_then(Bursts::next);
        if let Some(time) = next.filter(|time| self.burst_armed != Some(*time)) {
            let time = time.max(self.queue.now());
            self.burst_armed = Some(time);
            self.queue.push(time, Event::Burst);
        }
    }

    /// A program goes on.
    fn tell(&mut self, now: Time, side: usize, event: Happened) {
        match (side, event) {
            (SERVER, Happened::Readable) => loop {
                let taken = self.ends[SERVER].read(now, 1);
                if taken == 0 {
                    break;
                }
                self.heard += taken;
            },
            (SERVER, Happened::Writable) => self.write(now),
            (CLIENT, Happened::Readable) => loop {
                let wanted = self.bursts.as_ref().map_or(0, Bursts::wanted);
                if wanted == 0 {
                    break;
                }
                let taken = self.ends[CLIENT].read(now, wanted);
                if taken == 0 {
                    break;
                }
                if let Some(bursts) = &mut self.bursts {
                    bursts.took(now, taken);
                }
            },
            _ => {}
        }
    }

    /// Fetches what an end has to send and to tell. Its program and the server's filter have their turn after all that
    /// comes in at this instant, as threads have after interrupts.
    fn settle(&mut self, now: Time, side: usize) {
        while let Some(out) = self.ends[side].poll_transmit(now) {
            if side == SERVER {
                self.outbox.push_back(out);
            } else {
                self.send(now, side, out);
            }
        }
        while let Some(event) = self.ends[side].poll_event() {
            if self.happened[side].is_empty() {
                // The lab's reader runs a look at the clock later: taking its packet in takes one.
                let late = if side == CLIENT {
                    self.parts.look
                } else {
                    Duration::ZERO
                };
                self.queue.push(now + late, Event::Program(side));
            }
            self.happened[side].push_back(event);
        }
        if !self.outbox.is_empty() && !self.filter_armed {
            self.filter_armed = true;
            self.queue.push(now, Event::Filter);
        }
        self.arm(side);
    }

    fn program(&mut self, now: Time, side: usize) {
        for event in std::mem::take(&mut self.happened[side]) {
            self.tell(now, side, event);
        }
        self.settle(now, side);
    }

    /// What leaves may make room in the host for more, which then has to pass as well.
    fn filter(&mut self, now: Time) {
        self.filter_armed = false;
        while let Some(out) = self.outbox.pop_front() {
            self.send(now, SERVER, out);
        }
        self.settle(now, SERVER);
    }

    fn send(&mut self, now: Time, from: usize, (path, sent, options): Out) {
        let leaving = self.leaving(from, path, &sent, &options);
        if self.gate.on_sent(now, &leaving, &self.ends[SERVER]) {
            let form = self.parts.stacks[from].settings.mptcp_options;
            let (syn, ack) = (sent.segment.flags.syn(), sent.segment.flags.ack());
            let header = sent.segment.header_len() + options.header_len(form, syn, ack);
            let frame = FRAME + self.parts.ip_header + header + sent.segment.len;
            for time in self.links[path][from]
                .enter(now, frame)
                .into_iter()
                .flatten()
            {
                let first = self
                    .wires
                    .put(time, path, 1 - from, Packet { sent, options });
                self.await_arrival(first);
            }
        }
        if sent.in_host_bytes > 0 {
            self.ends[from].left_host(now, path, sent.in_host_bytes);
        }
    }

    fn await_arrival(&mut self, next: Option<(Time, Arrival)>) {
        if let Some((time, arrival)) = next {
            self.queue.push(time, Event::Arrive(arrival));
        }
    }

    fn arm(&mut self, side: usize) {
        let Some(due) = self.ends[side].deadline() else {
            return;
        };
        let due = due.max(self.queue.now());
        if due < self.armed[side] {
            self.armed[side] = due;
            self.queue.push(due, Event::Timer(side));
        }
    }
}

#[cfg(test)]
mod tests;

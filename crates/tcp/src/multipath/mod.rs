//! Multipath TCP: one stream of data over several subflows, each a [`Connection`] of its own.
//!
//! Two generations. Out of tree: the kernels of multipath-tcp.org up to 0.9x (RFC 6824), whose default scheduler takes the
//! subflow with the shortest round-trip time for each segment, and which send what a subflow that timed out has out again
//! on another. Upstream: Linux since 5.13 (RFC 8684), whose scheduler takes the subflow that would be done first for a
//! burst of data, and whose timer sends the first data not acknowledged on a subflow that has nothing to do. What a stack
//! does stands in its [`Settings`]; the parts, one idea a file:
//!
//! - `fragments` and `pieces` are the data on the sender's side, as the two generations keep them; `mapping` is which
//!   data a subflow's bytes are.
//! - `buffer` is the send buffer of the whole connection, `coupling` what congestion controls are told of all subflows.
//! - `upstream` sends them with the scheduler `linger`; `out_of_tree` with `scheduler`: `lowest_rtt`, `round_robin`,
//!   `redundant` or `blest`.
//! - `timer` is the timer of the whole connection; `retransmit` is what upstream does when it fires, and its stale subflows;
//!   `reinject` is what the other does after a timeout or a probe.
//! - `arrivals` takes what came on subflows, `receive` puts it in order, and `window` offers the memory that all subflows
//!   share.
//!
//! Methods are those of a [`Connection`]: in, the application's calls, out, looks. Data are counted from 0 in each
//! direction; whoever lays packets out as bytes knows the keys from which the numbers on the wire come.
//!
//! Not modelled: the end of a connection, addresses that are announced or removed, backup subflows, falling back to TCP,
//! probes of a window of zero.

mod arrivals;
mod blest;
mod buffer;
mod coupling;
mod fragments;
mod input;
mod linger;
mod lowest_rtt;
mod mapping;
mod options;
mod out_of_tree;
mod pieces;
mod receive;
mod redundant;
mod reinject;
mod retransmit;
mod round_robin;
mod scheduler;
mod subflow;
mod timer;
mod upstream;
mod window;

use std::collections::VecDeque;
use std::sync::Arc;

use rexmit_time::Time;

use crate::clock::Clock;
use crate::connection::{Connection, Event, Local, Sent, Socket, SubflowOptions};
use crate::segment::Segment;
use crate::settings::{MptcpOptions, Settings};
use crate::words::Mechanism;

use blest::Room;
use buffer::SendBuffer;
use coupling::share_windows;
use fragments::Fragments;
use pieces::Pieces;
use receive::Received;
use reinject::Trigger;
use scheduler::Scheduler;
use subflow::Subflow;
use timer::Timer;

pub use options::{DataAck, Hello, Map, PacketOptions};

/// A packet to send.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// The path on which it goes.
    pub path: usize,
    /// The segment and why it is sent.
    pub sent: Sent,
    /// What it carries of Multipath TCP.
    pub options: PacketOptions,
}

/// What the connection as a whole did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets with data that another subflow had carried (MPTCPRetrans).
    pub reinjections: u64,
    /// Times the connection's own timer fired with something to send again.
    pub timeouts: u64,
    /// Re-injections that tail loss probes caused.
    pub probe_reinjections: u64,
    /// Windows halved because others waited.
    pub penalties: u64,
    /// Subflows given up for stale.
    pub stale: u64,
}

/// One end of a Multipath TCP connection.
pub struct Meta {
    settings: Arc<Settings>,
    clock: Clock,
    is_client: bool,
    subflows: Vec<Subflow>,
    data: Data,
    fragments: Fragments,
    pieces: Pieces,
    received: Received,
    timer: Timer,
    /// When something was put off.
    put_off: Option<Time>,
    /// The out-of-tree scheduler.
    scheduler: Scheduler,
    /// The subflow of the last choice, which holds for a burst (`last_snd`, before 6.6).
    last_chosen: Option<usize>,
    send_buffer: SendBuffer,
    nodelay: bool,
    /// TCP_CORK is set on the subflows.
    corked: bool,
    /// The peer's mappings have numbers of 64 bits, so acknowledgements do as well (`use_64bit_ack`).
    long_acks: bool,
    outbox: VecDeque<Outgoing>,
    readable: bool,
    counters: Counters,
}

/// Where the data that this end sends stand.
#[derive(Clone, Copy, Debug, Default)]
struct Data {
    /// The first byte that is not acknowledged (`snd_una`).
    una: u64,
    /// After the last byte that was handed to a subflow (`snd_nxt`).
    nxt: u64,
    /// After what was written (`write_seq`).
    end: u64,
    /// After the last byte that the peer's window takes.
    window_end: u64,
}

impl Data {
    /// What BLEST is told.
    fn room(&self, clock: &Clock, now: Time) -> Room {
        Room {
            tick: clock.ticks(now),
            tick_ns: clock.tick_ns(),
            window: self.window_end.saturating_sub(self.una),
        }
    }
}

impl Meta {
    /// A connection without subflows yet.
    #[must_use]
    pub fn new(settings: Arc<Settings>, clock: Clock, is_client: bool) -> Self {
        Meta {
            received: Received::new(&settings),
            send_buffer: SendBuffer::new(&settings),
            timer: Timer::new(&settings, clock),
            scheduler: Scheduler::new(settings.multipath.mptcp_scheduler),
            settings,
            clock,
            is_client,
            subflows: Vec::new(),
            data: Data::default(),
            fragments: Fragments::default(),
            pieces: Pieces::default(),
            put_off: None,
            last_chosen: None,
            nodelay: false,
            corked: false,
            long_acks: false,
            outbox: VecDeque::new(),
            readable: false,
            counters: Counters::default(),
        }
    }

    /// Opens a subflow on `path`, the connection's first or a further one; gives its place.
    pub fn connect(&mut self, now: Time, path: usize, local: &Local) {
        let local = self.local(local, false);
        let settings = Arc::clone(&self.settings);
        let connection = Connection::connect(settings, self.clock, &local, now);
        self.add(now, path, connection);
    }

    /// Answers a SYN that came on `path`.
    pub fn accept(&mut self, now: Time, path: usize, local: &Local, syn: &Segment) {
        let joins = !self.subflows.is_empty();
        let local = self.local(local, joins);
        let settings = Arc::clone(&self.settings);
        let connection = Connection::accept(settings, self.clock, &local, syn, now);
        self.add(now, path, connection);
    }

    fn local(&self, local: &Local, accepts_join: bool) -> Local {
        let form = self.settings.multipath.mptcp_options;
        Local {
            subflow: Some(SubflowOptions {
                data: options::data_bytes(form, self.long_acks),
                ack: options::ack_bytes(form, self.long_acks),
                echoed_rtt: accepts_join && form == MptcpOptions::Rfc8684,
            }),
            ..*local
        }
    }

    fn add(&mut self, now: Time, path: usize, connection: Connection) {
        let first = self.subflows.is_empty();
        self.subflows.push(Subflow::new(path, first, connection));
        self.drain(now, self.subflows.len() - 1);
    }

    /// Takes in a segment that came on `path`.
    pub fn on_segment(
        &mut self,
        now: Time,
        path: usize,
        segment: &Segment,
        options: &PacketOptions,
    ) {
        if let Some(index) = self.place(path) {
            self.take_segment(now, index, segment, options);
            if self.send_buffer.is_stale() || self.subflows.iter().any(|s| s.delegated) {
                self.put_off = Some(now);
            }
        }
    }

    /// When [`Meta::on_deadline`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let subflows = self.subflows.iter().filter_map(|s| s.connection.deadline());
        subflows.chain(self.timer.fires()).chain(self.put_off).min()
    }

    /// Runs the timers that are due, and what segments put off until all that came with them were taken in.
    pub fn on_deadline(&mut self, now: Time) {
        let mut probing = Vec::new();
        for index in 0..self.subflows.len() {
            let connection = &self.subflows[index].connection;
            if connection.deadline().is_some_and(|due| due <= now) && self.subflow_timer(now, index)
            {
                probing.push(index);
            }
        }
        if self.timer.fire(now) {
            self.on_timer(now);
        }
        // The patch for upstream leaves it to the worker, which serves the connection's own timer first.
        for index in probing {
            self.reinject_after(now, index, Trigger::Probe);
        }
        self.settle(now);
    }

    /// A subflow's timers, and what a timeout of it makes of the others; true if it sent a probe.
    fn subflow_timer(&mut self, now: Time, index: usize) -> bool {
        share_windows(&self.settings, &mut self.subflows, index);
        let subflow = &mut self.subflows[index];
        let before = subflow.watch();
        self.received.share_with(subflow);
        subflow.connection.on_deadline(now);
        self.drain(now, index);
        let after = self.subflows[index].watch();
        if let Some(trigger) = after.since(before) {
            self.reinject_after(now, index, trigger);
        }
        after.probed_since(before)
    }

    /// A packet left the host on `path`.
    pub fn left_host(&mut self, now: Time, path: usize, bytes: u32) {
        if let Some(index) = self.place(path) {
            self.subflows[index].connection.left_host(now, bytes);
            self.drain(now, index);
        }
    }

    /// Writes `bytes` without blocking. Returns what was taken. With less than `bytes` the buffer was full; what was sent then
    /// may have made it grow, so that the next write takes more at once. [`Event::Writable`] follows one that takes nothing.
    pub fn write(&mut self, now: Time, bytes: u32) -> u32 {
        let taken = if self.is_upstream() {
            self.write_fragments(now, bytes)
        } else {
            self.write_pieces(now, bytes)
        };
        self.settle(now);
        taken
    }

    /// Takes up to `most` bytes of data in order.
    pub fn read(&mut self, now: Time, most: u32) -> u32 {
        let mut taken = 0;
        loop {
            let some = self.received.read(most - taken);
            taken += some;
            self.adjust_buffer(now, some);
            if taken == most || !self.received.move_what_waits(&mut self.subflows) {
                break;
            }
        }
        self.after_read(now, taken);
        taken
    }

    /// Sets TCP_NODELAY on all subflows.
    pub fn set_nodelay(&mut self, now: Time, on: bool) {
        self.nodelay = on;
        for index in 0..self.subflows.len() {
            self.subflows[index].connection.set_nodelay(now, on);
            self.drain(now, index);
        }
    }

    /// Sets TCP_CORK on all subflows, if they ask it again of what the connection gives them (`mptcp_setsockopt_sol_tcp_cork`).
    /// Closing the connection does not take it off again: a short segment at the end of a subflow then waits until the timer
    /// for window probes sends it.
    pub fn set_cork(&mut self, now: Time, on: bool) {
        if !self.settings.multipath.mptcp_subflow_nagle {
            return;
        }
        self.corked = on;
        for index in 0..self.subflows.len() {
            self.subflows[index].connection.set_cork(now, on);
            self.drain(now, index);
        }
    }

    /// The next packet to send, in the order in which they leave.
    pub fn poll_transmit(&mut self) -> Option<Outgoing> {
        self.outbox.pop_front()
    }

    /// [`Event::Readable`] or [`Event::Writable`], when that happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.readable) {
            return Some(Event::Readable);
        }
        std::mem::take(&mut self.send_buffer.writable).then_some(Event::Writable)
    }

    /// When the subflow on `path` could be used by both ends, as this one knows.
    #[must_use]
    pub fn confirmed(&self, path: usize) -> Option<Time> {
        self.subflows[self.place(path)?].confirmed
    }

    /// The connection on `path`.
    #[must_use]
    pub fn subflow(&self, path: usize) -> Option<&Connection> {
        Some(&self.subflows[self.place(path)?].connection)
    }

    /// Data acknowledged, sent and written so far.
    #[must_use]
    pub fn sent(&self) -> (u64, u64, u64) {
        (self.data.una, self.data.nxt, self.data.end)
    }

    /// What the connection as a whole did so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn is_upstream(&self) -> bool {
        self.settings.multipath.is_upstream()
    }

    fn place(&self, path: usize) -> Option<usize> {
        self.subflows.iter().position(|s| s.path == path)
    }

    /// Does what was put off (`mptcp_subflow_delegate`): until a call of the application's or a timer is over, or all segments
    /// that came at once are taken in, as the kernel's softirq has it.
    fn settle(&mut self, now: Time) {
        self.put_off = None;
        while let Some(index) = self.subflows.iter().position(|s| s.delegated) {
            self.subflows[index].delegated = false;
            self.push_from(now, index, true);
        }
        let used = self.buffered();
        self.send_buffer.settle(&mut self.subflows, used);
        if !self.is_upstream() {
            self.send_buffer.check(&self.subflows, used);
        }
    }

    /// A subflow took an acknowledgement in or sent `new` segments: a writer that waits may go on.
    fn look_for_space(&mut self, index: usize, new: u32) {
        let used = self.buffered();
        self.send_buffer.look(&mut self.subflows, index, new, used);
    }

    /// Fetches what a subflow has to send, and adds what the connection has to say.
    fn drain(&mut self, now: Time, index: usize) {
        let mut new = 0;
        let upstream = self.is_upstream();
        let ack = DataAck {
            next: self.received.next,
            long: self.long_acks,
        };
        let subflow = &mut self.subflows[index];
        while let Some(mut sent) = subflow.connection.poll_transmit(now) {
            let map = subflow.mapping_of(&sent.segment);
            if let Some(map) = &map {
                sent.segment.pages = map.pages;
            }
            let options = subflow.options(&sent.segment, map.as_ref(), ack, self.is_client);
            if sent.segment.flags.ack() && !sent.segment.flags.syn() && !sent.segment.flags.rst() {
                sent.segment.window = self.received.offer(subflow, options.ack.is_some());
            }
            if !upstream {
                // Nothing is known of the hosts of that time: packets leave them as they are made.
                let bytes = std::mem::take(&mut sent.in_host_bytes);
                subflow.connection.left_host(now, bytes);
            }
            new += u32::from(sent.segment.len > 0 && sent.mechanism.is_none());
            if sent.mechanism.is_none() && map.is_some_and(|map| map.again) {
                sent.mechanism = Some(Mechanism::MptcpReinject);
                self.counters.reinjections += 1;
            }
            self.outbox.push_back(Outgoing {
                path: subflow.path,
                sent,
                options,
            });
        }
        if new > 0 {
            self.look_for_space(index, new);
        }
    }
}

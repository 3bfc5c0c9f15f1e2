//! A TCP connection: the handshake, the two directions of data, the close.
//!
//! Four families of methods. *In*: [`Connection::on_segment`], [`Connection::left_host`], [`Connection::on_deadline`].
//! *The application's calls*: [`Connection::write`], [`Connection::read`], [`Connection::close`] and their like.
//! *Out*: [`Connection::poll_transmit`] and [`Connection::poll_event`], to be called after every call of the first two
//! families until each gives `None`. *Looks*: the rest.
//!
//! `now` never goes back from one call to the next.
//!
//! Not modelled: crossed SYNs, TCP Fast Open, urgent data, ECN, SO_LINGER, keepalive.

mod buffer;
mod handshake;
mod input;
mod outbox;
mod response;
mod socket;
mod types;

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum};

use crate::clock::Clock;
use crate::receiver::{Header, Receiver, Sending};
use crate::segment::{Segment, Timestamps};
use crate::sender::{Counters, Metrics, Sender, Transmit};
use crate::settings::{Settings, WindowShare};

use buffer::SendBuffer;
use handshake::Handshake;
use outbox::Outbox;
use types::Events;

pub use response::{Progress, Response};
pub use socket::Socket;
pub use types::{Event, Local, Sent, State};

/// How long TIME_WAIT lasts, and FIN_WAIT2 of a socket without an owner (`TCP_TIMEWAIT_LEN`, `tcp_fin_timeout`).
const TIME_WAIT: Duration = Duration::from_secs(60);
/// Pages that `sendfile` moves at a time: those of a pipe (`PIPE_DEF_BUFFERS`).
const PIPE_BYTES: u64 = 16 * PAGE_BYTES;
const PAGE_BYTES: u64 = 4096;

/// One end of a TCP connection.
#[derive(Debug)]
pub struct Connection {
    settings: Arc<Settings>,
    clock: Clock,
    local: Local,
    state: State,
    receiver: Receiver,
    /// While the handshake goes on.
    handshake: Option<Box<Handshake>>,
    /// From the end of the handshake to the end of both streams.
    sender: Option<Box<Sender>>,
    buffer: SendBuffer,
    /// Of the windows that the peer tells.
    window_scale: u8,
    timestamps: bool,
    /// The socket was closed by its owner (`SOCK_DEAD`).
    orphan: bool,
    /// When a stray segment was answered last, in ticks (`last_oow_ack_time`).
    stray_answered: Option<i64>,
    /// The end of TIME_WAIT, or of an orphan's FIN_WAIT2.
    expires: Option<Time>,
    outbox: Outbox,
    events: Events,
    /// What is still asked of a sender that is gone.
    remains: Option<Box<Remains>>,
}

/// What is still asked of a sender that is gone.
#[derive(Clone, Copy, Debug)]
struct Remains {
    counters: Counters,
    /// The number of the next byte.
    nxt: SeqNum,
}

impl Connection {
    fn new(
        settings: Arc<Settings>,
        clock: Clock,
        local: &Local,
        state: State,
        receiver: Receiver,
        handshake: Handshake,
    ) -> Self {
        let buffer = SendBuffer::new(&settings, local.mss());
        Connection {
            settings,
            clock,
            local: *local,
            state,
            receiver,
            handshake: Some(Box::new(handshake)),
            sender: None,
            buffer,
            window_scale: 0,
            timestamps: false,
            orphan: false,
            stray_answered: None,
            expires: None,
            outbox: Outbox::default(),
            events: Events::default(),
            remains: None,
        }
    }

    /// Opens a connection: the SYN is the first segment that [`Self::poll_transmit`] gives.
    #[must_use]
    pub fn connect(settings: Arc<Settings>, clock: Clock, local: &Local, now: Time) -> Self {
        let mss = local.mss();
        let scaling = settings.window_scaling;
        // tcp_connect_init
        let receiver = Receiver::new(&settings, clock, mss, mss, local.window_clamp, scaling);
        let handshake = Handshake::active(&settings, clock, now);
        let mut connection = Self::new(settings, clock, local, State::SynSent, receiver, handshake);
        connection.send_handshake(now);
        connection
    }

    /// What a listener makes of the SYN `syn`: the SYN-ACK is the first segment that [`Self::poll_transmit`] gives.
    #[must_use]
    pub fn accept(
        settings: Arc<Settings>,
        clock: Clock,
        local: &Local,
        syn: &Segment,
        now: Time,
    ) -> Self {
        let mss = local.mss();
        let handshake = Handshake::passive(&settings, clock, syn, local.look, now);
        let echo = syn.timestamps.filter(|_| settings.timestamps);
        // tcp_openreq_init_rwin
        let quantum = mss - echo.map_or(0, |_| 12);
        let scaling = settings.window_scaling && syn.window_scale.is_some();
        let mut receiver =
            Receiver::new(&settings, clock, mss, quantum, local.window_clamp, scaling);
        receiver.synchronize(syn.seq + 1, echo.map_or(0, |stamps| stamps.value));
        let mut connection = Self::new(
            settings,
            clock,
            local,
            State::SynReceived,
            receiver,
            handshake,
        );
        connection.send_handshake(now);
        connection
    }

    /// When [`Self::on_deadline`] is due; it changes with any call.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let handshake = self
            .handshake
            .as_ref()
            .map(|handshake| handshake.deadline());
        let sender = self.sender.as_ref().and_then(|sender| sender.deadline());
        [handshake, sender, self.receiver.deadline(), self.expires]
            .into_iter()
            .flatten()
            .min()
    }

    /// Runs the timers that are due at `now`; calling it too early does no harm.
    pub fn on_deadline(&mut self, now: Time) {
        if self.expires.is_some_and(|expires| expires <= now) {
            self.end(None);
            return;
        }
        if let Some(handshake) = &mut self.handshake {
            if handshake.deadline() <= now {
                if handshake.on_timeout(now) {
                    self.send_handshake(now);
                } else {
                    self.end(Some(Event::TimedOut));
                }
            }
            return;
        }
        let sending = self.sending();
        if let Some(header) = self.receiver.on_deadline(now, &sending) {
            self.send_ack(now, header);
        }
        if let Some(sender) = &mut self.sender {
            sender.on_deadline(now);
            if sender.timed_out() {
                self.end(Some(Event::TimedOut));
                return;
            }
        }
        self.pump_and_look(now);
    }

    /// A packet left the host for which [`Sent::in_host_bytes`] was given.
    pub fn left_host(&mut self, now: Time, bytes: u32) {
        if let Some(sender) = &mut self.sender {
            sender.left_host(now, bytes);
            self.pump_and_look(now);
        }
    }

    /// The next segment to send, in the order in which they leave.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Sent> {
        let sent = self.outbox.pop();
        if sent.is_none() {
            self.rest();
        }
        sent
    }

    /// The next thing that happened. An event that was not taken yet is not told twice.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Writes `bytes` as `write`, `writev` or `send` do (from user memory), without blocking. `more`: MSG_MORE. Returns
    /// what was taken; less than `bytes` when the send buffer is full, and then [`Event::Writable`] follows later.
    pub fn write(&mut self, now: Time, bytes: u32, more: bool) -> u32 {
        let Some(sender) = self.sender.as_mut().filter(|_| self.state.can_write()) else {
            return 0;
        };
        let taken = sender.write_within(now, bytes, more, self.buffer.limit());
        if taken < bytes {
            self.buffer.wait();
            sender.set_writer_waits(true);
        }
        self.pump(now);
        taken
    }

    /// Writes up to `bytes` of a file from its byte `offset` on as `sendfile` does, without blocking.
    ///
    /// `sendfile` fills a pipe of 16 pages and empties it into the socket, time and again (`splice_direct_to_actor`). All
    /// fillings but the last are written with MSG_MORE. Within one, pages are written one by one without a push between
    /// them (6.1: MSG_SENDPAGE_NOTLAST) or all at once (6.12: MSG_SPLICE_PAGES); both fill segments across the pages'
    /// edges, so that all leave full but the stream's last.
    pub fn send_file(&mut self, now: Time, offset: u64, bytes: u32) -> u32 {
        let mut taken = 0;
        while taken < bytes {
            let left = bytes - taken;
            let in_page = (offset + u64::from(taken)) % PAGE_BYTES;
            let filling = u64::from(left).min(PIPE_BYTES - in_page) as u32;
            let written = self.write(now, filling, filling < left);
            taken += written;
            if written < filling {
                self.push_from_full_buffer(now, written);
                break;
            }
        }
        taken
    }

    /// `sendfile` before 6.5 pushes what is in a full buffer even if it added nothing to it (`do_tcp_sendpages`).
    fn push_from_full_buffer(&mut self, now: Time, written: u32) {
        let pages_one_by_one = self.settings.window_share != WindowShare::ScalingRatio;
        if let Some(sender) = self
            .sender
            .as_mut()
            .filter(|_| written == 0 && pages_one_by_one)
        {
            sender.push_all(now);
            self.pump(now);
        }
    }

    /// Takes up to `most` bytes in order, as one `recv` does. A reader that blocks when nothing is there calls this once
    /// more and gets 0: that call may still send an acknowledgement (`tcp_cleanup_rbuf`). 0 is also the end of the stream,
    /// see [`Self::at_end`].
    pub fn read(&mut self, now: Time, most: u32) -> u32 {
        let (taken, header) = self.receiver.read(now, most);
        if let Some(header) = header.filter(|_| self.sender.is_some()) {
            self.send_ack(now, header);
        }
        taken
    }

    /// Bytes in order that can be read.
    #[must_use]
    pub fn readable(&self) -> u32 {
        self.receiver.readable()
    }

    /// Whether nothing more will be read: the peer has closed and all it sent was read, or the connection is gone.
    #[must_use]
    pub fn at_end(&self) -> bool {
        (self.receiver.has_fin() || self.state == State::Closed) && self.readable() == 0
    }

    /// Sets TCP_CORK; taking it off sends what waits.
    pub fn set_cork(&mut self, now: Time, on: bool) {
        if let Some(sender) = &mut self.sender {
            sender.set_cork(now, on);
            self.pump(now);
        }
    }

    /// Sets TCP_NODELAY; setting it sends what waits.
    pub fn set_nodelay(&mut self, now: Time, on: bool) {
        if let Some(sender) = &mut self.sender {
            sender.set_nodelay(now, on);
            self.pump(now);
        }
    }

    /// Sends a FIN behind what was written; reading goes on.
    pub fn shutdown(&mut self, now: Time) {
        let Some(sender) = &mut self.sender else {
            return;
        };
        if let Some(state) = self.state.after_our_fin() {
            self.state = state;
            sender.close(now);
            self.pump(now);
        }
    }

    /// Closes the socket. With unread data the connection is reset, else a FIN follows what was written (RFC 2525 §2.17).
    pub fn close(&mut self, now: Time) {
        if self.orphan || self.state == State::Closed {
            return;
        }
        self.orphan = true;
        match self.state {
            State::SynSent | State::SynReceived => {
                self.end(None);
            }
            _ if self.readable() > 0 => {
                let header = self.receiver.header();
                let mut segment = self.segment(now, &header, Flags(Flags::RST.0 | Flags::ACK.0));
                segment.timestamps = segment.timestamps.filter(|_| self.timestamps);
                self.outbox.push(Sent::plain(segment));
                self.end(None);
            }
            _ => {
                self.shutdown(now);
                if let Some(sender) = &mut self.sender {
                    sender.orphan();
                }
                if self.state == State::FinWait2 {
                    self.linger(now);
                }
            }
        }
    }

    /// The state of RFC 9293 §3.3.2.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The sender, from the end of the handshake to the end of both streams: for tables and tests.
    #[must_use]
    pub fn sender(&self) -> Option<&Sender> {
        self.sender.as_deref()
    }

    /// What the host remembers of the peer: when the connection is over, what it learned besides.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.local.metrics
    }

    /// What the sender has counted, which outlives it.
    #[must_use]
    pub fn counters(&self) -> Counters {
        match (&self.sender, &self.remains) {
            (Some(sender), _) => sender.counters(),
            (None, Some(remains)) => remains.counters,
            (None, None) => Counters::default(),
        }
    }

    /// What the receiver has to know of the sender.
    fn sending(&self) -> Sending {
        match &self.sender {
            Some(sender) => Sending {
                srtt: sender.srtt(),
                rto_ticks: sender.rto_ticks(),
            },
            None => Sending {
                srtt: None,
                rto_ticks: self.clock.ticks_in(self.settings.initial_rto),
            },
        }
    }

    /// The clock of our timestamps, without the offset.
    fn timestamp(&self, now: Time) -> u32 {
        self.settings.estimator.stamp(&self.clock, now)
    }

    /// Sends the SYN or the SYN-ACK.
    fn send_handshake(&mut self, now: Time) {
        if let Some(handshake) = &self.handshake {
            let echo = self.receiver.echo();
            let segment = handshake.segment(&self.local, &self.receiver, echo, now);
            self.outbox.push(Sent::plain(segment));
        }
    }

    /// A segment without data.
    fn segment(&self, now: Time, header: &Header, flags: Flags) -> Segment {
        let seq = match (&self.sender, &self.remains) {
            (Some(sender), _) => sender.nxt(),
            (None, Some(remains)) => remains.nxt,
            (None, None) => self.local.iss + 1,
        };
        Segment {
            seq,
            ack: header.ack,
            flags,
            window: header.window,
            timestamps: self.timestamps.then(|| Timestamps {
                value: self
                    .timestamp(now)
                    .wrapping_add(self.local.timestamp_offset),
                echo: header.echo,
            }),
            sack: header.sack,
            ..Segment::default()
        }
    }

    /// Sends an acknowledgement (`tcp_send_ack`).
    fn send_ack(&mut self, now: Time, header: Header) {
        let segment = self.segment(now, &header, Flags::ACK);
        self.outbox.push(Sent::plain(segment));
    }

    /// Fetches what the sender has to send; returns how many segments are new.
    fn pump(&mut self, now: Time) -> u32 {
        let mut new = 0;
        while let Some(transmit) = self
            .sender
            .as_mut()
            .and_then(|sender| sender.poll_transmit(now))
        {
            let is_data = !transmit.range.is_empty() || transmit.fin;
            new += u32::from(is_data && transmit.mechanism.is_none());
            self.send(now, &transmit);
        }
        new
    }

    /// Fetches what a timer or a packet's leaving made the sender send; new segments may mean that a waiting writer's buffer
    /// grows (`tcp_event_new_data_sent`).
    fn pump_and_look(&mut self, now: Time) {
        let sent = self.pump(now);
        if sent > 0 {
            self.check_space(sent, 0);
        }
    }

    /// Sends what the sender wants sent, with the acknowledgement of the moment (`__tcp_transmit_skb`). A packet of several
    /// segments leaves the host's filter or its device cut into them (`tcp_tso_segment`): flags that end something go with
    /// the last, and with it what counts in the host.
    fn send(&mut self, now: Time, transmit: &Transmit) {
        let header = self.receiver.header();
        let plain = self.segment(now, &header, Flags::ACK);
        let mut left = transmit.range.len();
        if left > 0 {
            self.receiver.data_sent(now);
        }
        let mss = self.sender.as_ref().map_or(left, |sender| sender.mss());
        let mut seq = transmit.range.start;
        loop {
            let len = left.min(mss);
            left -= len;
            let last = left == 0;
            let mut flags = Flags::ACK.0;
            if transmit.psh && last {
                flags |= Flags::PSH.0;
            }
            if transmit.fin && last {
                flags |= Flags::FIN.0;
            }
            self.outbox.push(Sent {
                segment: Segment {
                    seq,
                    len,
                    flags: Flags(flags),
                    ..plain
                },
                mechanism: transmit.mechanism,
                probe: transmit.probe,
                in_host_bytes: if last { transmit.in_host_bytes } else { 0 },
            });
            seq += len;
            if last {
                break;
            }
        }
    }

    /// The connection waits for stray segments only.
    fn linger(&mut self, now: Time) {
        self.remember();
        self.drop_sender();
        self.expires = Some(now + TIME_WAIT);
    }

    /// With nothing in flight, memory that only traffic needs is given back: a simulation may have very many connections.
    fn rest(&mut self) {
        if let Some(sender) = self.sender.as_mut().filter(|sender| sender.is_empty()) {
            sender.rest();
            self.outbox.rest();
        }
    }

    /// The host remembers what the connection learned (`tcp_update_metrics`).
    fn remember(&mut self) {
        if let Some(sender) = self.sender.as_ref().filter(|_| self.settings.metrics) {
            self.local.metrics = sender.learned(&self.local.metrics);
        }
    }

    fn drop_sender(&mut self) {
        if let Some(sender) = self.sender.take() {
            self.remains = Some(Box::new(Remains {
                counters: sender.counters(),
                nxt: sender.nxt(),
            }));
        }
    }

    /// The connection is no more.
    fn end(&mut self, event: Option<Event>) {
        let known = self.state == State::TimeWait || self.state == State::Closed;
        self.state = State::Closed;
        self.handshake = None;
        if event.is_none() {
            self.remember();
        }
        self.drop_sender();
        self.expires = None;
        self.receiver.stop();
        if let Some(event) = event {
            self.events.push(event);
        }
        if !known {
            self.events.push(Event::Closed);
        }
    }
}

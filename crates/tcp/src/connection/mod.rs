//! A TCP connection: the handshake, the two directions of data, the close.
//!
//! Four families of methods. *In*: [`Connection::on_segment`], [`Connection::left_host`], [`Connection::on_deadline`].
//! *The application's calls*: those of [`Socket`] and their like.
//! *Out*: [`Connection::poll_transmit`] and [`Connection::poll_event`], to be called after every call of the first two
//! families until each gives `None`. *Looks*: the rest.
//!
//! `now` never goes back from one call to the next.
//!
//! Not modelled: crossed SYNs, TCP Fast Open, urgent data, keepalive.

mod buffer;
mod calls;
mod defer;
mod half;
mod handshake;
mod input;
mod outbox;
mod output;
mod pages;
mod rate;
mod response;
mod socket;
mod subflow;
mod types;

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::clock::Clock;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sender::{Counters, Metrics, Sender};
use crate::settings::Settings;

use buffer::SendBuffer;
use half::SendingHalf;
use handshake::{Due, Handshake};
use outbox::Outbox;
use pages::Pages;
use rate::TwiceASecond;
use types::Events;

pub(crate) use pages::WRITE_PAGE_BYTES;
pub use response::{Progress, Response};
pub use socket::Socket;
pub use types::{DeferAccept, Event, Local, Sent, State, SubflowOptions};

/// How long TIME_WAIT lasts, and FIN_WAIT2 of a socket without an owner (`TCP_TIMEWAIT_LEN`, `tcp_fin_timeout`).
const TIME_WAIT: Duration = Duration::from_secs(60);

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
    sender: SendingHalf,
    buffer: SendBuffer,
    /// Of the windows that the peer tells.
    window_scale: u8,
    timestamps: bool,
    /// The socket was closed by its owner (`SOCK_DEAD`).
    orphan: bool,
    /// When a stray segment was answered last (`last_oow_ack_time`).
    stray_answered: TwiceASecond,
    /// The end of TIME_WAIT, or of an orphan's FIN_WAIT2.
    expires: Option<Time>,
    pages: Pages,
    /// A segment of a subflow waits for [`Connection::finish_segment`].
    unanswered: bool,
    outbox: Outbox,
    events: Events,
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
            sender: SendingHalf::default(),
            buffer,
            window_scale: 0,
            timestamps: false,
            orphan: false,
            stray_answered: TwiceASecond::default(),
            expires: None,
            pages: Pages::default(),
            unanswered: false,
            outbox: Outbox::default(),
            events: Events::default(),
        }
    }

    /// Opens a connection: the SYN is the first segment that [`Self::poll_transmit`] gives.
    #[must_use]
    pub fn connect(settings: Arc<Settings>, clock: Clock, local: &Local, now: Time) -> Self {
        let mss = local.mss();
        let scaling = settings.segments.window_scaling;
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
        let handshake = Handshake::passive(&settings, clock, syn, local, now);
        let echo = syn.timestamps.filter(|_| settings.segments.timestamps);
        // tcp_openreq_init_rwin
        let quantum = mss - echo.map_or(0, |_| 12);
        let scaling = settings.segments.window_scaling && syn.window_scale.is_some();
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
        let sender = self
            .sender
            .get()
            .and_then(|sender| sender.timing().deadline());
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
                match handshake.on_timeout(now) {
                    Due::Send => self.send_handshake(now),
                    Due::Wait => {}
                    Due::GiveUp => self.end(Some(Event::TimedOut)),
                }
            }
            return;
        }
        let sending = self
            .sender
            .told(&self.clock, self.settings.timers.initial_rto);
        if let Some(header) = self.receiver.on_deadline(now, &sending) {
            self.send_ack(now, header);
        }
        if let Some(sender) = self.sender.get_mut() {
            sender.on_deadline(now);
            if sender.timed_out() {
                self.end(Some(Event::TimedOut));
                return;
            }
        }
        self.pump_and_look(now);
    }

    /// A packet of ours whose first number is `seq` was dropped: its memory is free, which matters to some senders.
    pub fn dropped(&mut self, seq: SeqNum) {
        if let Some(sender) = self.sender.get_mut() {
            sender.flight_mut().dropped(seq);
        }
    }

    /// A packet left the host for which [`Sent::in_host_bytes`] was given.
    pub fn left_host(&mut self, now: Time, bytes: u32) {
        if let Some(sender) = self.sender.get_mut() {
            sender.left_host(now, bytes);
            self.pump_and_look(now);
        }
    }

    /// The next segment to send, in the order in which they leave.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Sent> {
        let sent = self.outbox.pop();
        if sent.is_none() {
            // With nothing in flight, memory that only traffic needs is given back: a simulation may have very many connections.
            let sender = self.sender.get_mut();
            if let Some(sender) = sender.filter(|sender| sender.is_empty()) {
                sender.rest();
                self.outbox.rest();
            }
        }
        sent
    }

    /// The next thing that happened. An event that was not taken yet is not told twice.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// The state of RFC 9293 §3.3.2.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The sender, from the end of the handshake to the end of both streams: for tables and tests.
    #[must_use]
    pub fn sender(&self) -> Option<&Sender> {
        self.sender.get()
    }

    /// What the host remembers of the peer: when the connection is over, what it learned besides.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.local.metrics
    }

    /// What the sender has counted, which outlives it.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.sender.counters()
    }

    /// The connection waits for stray segments only.
    fn linger(&mut self, now: Time) {
        self.remember();
        self.sender.end();
        self.expires = Some(now + TIME_WAIT);
    }

    /// The host remembers what the connection learned (`tcp_update_metrics`).
    fn remember(&mut self) {
        if let Some(sender) = self
            .sender
            .get()
            .filter(|_| self.settings.congestion.metrics)
        {
            self.local.metrics = sender.learned(&self.local.metrics);
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
        self.sender.end();
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

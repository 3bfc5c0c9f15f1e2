//! A scripted session: requests and responses of any sizes, with waits at both ends.

use std::sync::Arc;

use rexmit_tcp::connection::{Event, Socket};
use rexmit_time::{Duration, Time};

use super::cut::{Cut, Cutter};
use super::reader::{Reader, Stop};

/// A request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes of the request.
    pub request: u64,
    /// Bytes of the response.
    pub response: u64,
    /// How long the server works before it answers.
    pub work: Duration,
    /// How long the client waits after the response before it goes on.
    pub think: Duration,
}

/// What a program does besides what is to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// When it stops reading, in the order of bytes.
    pub stops: Vec<Stop>,
    /// How it ends the connection before its time.
    pub cut: Option<Cut>,
}

/// What both ends of a session know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// In order.
    pub exchanges: Vec<Exchange>,
    /// The server closes after the last response, else the client.
    pub server_closes: bool,
    /// The client closes when so many bytes of responses came, whatever is still to come.
    pub aborts_after: Option<u64>,
    /// How long the client waits before its first request.
    pub first_think: Duration,
    /// How long the server waits after the last response before it closes.
    pub lingers: Duration,
    /// The client's behaviour.
    pub client: Behaviour,
    /// The server's.
    pub server: Behaviour,
}

/// What an end has written of a message.
#[derive(Clone, Copy, Debug, Default)]
struct Writing {
    left: u64,
}

impl Writing {
    /// Writes what the socket takes, and lets `cutter` count it; whether that was the rest.
    fn go_on(&mut self, now: Time, socket: &mut impl Socket, cutter: &mut Cutter) -> bool {
        while self.left > 0 {
            let bytes = u32::try_from(self.left).unwrap_or(u32::MAX);
            let taken = u64::from(socket.write(now, bytes, false));
            cutter.count(now, taken);
            if taken == 0 {
                return false;
            }
            self.left -= taken;
        }
        true
    }
}

/// The client of a session: asks, reads the response, waits, asks again.
#[derive(Clone, Debug)]
pub struct Visitor {
    script: Arc<Script>,
    /// The exchange at hand.
    at: usize,
    writing: Writing,
    /// Bytes of the response at hand that came, and of all.
    came: u64,
    total: u64,
    goes_on: Option<Time>,
    reader: Reader,
    cutter: Cutter,
    closed: bool,
}

impl Visitor {
    /// A client that follows `script`.
    #[must_use]
    pub fn new(script: Arc<Script>) -> Self {
        Self {
            reader: Reader::new(&script.client.stops),
            cutter: Cutter::new(script.client.cut),
            script,
            at: 0,
            writing: Writing { left: 0 },
            came: 0,
            total: 0,
            goes_on: None,
            closed: false,
        }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        if self.closed {
            return;
        }
        match event {
            Event::Established => match self.script.first_think {
                Duration::ZERO => self.ask(now, socket),
                think => self.goes_on = Some(now + think),
            },
            Event::Writable => {
                self.writing.go_on(now, socket, &mut self.cutter);
            }
            Event::Readable | Event::PeerClosed => self.read(now, socket),
            _ => {}
        }
    }

    fn ask(&mut self, now: Time, socket: &mut impl Socket) {
        let script = Arc::clone(&self.script);
        match script.exchanges.get(self.at) {
            Some(exchange) => {
                self.came = 0;
                self.writing.left = exchange.request;
                self.writing.go_on(now, socket, &mut self.cutter);
            }
            None if script.server_closes => {}
            None => self.close(now, socket),
        }
    }

    fn close(&mut self, now: Time, socket: &mut impl Socket) {
        self.closed = true;
        self.goes_on = None;
        socket.close(now);
    }

    fn read(&mut self, now: Time, socket: &mut impl Socket) {
        let script = Arc::clone(&self.script);
        if script.aborts_after.is_some_and(|bytes| self.total >= bytes) {
            // Unread data make the close a reset.
            self.close(now, socket);
            return;
        }
        let bytes = self.reader.read(now, socket);
        self.cutter.count(now, bytes);
        self.came += bytes;
        self.total += bytes;
        if socket.at_end() {
            self.close(now, socket);
            return;
        }
        let Some(exchange) = script.exchanges.get(self.at) else {
            return;
        };
        if self.came >= exchange.response && self.goes_on.is_none() {
            self.at += 1;
            self.goes_on = Some(now + exchange.think);
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        let all = [self.goes_on, self.reader.deadline(), self.cutter.deadline()];
        all.into_iter().flatten().min().filter(|_| !self.closed)
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.cutter.make(now, socket) {
            self.closed = true;
            return;
        }
        if self.reader.is_due(now) {
            self.read(now, socket);
        }
        if self.goes_on.is_some_and(|at| at <= now) {
            self.goes_on = None;
            self.ask(now, socket);
        }
    }
}

/// The server of a session.
#[derive(Clone, Debug)]
pub struct Host {
    script: Arc<Script>,
    at: usize,
    writing: Writing,
    came: u64,
    answers: Option<Time>,
    /// The response at hand is being written.
    busy: bool,
    reader: Reader,
    cutter: Cutter,
    /// All is said, and it waits before it closes.
    closes: Option<Time>,
    peer_closed: bool,
    closed: bool,
}

impl Host {
    /// A server that follows `script`.
    #[must_use]
    pub fn new(script: Arc<Script>) -> Self {
        Self {
            reader: Reader::new(&script.server.stops),
            cutter: Cutter::new(script.server.cut),
            script,
            at: 0,
            writing: Writing { left: 0 },
            came: 0,
            answers: None,
            busy: false,
            closes: None,
            peer_closed: false,
            closed: false,
        }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        if self.closed {
            return;
        }
        match event {
            Event::Readable => self.read(now, socket),
            Event::PeerClosed => {
                self.peer_closed = true;
                self.read(now, socket);
                self.close_if_idle(now, socket);
            }
            Event::Writable => self.write(now, socket),
            _ => {}
        }
    }

    fn read(&mut self, now: Time, socket: &mut impl Socket) {
        let bytes = self.reader.read(now, socket);
        self.cutter.count(now, bytes);
        self.came += bytes;
        let Some(exchange) = self.script.exchanges.get(self.at) else {
            return;
        };
        if self.came >= exchange.request && !self.busy {
            self.came -= exchange.request;
            self.busy = true;
            self.answers = Some(now + exchange.work);
        }
    }

    fn write(&mut self, now: Time, socket: &mut impl Socket) {
        if !self.busy || self.answers.is_some() || !self.write_on(now, socket) {
            return;
        }
        self.busy = false;
        self.at += 1;
        let last = self.at == self.script.exchanges.len();
        if last && self.script.server_closes {
            match self.script.lingers {
                Duration::ZERO => self.close(now, socket),
                wait => self.closes = Some(now + wait),
            }
            return;
        }
        self.read(now, socket);
        self.close_if_idle(now, socket);
    }

    fn write_on(&mut self, now: Time, socket: &mut impl Socket) -> bool {
        self.writing.go_on(now, socket, &mut self.cutter)
    }

    fn close(&mut self, now: Time, socket: &mut impl Socket) {
        self.closed = true;
        socket.close(now);
    }

    fn close_if_idle(&mut self, now: Time, socket: &mut impl Socket) {
        if self.peer_closed && !self.busy && !self.reader.is_stopped() {
            self.close(now, socket);
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        let all = [
            self.answers,
            self.reader.deadline(),
            self.cutter.deadline(),
            self.closes,
        ];
        all.into_iter().flatten().min().filter(|_| !self.closed)
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.cutter.make(now, socket) {
            self.closed = true;
            return;
        }
        if self.reader.is_due(now) {
            self.read(now, socket);
            self.close_if_idle(now, socket);
        }
        if self.answers.is_some_and(|at| at <= now) {
            self.answers = None;
            let response = self.script.exchanges.get(self.at).map(|e| e.response);
            self.writing.left = response.unwrap_or(0);
            self.write(now, socket);
        }
        if self.closes.is_some_and(|at| at <= now) && !self.closed {
            self.close(now, socket);
        }
    }
}

//! The lab's web transfer: nginx with `sendfile`, `tcp_nopush` and no keep-alive, and the lab's own client.

use std::num::NonZeroU64;

use rexmit_tcp::connection::{Event, Progress, Response, Socket};
use rexmit_time::{Duration, Time};

use super::read_all;

/// How long nginx waits for room in a full send buffer before it closes the connection: `send_timeout`, and the slack of
/// its `epoll_wait` (`select_estimate_accuracy`: a thousandth).
const SEND_TIMEOUT: Duration = Duration::from_millis(60_060);

/// nginx at one connection: reads the request, writes head and file, closes.
#[derive(Clone, Debug)]
pub struct Nginx {
    request_left: u32,
    response: Response,
    done: bool,
    /// When it stops waiting for room.
    gives_up: Option<Time>,
    /// Writing takes time: it writes a page of the file, then the next.
    page_by_page: bool,
    /// When it writes on.
    writes_on: Option<Time>,
}

impl Nginx {
    /// Answers a request of so many bytes with a head and a file of so many.
    #[must_use]
    pub const fn new(request: u32, head: u32, body: u64) -> Self {
        Self {
            request_left: request,
            response: Response::new(head, body),
            done: false,
            gives_up: None,
            page_by_page: false,
            writes_on: None,
        }
    }

    /// The same on a host where work takes time, if so.
    #[must_use]
    pub const fn page_by_page(mut self, so: bool) -> Self {
        self.page_by_page = so;
        self
    }

    /// The same with `tcp_nopush off`.
    #[must_use]
    pub const fn without_nopush(mut self) -> Self {
        self.response = self.response.without_nopush();
        self
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match event {
            Event::Readable if self.request_left > 0 => {
                /// `client_header_buffer_size`.
                const BUFFER: u32 = 1024;
                let bytes = socket.read(now, BUFFER);
                self.request_left = self.request_left.saturating_sub(bytes);
            }
            Event::Writable if !self.done => {}
            _ => return,
        }
        self.go_on(now, socket);
    }

    fn go_on(&mut self, now: Time, socket: &mut impl Socket) {
        if self.request_left == 0 && !self.done {
            let progress = if self.page_by_page {
                self.response.write_page(now, socket)
            } else {
                self.response.write_all(now, socket)
            };
            self.done = progress == Progress::Done;
            self.writes_on = (progress == Progress::Unfinished).then_some(now);
            self.gives_up = (progress == Progress::Blocked).then(|| now + SEND_TIMEOUT);
        }
    }

    pub(super) const fn written(&self) -> u64 {
        self.response.written()
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.writes_on.into_iter().chain(self.gives_up).min()
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.writes_on.is_some_and(|at| at <= now) {
            self.go_on(now, socket);
            return;
        }
        if self.gives_up.is_some_and(|at| at <= now) {
            self.gives_up = None;
            self.done = true;
            socket.close(now);
        }
    }
}

/// What lynx reads at a time (`INPUT_BUFFER_SIZE`).
const READ: u32 = 4096;

/// The lab's own client: writes the request in one piece, reads to the end of the file, closes. Or one that works on what it
/// read before it reads on.
#[derive(Clone, Debug)]
pub struct Browser {
    request: u32,
    /// Bits a second that it works through.
    pace_bps: Option<NonZeroU64>,
    /// Bytes after which it is done, where it does not read to the end of the file.
    awaits: Option<u64>,
    /// It works on what it read.
    busy_until: Option<Time>,
    /// Bytes that came.
    pub received: u64,
    /// When the end of the file was read.
    pub finished: Option<Time>,
    /// The connection broke before that: `Reset` or `TimedOut`.
    pub broke: Option<Event>,
}

impl Browser {
    /// Asks with a request of so many bytes.
    #[must_use]
    pub const fn new(request: u32) -> Self {
        Self {
            request,
            pace_bps: None,
            awaits: None,
            busy_until: None,
            received: 0,
            finished: None,
            broke: None,
        }
    }

    /// As fast as that, in bits a second.
    #[must_use]
    pub const fn with_pace(mut self, bps: Option<NonZeroU64>) -> Self {
        self.pace_bps = bps;
        self
    }

    /// One that is done with so many bytes, whether the file ends there or not.
    #[must_use]
    pub const fn awaiting(mut self, bytes: u64) -> Self {
        self.awaits = Some(bytes);
        self
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match event {
            Event::Established => {
                socket.write(now, self.request, false);
                self.read(now, socket);
            }
            Event::Readable | Event::PeerClosed if self.finished.is_none() => {
                self.read(now, socket);
            }
            Event::Reset | Event::TimedOut => self.broke = Some(event),
            _ => {}
        }
    }

    fn read(&mut self, now: Time, socket: &mut impl Socket) {
        if self.busy_until.is_some() {
            return;
        }
        match self.pace_bps {
            None => self.received += read_all(now, socket),
            Some(bps) => {
                let bytes = socket.read(now, READ);
                if bytes > 0 {
                    self.received += u64::from(bytes);
                    let nanos = u64::from(bytes) * 8_000_000_000 / bps;
                    self.busy_until = Some(now + Duration::from_nanos(nanos as i64));
                    return;
                }
            }
        }
        let has_all = self.awaits.is_some_and(|bytes| self.received >= bytes);
        if has_all || socket.at_end() {
            self.finished = Some(now);
            socket.close(now);
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.busy_until
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.busy_until.is_some_and(|until| until <= now) {
            self.busy_until = None;
            self.read(now, socket);
        }
    }
}

//! The lab's web transfer: nginx with `sendfile`, `tcp_nopush` and no keep-alive, and the lab's own client.

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
        }
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
        if self.request_left == 0 {
            self.done = self.response.run(now, socket) == Progress::Done;
            self.gives_up = (!self.done).then(|| now + SEND_TIMEOUT);
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.gives_up
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.gives_up.is_some_and(|at| at <= now) {
            self.gives_up = None;
            self.done = true;
            socket.close(now);
        }
    }
}

/// The lab's own client: writes the request in one piece, reads to the end of the file, closes.
#[derive(Clone, Debug)]
pub struct Browser {
    request: u32,
    /// Bytes that came.
    pub received: u64,
    /// When the end of the file was read.
    pub finished: Option<Time>,
    /// The connection broke before that.
    pub failed: bool,
}

impl Browser {
    /// Asks with a request of so many bytes.
    #[must_use]
    pub const fn new(request: u32) -> Self {
        Self {
            request,
            received: 0,
            finished: None,
            failed: false,
        }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match event {
            Event::Established => {
                socket.write(now, self.request, false);
            }
            Event::Readable | Event::PeerClosed if self.finished.is_none() => {
                self.received += read_all(now, socket);
                if socket.at_end() {
                    self.finished = Some(now);
                    socket.close(now);
                }
            }
            Event::Reset | Event::TimedOut => self.failed = true,
            _ => {}
        }
    }
}

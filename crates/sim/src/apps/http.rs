//! The lab's web transfer: nginx with `sendfile`, `tcp_nopush` and no keep-alive, and the lab's own client.

use rexmit_tcp::connection::Event;
use rexmit_time::Time;

use super::read_all;
use crate::machine::Socket;

/// What nginx gives `sendfile` at a time (`sendfile_max_chunk`).
const CHUNK: u64 = 2 << 20;

/// nginx at one connection: reads the request, writes head and file, closes.
#[derive(Clone, Debug)]
pub struct Nginx {
    request_left: u32,
    head_left: u32,
    body: u64,
    written: u64,
    state: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Waits,
    Runs,
    Done,
}

impl Nginx {
    /// Answers a request of so many bytes with a head and a file of so many.
    #[must_use]
    pub const fn new(request: u32, head: u32, body: u64) -> Self {
        Self {
            request_left: request,
            head_left: head,
            body,
            written: 0,
            state: Answer::Waits,
        }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match event {
            Event::Readable if self.state == Answer::Waits => {
                /// `client_header_buffer_size`.
                const BUFFER: u32 = 1024;
                let bytes = socket.read(now, BUFFER);
                self.request_left = self.request_left.saturating_sub(bytes);
                if self.request_left == 0 {
                    self.state = Answer::Runs;
                    // `ngx_linux_sendfile_chain` corks before a head with a file behind it, and leaves it so.
                    if self.body > 0 {
                        socket.set_cork(now, true);
                    }
                    self.answer(now, socket);
                }
            }
            Event::Writable if self.state == Answer::Runs => self.answer(now, socket),
            _ => {}
        }
    }

    fn answer(&mut self, now: Time, socket: &mut impl Socket) {
        if self.head_left > 0 {
            self.head_left -= socket.write(now, self.head_left, false);
            if self.head_left > 0 {
                return;
            }
        }
        while self.written < self.body {
            let chunk = (self.body - self.written).min(CHUNK) as u32;
            match socket.send_file(now, self.written, chunk) {
                0 => return,
                taken => self.written += u64::from(taken),
            }
        }
        self.state = Answer::Done;
        socket.close(now);
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

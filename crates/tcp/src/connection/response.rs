//! How nginx writes a response with `sendfile on; tcp_nopush on`.

use rexmit_time::Time;

use super::Connection;

/// How far a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The send buffer is full: call [`Response::run`] again at [`Event::Writable`](super::Event::Writable).
    Blocked,
    /// All is written and the socket closed.
    Done,
}

/// A response on its way into the send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    head_left: u32,
    body: u64,
    written: u64,
}

impl Response {
    /// A response with a head of `head` bytes and a file of `body` bytes.
    #[must_use]
    pub const fn new(head: u32, body: u64) -> Self {
        Response {
            head_left: head,
            body,
            written: 0,
        }
    }

    /// Writes what the send buffer takes.
    pub fn run(&mut self, now: Time, connection: &mut Connection) -> Progress {
        self.head_left -= connection
            .write(now, self.head_left, true)
            .min(self.head_left);
        let left = u32::try_from(self.body - self.written).unwrap_or(u32::MAX);
        self.written += u64::from(connection.send_file(now, self.written, left));
        if self.head_left > 0 || self.written < self.body {
            return Progress::Blocked;
        }
        connection.close(now);
        Progress::Done
    }
}

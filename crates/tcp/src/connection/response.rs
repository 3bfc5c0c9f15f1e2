//! How nginx writes a response with `sendfile on; tcp_nopush on`.
//!
//! Read in nginx 1.22 (`ngx_linux_sendfile_chain`): head and file come in one chain. TCP_CORK is set, the head written by
//! `writev`, the file by `sendfile`, at most 2 MiB at a time (`sendfile_max_chunk`). When `sendfile` takes less than that,
//! it is called again until it takes nothing (EAGAIN); the rest follows when the socket is writable. Then the socket is
//! closed with the cork still on: its FIN rides on the last segment if that has not left, which a partly filled one
//! cannot have.

use rexmit_time::Time;

use super::Socket;

/// `sendfile_max_chunk`
const CHUNK: u64 = 2 << 20;

/// What `sendfile` hands to TCP at a time (`sendpage`).
const PAGE: u64 = 4096;

/// How far a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to write.
    Unfinished,
    /// The send buffer is full: go on at [`Event::Writable`](super::Event::Writable).
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
    /// The cork is set, or never will be.
    corked: bool,
}

impl Response {
    /// A response with a head of `head` bytes and a file of `body` bytes.
    #[must_use]
    pub const fn new(head: u32, body: u64) -> Self {
        Response {
            head_left: head,
            body,
            written: 0,
            corked: false,
        }
    }

    /// The same with `tcp_nopush off`, nginx's own default: the head leaves by itself.
    #[must_use]
    pub const fn without_nopush(mut self) -> Self {
        self.corked = true;
        self
    }

    /// Bytes of the file that the send buffer took.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Writes what the send buffer takes.
    pub fn write_all(&mut self, now: Time, socket: &mut impl Socket) -> Progress {
        loop {
            match self.write_some(now, socket, CHUNK) {
                Progress::Unfinished => {}
                progress => return progress,
            }
        }
    }

    /// Writes the rest of the head and a page of the file.
    pub fn write_page(&mut self, now: Time, socket: &mut impl Socket) -> Progress {
        self.write_some(now, socket, PAGE - self.written % PAGE)
    }

    fn write_some(&mut self, now: Time, socket: &mut impl Socket, most: u64) -> Progress {
        if !self.corked && self.body > 0 {
            socket.set_cork(now, true);
            self.corked = true;
        }
        if self.head_left > 0 {
            self.head_left -= socket.write(now, self.head_left, false);
            if self.head_left > 0 {
                return Progress::Blocked;
            }
        }
        if self.written < self.body {
            let chunk = (self.body - self.written).min(most) as u32;
            let taken = socket.send_file(now, self.written, chunk);
            if taken == 0 {
                return Progress::Blocked;
            }
            self.written += u64::from(taken);
            if self.written < self.body {
                return Progress::Unfinished;
            }
        }
        socket.close(now);
        Progress::Done
    }
}

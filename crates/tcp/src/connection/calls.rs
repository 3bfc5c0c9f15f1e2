//! The application's calls: writing, reading, closing.

use rexmit_time::Time;
use rexmit_wire::Flags;

use super::{Connection, Sent, Socket, State};
use crate::sender::Origin;
use crate::settings::WindowShare;

/// Pages that `sendfile` moves at a time: those of a pipe (`PIPE_DEF_BUFFERS`).
const PIPE_BYTES: u64 = 16 * PAGE_BYTES;
const PAGE_BYTES: u64 = 4096;

impl Socket for Connection {
    /// Writes `bytes` as `write`, `writev` or `send` do (from user memory), without blocking. `more`: MSG_MORE. Returns
    /// what was taken; less than `bytes` when the send buffer is full, and then [`Event::Writable`](super::Event::Writable) follows later.
    fn write(&mut self, now: Time, bytes: u32, more: bool) -> u32 {
        let sender = self.sender.get();
        if let Some(idle) = sender.filter(|sender| sender.buffered() == 0) {
            // As long as nothing else holds a page it is filled again from its beginning (skb_page_frag_refill).
            self.pages.begin(idle.flight().nxt());
        }
        self.write_some(now, bytes, more, Origin::Memory)
    }

    /// Writes up to `bytes` of a file from its byte `offset` on as `sendfile` does, without blocking.
    ///
    /// `sendfile` fills a pipe of 16 pages and empties it into the socket, time and again (`splice_direct_to_actor`). All
    /// fillings but the last are written with MSG_MORE. Within one, pages are written one by one without a push between
    /// them (6.1: MSG_SENDPAGE_NOTLAST) or all at once (6.12: MSG_SPLICE_PAGES); both fill segments across the pages'
    /// edges, so that all leave full but the stream's last.
    fn send_file(&mut self, now: Time, offset: u64, bytes: u32) -> u32 {
        self.pages.leave();
        let mut taken = 0;
        while taken < bytes {
            let left = bytes - taken;
            let in_page = (offset + u64::from(taken)) % PAGE_BYTES;
            let filling = u64::from(left).min(PIPE_BYTES - in_page) as u32;
            let written = self.write_some(now, filling, filling < left, Origin::File);
            taken += written;
            if written < filling {
                // Before 6.5 what is in a full buffer is pushed even if nothing was added to it (do_tcp_sendpages), but not where
                // it is copied (sock_no_sendpage).
                let segments = &self.settings.segments;
                let one_by_one = segments.scatter_gather
                    && self.settings.receiver.window_share != WindowShare::ScalingRatio;
                let sender = self.sender.get_mut();
                if let Some(sender) = sender.filter(|_| written == 0 && one_by_one) {
                    sender.writer(now).push_all();
                    self.pump(now);
                }
                break;
            }
        }
        taken
    }

    /// Takes up to `most` bytes in order, as one `recv` does. A reader that blocks when nothing is there calls this once
    /// more and gets 0: that call may still send an acknowledgement (`tcp_cleanup_rbuf`). 0 is also the end of the stream,
    /// see [`Self::at_end`].
    fn read(&mut self, now: Time, most: u32) -> u32 {
        let (taken, header) = self.receiver.read(now, most);
        if let Some(header) = header.filter(|_| self.sender.get().is_some()) {
            self.send_ack(now, header);
        }
        taken
    }

    /// Whether nothing more will be read: the peer has closed and all it sent was read, or the connection is gone.
    fn at_end(&self) -> bool {
        (self.receiver.has_fin() || self.state == State::Closed) && self.readable() == 0
    }

    /// Sets TCP_CORK; taking it off sends what waits.
    fn set_cork(&mut self, now: Time, on: bool) {
        if let Some(sender) = self.sender.get_mut() {
            sender.writer(now).set_cork(on);
            self.pump(now);
        }
    }

    /// Closes the socket. With unread data the connection is reset, else a FIN follows what was written (RFC 2525 §2.17).
    fn close(&mut self, now: Time) {
        if self.orphan || self.state == State::Closed {
            return;
        }
        self.orphan = true;
        match self.state {
            State::SynSent | State::SynReceived => {
                self.end(None);
            }
            _ if self.readable() > 0 => self.reset(now),
            _ => {
                self.shutdown(now);
                if let Some(sender) = self.sender.get_mut() {
                    sender.orphan();
                }
                if self.state == State::FinWait2 {
                    self.linger(now);
                }
            }
        }
    }

    /// Closes the socket with a reset, whatever waits (SO_LINGER with no time; `tcp_disconnect`).
    fn abort(&mut self, now: Time) {
        let over = matches!(self.state, State::Closed | State::TimeWait);
        if self.orphan || over {
            return;
        }
        self.orphan = true;
        match self.state {
            State::SynSent | State::SynReceived => self.end(None),
            _ => self.reset(now),
        }
    }
}

impl Connection {
    fn write_some(&mut self, now: Time, bytes: u32, more: bool, origin: Origin) -> u32 {
        let Some(sender) = self.sender.get_mut().filter(|_| self.state.can_write()) else {
            return 0;
        };
        let taken = sender
            .writer(now)
            .write_within(bytes, more, origin, self.buffer.limit());
        if taken < bytes {
            self.buffer.wait();
            sender.set_writer_waits(true);
        }
        self.pump(now);
        taken
    }

    /// Whether a reader waits who takes in data himself (`tcp_prequeue`).
    #[must_use]
    pub fn reader_waits(&self) -> bool {
        self.receiver.reader_waits()
    }

    /// He takes in one more segment before he returns to his program.
    pub fn reader_stays(&mut self) {
        self.receiver.reader_stays();
    }

    /// Bytes in order that can be read.
    #[must_use]
    pub fn readable(&self) -> u32 {
        self.receiver.readable()
    }

    /// Sets TCP_NODELAY; setting it sends what waits.
    pub fn set_nodelay(&mut self, now: Time, on: bool) {
        if let Some(sender) = self.sender.get_mut() {
            sender.writer(now).set_nodelay(on);
            self.pump(now);
        }
    }

    /// Sends a FIN behind what was written; reading goes on.
    pub fn shutdown(&mut self, now: Time) {
        let Some(sender) = self.sender.get_mut() else {
            return;
        };
        if let Some(state) = self.state.after_our_fin() {
            self.state = state;
            sender.writer(now).close();
            self.pump(now);
        }
    }

    fn reset(&mut self, now: Time) {
        let header = self.receiver.header();
        let mut segment = self.segment(now, &header, Flags(Flags::RST.0 | Flags::ACK.0));
        segment.timestamps = segment.timestamps.filter(|_| self.timestamps);
        self.outbox.push(Sent::plain(segment));
        self.end(None);
    }
}

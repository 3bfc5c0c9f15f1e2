//! A TCP connection: the handshake, the two directions of data, the close.
//!
//! Four families of methods. *In*: [`Connection::on_segment`], [`Connection::left_host`], [`Connection::on_deadline`].
//! *The application's calls*: [`Connection::write`], [`Connection::read`], [`Connection::close`] and their like.
//! *Out*: [`Connection::poll_transmit`] and [`Connection::poll_event`], to be called after every call of the first two
//! families until each gives `None`. *Looks*: the rest.
//!
//! `now` never goes back from one call to the next.

mod response;
mod types;

use std::sync::Arc;

use rexmit_time::Time;

use crate::clock::Clock;
use crate::segment::Segment;
use crate::settings::Settings;

pub use response::{Progress, Response};
pub use types::{Event, Local, Sent, State};

/// One end of a TCP connection.
#[derive(Debug)]
pub struct Connection {
    state: State,
}

impl Connection {
    /// Opens a connection: the SYN is the first segment that [`Self::poll_transmit`] gives.
    #[must_use]
    pub fn connect(_settings: Arc<Settings>, _clock: Clock, _local: &Local, _now: Time) -> Self {
        Connection {
            state: State::SynSent,
        }
    }

    /// What a listener makes of the SYN `syn`: the SYN-ACK is the first segment that [`Self::poll_transmit`] gives.
    #[must_use]
    pub fn accept(
        _settings: Arc<Settings>,
        _clock: Clock,
        _local: &Local,
        _syn: &Segment,
        _now: Time,
    ) -> Self {
        Connection {
            state: State::SynReceived,
        }
    }

    /// Takes in a segment from the peer.
    pub fn on_segment(&mut self, _now: Time, _segment: &Segment) {}

    /// When [`Self::on_deadline`] is due; it changes with any call.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        None
    }

    /// Runs the timers that are due at `now`; calling it too early does no harm.
    pub fn on_deadline(&mut self, _now: Time) {}

    /// A packet left the host for which [`Sent::in_host_bytes`] was given.
    pub fn left_host(&mut self, _now: Time, _bytes: u32) {}

    /// The next segment to send, in the order in which they leave.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Sent> {
        None
    }

    /// The next thing that happened. An event that was not taken yet is not told twice.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// Writes `bytes` as `write`, `writev` or `send` do (from user memory), without blocking. `more`: MSG_MORE. Returns
    /// what was taken; less than `bytes` when the send buffer is full, and then [`Event::Writable`] follows later.
    pub fn write(&mut self, _now: Time, _bytes: u32, _more: bool) -> u32 {
        0
    }

    /// Writes up to `bytes` of a file from its page `offset` on as `sendfile` does, without blocking.
    pub fn send_file(&mut self, _now: Time, _offset: u64, _bytes: u32) -> u32 {
        0
    }

    /// Takes up to `most` bytes in order, as one `recv` does. A reader that blocks when nothing is there calls this once
    /// more and gets 0: that call may still send an acknowledgement (`tcp_cleanup_rbuf`). 0 is also the end of the stream,
    /// see [`Self::at_end`].
    pub fn read(&mut self, _now: Time, _most: u32) -> u32 {
        0
    }

    /// Bytes in order that can be read.
    #[must_use]
    pub fn readable(&self) -> u32 {
        0
    }

    /// Whether the peer has closed and all it sent was read.
    #[must_use]
    pub fn at_end(&self) -> bool {
        false
    }

    /// Sets TCP_CORK; taking it off sends what waits.
    pub fn set_cork(&mut self, _now: Time, _on: bool) {}

    /// Sets TCP_NODELAY; setting it sends what waits.
    pub fn set_nodelay(&mut self, _now: Time, _on: bool) {}

    /// Sends a FIN behind what was written; reading goes on.
    pub fn shutdown(&mut self, _now: Time) {}

    /// Closes the socket. With unread data the connection is reset, else a FIN follows what was written (RFC 2525 §2.17).
    pub fn close(&mut self, _now: Time) {}

    /// The state of RFC 9293 §3.3.2.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }
}

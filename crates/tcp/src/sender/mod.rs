//! The sending half of a connection: what is in flight, what was lost, when it is sent again.

mod types;

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::clock::Clock;
use crate::settings::Settings;

pub use types::{Ack, Counters, Peer, State, Transmit};

/// A sender.
#[derive(Clone, Debug)]
pub struct Sender {
    una: SeqNum,
}

impl Sender {
    /// A sender of segments of at most `mss` payload bytes whose SYN has the number `iss`.
    #[must_use]
    pub fn new(
        _settings: Arc<Settings>,
        _clock: Clock,
        _mss: u32,
        iss: SeqNum,
        _now: Time,
    ) -> Self {
        Sender { una: iss + 1 }
    }

    /// The handshake is over; `rtt` is its round-trip time if it gave one.
    pub fn established(&mut self, _now: Time, _rtt: Option<Duration>, _peer: &Peer) {}

    /// Appends `bytes` to the stream and sends what may be sent. `more`: MSG_MORE.
    pub fn write(&mut self, _now: Time, _bytes: u32, _more: bool) {}

    /// As [`Sender::write`], as far as a send buffer of `limit` bytes has room for it; returns what was taken. When it is
    /// full, what was taken is pushed out without waiting for more (`tcp_sendmsg_locked`, its `wait_for_space`).
    pub fn write_within(&mut self, _now: Time, bytes: u32, _more: bool, _limit: u32) -> u32 {
        bytes
    }

    /// Bytes of the send buffer in use, overhead counted (`sk_wmem_queued`).
    #[must_use]
    pub fn buffered(&self) -> u32 {
        0
    }

    /// Whether a writer waits for room in the send buffer (`SOCK_NOSPACE`).
    pub fn set_writer_waits(&mut self, _waits: bool) {}

    /// Sets TCP_CORK; taking it off sends what waits.
    pub fn set_cork(&mut self, _now: Time, _on: bool) {}

    /// Sets TCP_NODELAY; setting it sends what waits.
    pub fn set_nodelay(&mut self, _now: Time, _on: bool) {}

    /// Ends the stream: a FIN on the last unsent segment, else alone.
    pub fn close(&mut self, _now: Time) {}

    /// The socket has no owner any more (`SOCK_DEAD`): it is given up sooner.
    pub fn orphan(&mut self) {}

    /// Takes in what a segment acknowledges, and sends what that allows (`tcp_ack`, `tcp_data_snd_check`).
    pub fn on_ack(&mut self, _now: Time, _ack: &Ack<'_>) {}

    /// A packet of ours that counted `bytes` left the host; packets leave in the order in which they were given out.
    pub fn left_host(&mut self, _now: Time, _bytes: u32) {}

    /// When [`Sender::on_deadline`] is due; it changes with any call.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        None
    }

    /// Runs the timer if it is due at `now`.
    pub fn on_deadline(&mut self, _now: Time) {}

    /// The next packet to send, in the order in which they leave.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Transmit> {
        None
    }

    /// The clock of the timestamps option at `now`, without the connection's offset.
    #[must_use]
    pub fn timestamp(&self, _now: Time) -> u32 {
        0
    }

    /// Retransmissions went unanswered too often: the connection is to be given up.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        false
    }

    /// The first byte not acknowledged (`snd_una`).
    #[must_use]
    pub fn una(&self) -> SeqNum {
        self.una
    }

    /// The first byte not sent (`snd_nxt`).
    #[must_use]
    pub fn nxt(&self) -> SeqNum {
        self.una
    }

    /// Whether all that was written, a FIN also, is acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        true
    }

    /// The timeout in ticks as the timer was last armed with it, back-off included (`icsk_rto`).
    #[must_use]
    pub fn rto_ticks(&self) -> i64 {
        0
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        None
    }
}

//! What a connection is made with and what it gives out.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use crate::segment::{Segment, Timestamps};
use crate::sender::Metrics;
use crate::words::Mechanism;

/// What makes a connection a subflow of Multipath TCP: bytes of options that its segments carry besides TCP's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowOptions {
    /// On a segment with data.
    pub data: u32,
    /// On an acknowledgement.
    pub ack: u32,
    /// The first round-trip time is what the peer echoes, not what the clock says: upstream's of an MP_JOIN that came
    /// (`tcp_check_req` leaves before `tcp_synack_rtt_meas` where `rsk_drop_req` holds).
    pub echoed_rtt: bool,
}

/// What a listener does that defers accepting until data come (`TCP_DEFER_ACCEPT`): it drops the bare acknowledgement
/// that would end the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferAccept {
    /// Until so many timeouts of the SYN-ACK have passed (`rskq_defer_accept`).
    pub timeouts: u32,
    /// The SYN-ACK is repeated at every timeout, though the peer has answered, and a peer that stays silent is forgotten
    /// in the end: Linux before 2.6.32. Later ones repeat it at the last of these timeouts alone, and take the answer.
    pub repeats: bool,
}

/// What an end brings into a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Initial sequence number: the SYN's.
    pub iss: SeqNum,
    /// Added to the clock in the timestamps option.
    pub timestamp_offset: u32,
    /// The interface's MTU, bytes.
    pub mtu: u32,
    /// Bytes of an IP header: 20 or 40.
    pub ip_header: u32,
    /// Bound of the offered window, bytes (RTAX_WINDOW of the route).
    pub window_clamp: Option<u32>,
    /// What the host remembers of the peer.
    pub metrics: Metrics,
    /// How far a look at the host's clock moves it on; zero of a clock that runs by itself.
    pub look: Duration,
    /// The listener defers accepting.
    pub defer_accept: Option<DeferAccept>,
    /// The connection is a subflow ([`crate::multipath`]).
    pub subflow: Option<SubflowOptions>,
}

impl Local {
    /// Of a host on Ethernet, over IPv4, that remembers nothing; timestamps are its clock, which runs by itself.
    #[must_use]
    pub fn ethernet(iss: SeqNum) -> Self {
        Self {
            iss,
            timestamp_offset: 0,
            mtu: 1500,
            ip_header: 20,
            window_clamp: None,
            metrics: Metrics::default(),
            look: Duration::ZERO,
            defer_accept: None,
            subflow: None,
        }
    }

    /// The timestamps option of a packet that leaves: the clock stands at `stamp`, the offset not counted.
    pub(super) fn timestamps(&self, stamp: u32, echo: u32) -> Timestamps {
        Timestamps {
            value: stamp.wrapping_add(self.timestamp_offset),
            echo,
        }
    }

    /// What a segment echoes of that clock.
    pub(super) fn echoed(&self, segment: &Segment) -> Option<u32> {
        let echo = segment.timestamps?.echo;
        (echo != 0).then(|| echo.wrapping_sub(self.timestamp_offset))
    }

    /// The segment size that the interface allows: what the mss option announces.
    pub(super) fn mss(&self) -> u32 {
        self.mtu
            .saturating_sub(self.ip_header + 20)
            .clamp(88, 65535)
    }
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The segment.
    pub segment: Segment,
    /// What made the sender send the bytes again; none for a first transmission.
    pub mechanism: Option<Mechanism>,
    /// A tail loss probe, of new data perhaps.
    pub probe: bool,
    /// What the packet counts against the sender's limit while it is in the host: to be given back by
    /// [`Connection::left_host`](super::Connection::left_host). Zero for packets that do not count.
    pub in_host_bytes: u32,
}

impl Sent {
    /// A segment that counts for nothing: no data, or a handshake's.
    pub(super) fn plain(segment: Segment) -> Self {
        Sent {
            segment,
            mechanism: None,
            probe: false,
            in_host_bytes: 0,
        }
    }
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done.
    Established,
    /// Data came in order.
    Readable,
    /// The send buffer has room again.
    Writable,
    /// The peer's FIN came in order.
    PeerClosed,
    /// The peer reset the connection, or refused it.
    Reset,
    /// Retransmissions went unanswered too often.
    TimedOut,
    /// Both directions are closed and acknowledged; TIME_WAIT may go on for a while.
    Closed,
}

impl Event {
    /// In the order in which they are told.
    const ALL: [Event; 7] = [
        Event::Established,
        Event::Readable,
        Event::Writable,
        Event::PeerClosed,
        Event::Reset,
        Event::TimedOut,
        Event::Closed,
    ];
}

/// Events that were not told yet, each at most once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Events(u8);

impl Events {
    pub fn push(&mut self, event: Event) {
        self.0 |= 1 << event as u8;
    }

    pub fn pop(&mut self) -> Option<Event> {
        let event = *Event::ALL.get(self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(event)
    }
}

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Open.
    Established,
    /// FIN sent.
    FinWait1,
    /// FIN sent and acknowledged.
    FinWait2,
    /// FIN received.
    CloseWait,
    /// FINs crossed, ours not acknowledged.
    Closing,
    /// FIN received, then sent.
    LastAck,
    /// Both sides closed, waiting for stray segments.
    TimeWait,
    /// No connection.
    Closed,
}

impl State {
    /// The state after our FIN was queued, where one is to be (`new_state`).
    pub(super) fn after_our_fin(self) -> Option<State> {
        match self {
            State::Established | State::SynReceived => Some(State::FinWait1),
            State::CloseWait => Some(State::LastAck),
            _ => None,
        }
    }

    /// The state after our FIN was acknowledged.
    pub(super) fn after_our_fin_was_acked(self) -> State {
        match self {
            State::FinWait1 => State::FinWait2,
            State::Closing => State::TimeWait,
            State::LastAck => State::Closed,
            other => other,
        }
    }

    /// The state after the peer's FIN came in order (`tcp_fin`).
    pub(super) fn after_their_fin(self) -> State {
        match self {
            State::SynReceived | State::Established => State::CloseWait,
            State::FinWait1 => State::Closing,
            State::FinWait2 => State::TimeWait,
            other => other,
        }
    }

    /// Whether the application may write.
    pub(super) fn can_write(self) -> bool {
        matches!(self, State::Established | State::CloseWait)
    }
}

//! Who an instant of a connection belongs to.

use rexmit_tcp::Mechanism;

use crate::event::Direction;

/// What a direction of a connection waited for at an instant; docs/explanation/time.md defines each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The handshake, lost SYNs counted.
    Connecting,
    /// The client's program, before or within what it sends.
    Client,
    /// The client's program, between a response and its next request.
    BetweenRequests,
    /// The server's program.
    Server,
    /// The programs at both ends, while they set up TLS.
    TlsSetUp,
    /// The client's last request, which nothing answered before the connection or the capture ended.
    Unanswered,
    /// A packet and its answer on their way, and nothing more to be sent meanwhile.
    RoundTrip,
    /// The receiver's window was full or closed.
    ReceiverWindow,
    /// The sender held a small segment back until its last one was acknowledged (RFC 1122 §4.2.3.4).
    Nagle,
    /// The sender's program, its buffer, or its pacing: the packets do not tell which.
    Sender,
    /// The congestion window, while it grew for the first time or after a timeout.
    SlowStart,
    /// The congestion window, which losses had made small.
    SmallWindow,
    /// The path took no more: packets queued on it.
    PathRate,
    /// A token bucket on the path, which drops what is sent faster than it fills.
    Policer,
    /// A loss, until a timeout repaired it.
    RecoveryTimer,
    /// A loss, until a probe showed it.
    RecoveryProbe,
    /// A loss, until acknowledgements showed it and all that was sent before had arrived.
    RecoveryFast,
    /// Packets that are larger than the path takes.
    PathMtu,
    /// The peer did not answer any more.
    PeerGone,
    /// After the last byte.
    Closing,
    /// The packets do not tell.
    Unknown,
}

impl Owner {
    /// All, in the order in which tables have them.
    pub const ALL: [Owner; 21] = [
        Owner::Connecting,
        Owner::Client,
        Owner::BetweenRequests,
        Owner::Server,
        Owner::TlsSetUp,
        Owner::Unanswered,
        Owner::RoundTrip,
        Owner::ReceiverWindow,
        Owner::Nagle,
        Owner::Sender,
        Owner::SlowStart,
        Owner::SmallWindow,
        Owner::PathRate,
        Owner::Policer,
        Owner::RecoveryTimer,
        Owner::RecoveryProbe,
        Owner::RecoveryFast,
        Owner::PathMtu,
        Owner::PeerGone,
        Owner::Closing,
        Owner::Unknown,
    ];

    /// The word as it stands in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Owner::Connecting => "connecting",
            Owner::Client => "client",
            Owner::BetweenRequests => "between-requests",
            Owner::Server => "server",
            Owner::TlsSetUp => "tls-set-up",
            Owner::Unanswered => "unanswered",
            Owner::RoundTrip => "round-trip",
            Owner::ReceiverWindow => "receiver-window",
            Owner::Nagle => "nagle",
            Owner::Sender => "sender",
            Owner::SlowStart => "slow-start",
            Owner::SmallWindow => "small-window",
            Owner::PathRate => "path-rate",
            Owner::Policer => "policer",
            Owner::RecoveryTimer => "recovery-timer",
            Owner::RecoveryProbe => "recovery-probe",
            Owner::RecoveryFast => "recovery-fast",
            Owner::PathMtu => "path-mtu",
            Owner::PeerGone => "peer-gone",
            Owner::Closing => "closing",
            Owner::Unknown => "unknown",
        }
    }

    /// The program at the end that sends in this direction.
    pub(super) const fn program(of: Direction) -> Self {
        match of {
            Direction::Forward => Owner::Client,
            Direction::Backward => Owner::Server,
        }
    }

    /// What a wait for a retransmission is called; none of one whose mechanism is not known.
    pub(super) const fn of_mechanism(mechanism: Mechanism) -> Option<Self> {
        match mechanism {
            Mechanism::Rto | Mechanism::RtoRecovery => Some(Owner::RecoveryTimer),
            Mechanism::Tlp => Some(Owner::RecoveryProbe),
            Mechanism::FastRetransmit
            | Mechanism::SackRecovery
            | Mechanism::Fack
            | Mechanism::EarlyRetransmit
            | Mechanism::Rack => Some(Owner::RecoveryFast),
            Mechanism::MptcpReinject | Mechanism::Unknown => None,
        }
    }

    /// It is told by silence: nobody sent.
    pub(super) const fn is_program(self) -> bool {
        matches!(
            self,
            Owner::Client
                | Owner::BetweenRequests
                | Owner::Server
                | Owner::TlsSetUp
                | Owner::Unanswered
                | Owner::Sender
        )
    }

    /// It is the repair of a loss.
    pub(super) const fn is_recovery(self) -> bool {
        matches!(
            self,
            Owner::RecoveryTimer | Owner::RecoveryProbe | Owner::RecoveryFast
        )
    }
}

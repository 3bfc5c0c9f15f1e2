//! Who an instant of a connection belongs to.

use rexmit_tcp::{words, Mechanism};

use crate::event::Direction;

words! {
    /// What a direction of a connection waited for at an instant; docs/explanation/time.md defines each.
    pub enum Owner ("owner of time") {
        /// The handshake, lost SYNs counted.
        Connecting = "connecting",
        /// The client's program, before or within what it sends.
        Client = "client",
        /// The client's program, between a response and its next request.
        BetweenRequests = "between-requests",
        /// What a program sends at its own pace, unasked: nobody is known to wait for it.
        Messages = "messages",
        /// The server's program.
        Server = "server",
        /// The programs at both ends, while they set up TLS.
        TlsSetUp = "tls-set-up",
        /// The client's last request, which nothing answered before the connection or the capture ended.
        Unanswered = "unanswered",
        /// A packet and its answer on their way, and nothing more to be sent meanwhile.
        RoundTrip = "round-trip",
        /// The receiver's window was full or closed.
        ReceiverWindow = "receiver-window",
        /// The sender held a small segment back until its last one was acknowledged (RFC 1122 §4.2.3.4).
        Nagle = "nagle",
        /// The sender's program, its buffer, or its pacing: the packets do not tell which.
        Sender = "sender",
        /// The sender's program, or a loss of what it had sent that did not come by.
        LateOrLost = "late-or-lost",
        /// The congestion window, while it grew for the first time or after a timeout.
        SlowStart = "slow-start",
        /// The congestion window, which losses had made small, or which does not grow while packets arrive out of order.
        SmallWindow = "small-window",
        /// The path took no more: packets queued on it.
        PathRate = "path-rate",
        /// A token bucket on the path, which drops what is sent faster than it fills.
        Policer = "policer",
        /// A loss, until a timeout repaired it.
        RecoveryTimer = "recovery-timer",
        /// A loss, until a probe showed it.
        RecoveryProbe = "recovery-probe",
        /// A loss, until acknowledgements showed it and all that was sent before had arrived.
        RecoveryFast = "recovery-fast",
        /// Packets that are larger than the path takes.
        PathMtu = "path-mtu",
        /// The peer did not answer any more.
        PeerGone = "peer-gone",
        /// After the last byte.
        Closing = "closing",
        /// The packets do not tell.
        Unknown = "unknown",
    }
}

impl Owner {
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
        self.is_turn() && !matches!(self, Owner::Closing) || matches!(self, Owner::Sender)
    }

    /// It is a program's silence, which ends when it sends.
    pub(super) const fn is_silence(self) -> bool {
        matches!(
            self,
            Owner::Client | Owner::BetweenRequests | Owner::Messages | Owner::Server
        )
    }

    /// It follows what ends a turn.
    pub(super) const fn is_turn(self) -> bool {
        matches!(
            self,
            Owner::Client
                | Owner::BetweenRequests
                | Owner::Messages
                | Owner::Server
                | Owner::TlsSetUp
                | Owner::Unanswered
                | Owner::Closing
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

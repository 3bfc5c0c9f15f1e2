//! Necessary evidence: what must be in the packets before a mechanism may be named.
//!
//! The emulations (`crate::emulate`) say how *likely* each mechanism is. They may err: a monitor misses packets, a host has a
//! stack that none of them is. So what they say is held against a [table](table::TABLE) of what each mechanism cannot do without.
//! Where that is not in the packets, the mechanism is not named, however likely it seemed; the row says what is [missing](Missing).
//! Where it is, the row says which packet shows it.
//!
//! All of it is judged by what the sender had heard when it sent, in the sender's order. A monitor away from the sender sees
//! every acknowledgement that comes to the sender, and sees it first, so it cannot see too few; it may see some that were lost
//! on the rest of the way. Times are another matter: without stamps of the sender they are times of arrival there, from which
//! no timer is told, and nothing is refuted by them.

mod table;
mod witness;

use rexmit_tcp::Mechanism;
use rexmit_time::Time;

pub use table::{Necessary, TABLE};
pub use witness::{Packet, Timed, Witness};

/// What in the packets shows that a mechanism can have made a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// As many duplicate acknowledgements as the threshold, or segments SACKed.
    DuplicateAcks,
    /// An acknowledgement of a part, in a recovery that duplicates began (RFC 6582).
    PartialAck,
    /// A SACK block above it.
    SackAbove,
    /// Nothing above it: the rescue of a recovery's last hole (RFC 6675 §4, `NextSeg` rule 4).
    Rescue,
    /// Something sent later had been acknowledged.
    LaterDelivered,
    /// A timer's time without an acknowledgement.
    Silence,
    /// A timeout before it, and it had been sent by then.
    TimeoutBefore,
    /// The same data on another subflow.
    OtherSubflow,
}

impl Basis {
    /// The word as it stands in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Basis::DuplicateAcks => "duplicate-acks",
            Basis::PartialAck => "partial-ack",
            Basis::SackAbove => "sack-above",
            Basis::Rescue => "rescue",
            Basis::LaterDelivered => "later-delivered",
            Basis::Silence => "silence",
            Basis::TimeoutBefore => "timeout-before",
            Basis::OtherSubflow => "other-subflow",
        }
    }
}

/// What would have to be in the packets for the likeliest mechanism, and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// As many duplicate acknowledgements, or segments SACKed, as a threshold.
    DuplicateAcks,
    /// A SACK block above it.
    SackAbove,
    /// SACK itself: it was not agreed upon.
    Sack,
    /// An acknowledgement of something sent later.
    LaterDelivered,
    /// Less than four segments outstanding.
    FewOut,
    /// It is not the last that had been sent.
    Tail,
    /// An acknowledgement since the tail was probed before.
    AckSinceProbe,
    /// Time: no timer runs out so soon.
    Time,
    /// A second timer as short as this one.
    ShortTimerTwice,
    /// A timer that long.
    LongTimer,
    /// Acknowledgements had reached the threshold: they made it, no timer.
    NoAcks,
    /// A timeout before it.
    TimeoutBefore,
    /// The same data on another subflow.
    OtherSubflow,
    /// A stack here that would do so.
    Stack,
    /// Any explanation that is as likely as not.
    Likelihood,
}

impl Missing {
    /// The word as it stands in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Missing::DuplicateAcks => "duplicate-acks",
            Missing::SackAbove => "sack-above",
            Missing::Sack => "sack",
            Missing::LaterDelivered => "later-delivered",
            Missing::FewOut => "few-out",
            Missing::Tail => "tail",
            Missing::AckSinceProbe => "ack-since-probe",
            Missing::Time => "time",
            Missing::ShortTimerTwice => "short-timer-twice",
            Missing::LongTimer => "long-timer",
            Missing::NoAcks => "no-acks",
            Missing::TimeoutBefore => "timeout-before",
            Missing::OtherSubflow => "other-subflow",
            Missing::Stack => "stack",
            Missing::Likelihood => "likelihood",
        }
    }
}

crate::parts::exact_enum!(Missing {
    DuplicateAcks,
    SackAbove,
    Sack,
    LaterDelivered,
    FewOut,
    Tail,
    AckSinceProbe,
    Time,
    ShortTimerTwice,
    LongTimer,
    NoAcks,
    TimeoutBefore,
    OtherSubflow,
    Stack,
    Likelihood,
});

/// What shows that a mechanism can have made it, and when the packet that does came by: none where it is the time that passed
/// without one.
pub type Shown = (Basis, Option<Time>);

/// What shows that `mechanism` can have made a retransmission of which `witness` tells.
///
/// # Errors
/// What is missing.
pub fn look(mechanism: Mechanism, witness: &Witness) -> Result<Shown, Missing> {
    let necessary = TABLE.iter().find(|row| row.mechanism == mechanism);
    necessary.map_or(Err(Missing::Stack), |row| (row.look)(witness))
}

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

mod short;
mod table;
#[cfg(test)]
mod tests;
mod witness;

use rexmit_tcp::{words, Mechanism};
use rexmit_time::Time;

pub use short::ShortTimers;
pub(crate) use table::LEAST_THRESHOLD;
pub use table::{Necessary, Prompted, PROMPTED, TABLE};
pub use witness::{SegmentKind, Timed, Witness};

words! {
    /// What in the packets shows that a mechanism can have made a retransmission.
    pub enum Basis ("basis") {
        DuplicateAcks = "duplicate-acks": "as many duplicate ACKs as the threshold, or SACKed segments",
        PartialAck = "partial-ack": "an ACK of a part, in a recovery that duplicates began",
        SackAbove = "sack-above": "a SACK block above it",
        Rescue = "rescue": "nothing above it: the last hole of a recovery",
        LaterDelivered = "later-delivered": "something sent later had been acknowledged",
        Silence = "silence": "a timer's time without an ACK",
        TimeoutBefore = "timeout-before": "a retransmission before it that can be a timeout, and it had been sent by then",
        PathMtu = "path-mtu": "ICMP: the copy before was too large for the next link of a router",
        FastOpen = "fast-open": "the SYN-ACK acknowledged the SYN, and not the data in it",
        FinAgain = "fin-again": "a packet of the peer came right before it, which it acknowledges",
    }
}

words! {
    /// What would have to be in the packets for the likeliest mechanism, and is not.
    pub enum Missing ("missing evidence") {
        DuplicateAcks = "duplicate-acks": "as many duplicate ACKs, or SACKed segments, as a threshold",
        SackAbove = "sack-above": "a SACK block above it",
        Sack = "sack": "SACK itself: it was not agreed upon",
        LaterDelivered = "later-delivered": "an ACK of something sent later",
        ReorderWindow = "reorder-window": "a round trip, and before a recovery a quarter more, since it was sent last",
        FewOut = "few-out": "fewer than four segments outstanding",
        Tail = "tail": "it is not the last that had been sent",
        AckSinceProbe = "ack-since-probe": "an ACK since the tail was probed before",
        Time = "time": "time: no timer runs out so soon",
        ShortTimerTwice = "short-timer-twice": "another timer of its host as short as this one",
        LongTimer = "long-timer": "a first timer that long",
        NoAcks = "no-acks": "ACKs had reached the threshold: they made it, no timer",
        TimeoutBefore = "timeout-before": "a timeout before it",
        OtherSubflow = "other-subflow": "the same data on another subflow",
        Stack = "stack": "a stack known here that would do so",
        Likelihood = "likelihood": "any explanation that is as likely as not",
    }
}

/// What shows that a mechanism can have made it, and when the packet that does came by: none where it is the time that passed
/// without one.
pub type Shown = (Basis, Option<Time>);

/// What shows that `mechanism` can have made a retransmission of which `witness` tells; of an unknown one, that none made it.
///
/// # Errors
/// What is missing.
pub fn look(mechanism: Mechanism, witness: &Witness) -> Result<Shown, Missing> {
    if let Some(shown) = witness.prompted {
        return match mechanism {
            Mechanism::Unknown => Ok(shown),
            _ => Err(Missing::Stack),
        };
    }
    let necessary = TABLE.iter().find(|row| row.mechanism == mechanism);
    necessary.map_or(Err(Missing::Stack), |row| (row.look)(witness))
}

/// The page of this table, in Markdown.
#[must_use]
pub fn page() -> String {
    use core::fmt::Write;
    let mut page = String::from(
        "# Necessary evidence\n\n\
         Made from `crates/trace/src/necessary`; `cargo run --package rexmit-trace --example evidence > docs/reference/evidence.md` \
         makes it again.\n\n\
         A mechanism is named only if the packets show what it cannot do without, by what its sender had heard when it sent. The \
         column `basis` of the table `retransmissions` says what shows it, `basis_ns` which packet. Where it is not there, the \
         mechanism is `unknown`, however likely it seemed, and `missing` says what is not there. No mechanism is named that is \
         less likely than another, or less likely than not; two that are so together are a pair: `either` is true, and the other is \
         `runner_up`.\n\n\
         Times are the sender's where the monitor stands beside it or its stamps tell them (`timed_by`). Elsewhere they are times of \
         arrival, and a packet may have waited on its way: a quarter of the time that a timer takes is enough there.\n\n\
         | mechanism | what must be in the packets | source |\n|---|---|---|\n",
    );
    // Writing to a String cannot fail.
    for row in TABLE {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            row.mechanism, row.words, row.source
        );
    }
    page.push_str(
        "\n## What no loss detection makes\n\n\
         Some packets are sent again though no mechanism has found a loss. Their mechanism is `unknown`, nothing is `missing`, and \
         `basis` is their name; pages and ladders say that name.\n\n\
         | `basis` | what must be in the packets | source |\n|---|---|---|\n",
    );
    for row in PROMPTED {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            row.basis.as_str(),
            row.words,
            row.source
        );
    }
    page.push_str("\n## What shows it (`basis`)\n\n| word | meaning |\n|---|---|\n");
    for basis in Basis::ALL {
        let _ = writeln!(page, "| `{}` | {} |", basis.as_str(), basis.meaning());
    }
    page.push_str("\n## What is missing (`missing`)\n\n| word | meaning |\n|---|---|\n");
    for missing in Missing::ALL {
        let _ = writeln!(page, "| `{}` | {} |", missing.as_str(), missing.meaning());
    }
    page
}

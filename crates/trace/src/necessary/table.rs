//! The table: of each mechanism what it cannot do without.

use rexmit_tcp::recovery::constants::{RTO_MAX, RTO_MIN};
use rexmit_tcp::recovery::early_retransmit::few_out;
use rexmit_tcp::recovery::rack::{Rack, Reordering};
use rexmit_tcp::recovery::CaState;
use rexmit_tcp::Mechanism;
use rexmit_time::Duration;

use super::witness::TICK;
use super::{Basis, Missing, SegmentKind, Shown, Timed, Witness};

/// The least that a timer or a probe waits on any stack: `TCP_TIMEOUT_MIN`, two ticks of a kernel with `HZ` of 1000, of which the
/// first may be nearly over.
pub(super) const SHORTEST: Duration = Duration::from_millis(1);

/// How far the age of a packet may be off.
const MOST_OFF: Duration = Duration::from_millis(1);

/// The usual threshold (RFC 5681 §3.2).
const THRESHOLD: u32 = 3;

/// The least threshold of any stack here (`TcpMaxDupAcks` of old Windows, `net.ipv4.tcp_reordering`).
pub(crate) const LEAST_THRESHOLD: u32 = 2;

/// What one mechanism cannot do without.
#[derive(Clone, Copy, Debug)]
pub struct Necessary {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// What must be in the packets.
    pub words: &'static str,
    /// What says so.
    pub source: &'static str,
    /// Looks for it.
    pub(super) look: fn(&Witness) -> Result<Shown, Missing>,
}

/// Of each mechanism what must be in the packets before it may be named.
pub const TABLE: [Necessary; 9] = [
    Necessary {
        mechanism: Mechanism::Rto,
        words: "a round trip and 200 ms since it was sent last (less, down to 1 ms, where the connection, or its host's \
                connections, show a shorter timer twice), at most 120 s for the first timer; and, if nothing was sent again \
                before, fewer than three duplicate ACKs or SACKed segments. A SYN-ACK: nothing, as it answers each SYN",
        source: "RFC 6298 §2 and §5.4, TCP_RTO_MIN, TCP_RTO_MAX",
        look: rto,
    },
    Necessary {
        mechanism: Mechanism::RtoRecovery,
        words: "a retransmission before it that can be a timeout, when it had been sent, and not all sent by then acknowledged; or, \
                where the one before was lost before the monitor, a timer's time since",
        source: "RFC 5681 §3.1, tcp_enter_loss",
        look: rto_recovery,
    },
    Necessary {
        mechanism: Mechanism::FastRetransmit,
        words: "since it was sent last as many duplicate ACKs, or SACKed segments above it, as a threshold: two at least; later ones of a \
                recovery without SACK: an ACK of a part, in a recovery that had them",
        source: "RFC 5681 §3.2, RFC 6582 §3.2, RFC 6675 §5",
        look: fast_retransmit,
    },
    Necessary {
        mechanism: Mechanism::SackRecovery,
        words: "a SACK block above it; once a recovery, for its last hole, none",
        source: "RFC 6675 §4, NextSeg",
        look: sack_recovery,
    },
    Necessary {
        mechanism: Mechanism::Fack,
        words: "a SACK block above it; the first of a recovery, two segments above it at least",
        source: "tcp_fackets_out, Mathis and Mahdavi 1996",
        look: fack,
    },
    Necessary {
        mechanism: Mechanism::EarlyRetransmit,
        words: "fewer than four segments outstanding, and a duplicate ACK or a SACKed segment",
        source: "tcp_time_to_recover of Linux 3.5 to 4.10; RFC 5827 §3.1",
        look: early_retransmit,
    },
    Necessary {
        mechanism: Mechanism::Rack,
        words: "SACK; something that was sent after it was sent last had been acknowledged; and a round trip since it was sent last, a \
                quarter more where neither a recovery nor three SACKed segments have closed the reordering window",
        source: "RFC 8985 §6.2, tcp_rack_reo_wnd",
        look: rack,
    },
    Necessary {
        mechanism: Mechanism::Tlp,
        words: "SACK; it is the last that had been sent; one without an ACK between; two round trips, or what the timeout left, \
                since the sender sent or heard anything",
        source: "RFC 8985 §7.2 and §7.3, tcp_schedule_loss_probe",
        look: tlp,
    },
    Necessary {
        mechanism: Mechanism::MptcpReinject,
        words: "the same data before it on another subflow",
        source: "RFC 8684 §3.3.6",
        look: |_| Err(Missing::OtherSubflow),
    },
];

/// What a sender sends again though no mechanism has found a loss.
#[derive(Clone, Copy, Debug)]
pub struct Prompted {
    /// Its name.
    pub basis: Basis,
    /// What must be in the packets.
    pub words: &'static str,
    /// What says so.
    pub source: &'static str,
}

/// Of each of those what must be in the packets before it may be named.
pub const PROMPTED: [Prompted; 3] = [
    Prompted {
        basis: Basis::PathMtu,
        words: "right before it a router's ICMP message that a packet is too large for its next link; and it is a part of a packet \
                that was larger than that",
        source: "RFC 1191 §6.4, RFC 8201 §5.4, tcp_v4_mtu_reduced, tcp_simple_retransmit",
    },
    Prompted {
        basis: Basis::FastOpen,
        words: "right before it a SYN-ACK that acknowledges the SYN alone, whose data it has, which were sent once",
        source: "RFC 7413 §4.1.3, tcp_rcv_fastopen_synack",
    },
    Prompted {
        basis: Basis::FinAgain,
        words: "a FIN without data; right before it a packet of the peer with data or a FIN, which it acknowledges",
        source: "TF_SENTFIN in tcp_output of BSD and macOS",
    },
];

impl Witness {
    /// Less time than `least` has passed, by what the packets show. Where they show times of arrival, the one before may have waited
    /// on its way: a quarter of it must be left.
    fn is_sooner(&self, passed: Duration, least: Duration) -> bool {
        match self.timed {
            Timed::Arrival => passed < least / 4,
            Timed::Sender | Timed::Stamps => passed + self.slack + TICK < least,
        }
    }

    /// Less than `least` has passed, as [`Witness::is_sooner`], for what no tick makes coarse: an eighth is left for packets that
    /// wait on the host.
    fn is_younger(&self, least: Duration) -> bool {
        let passed = self.since_sent.1;
        match self.timed {
            Timed::Arrival => passed < least / 4,
            Timed::Sender | Timed::Stamps => passed + self.slack + MOST_OFF < least * 7 / 8,
        }
    }

    /// The one before was not seen, away from the sender.
    fn is_unseen(&self) -> bool {
        self.timed != Timed::Sender && self.since_sent.0 != self.since_sent.1
    }

    /// Duplicates or SACKed segments, whichever are more.
    fn count(&self) -> u32 {
        self.duplicates.max(self.sacked)
    }

    /// When the last of them came by.
    fn counted_at(&self) -> Shown {
        (Basis::DuplicateAcks, self.duplicate_at.max(self.sacked_at))
    }

    fn has_sack_above(&self) -> bool {
        self.sack && self.sacked > 0
    }
}

fn rto(witness: &Witness) -> Result<Shown, Missing> {
    let trip = witness.least_rtt.unwrap_or(Duration::ZERO);
    if witness.packet == SegmentKind::SynAck {
        // It answers a SYN that came again, too.
        return Ok((Basis::Silence, None));
    }
    let passed = witness.since_sent.1;
    if passed < SHORTEST || witness.is_sooner(passed, trip + TICK) {
        return Err(Missing::Time);
    }
    if witness.is_sooner(passed, RTO_MIN) && !witness.twice {
        return Err(Missing::ShortTimerTwice);
    }
    if witness.first && witness.since_sent.0 > RTO_MAX + witness.slack + TICK {
        return Err(Missing::LongTimer);
    }
    if witness.first && !witness.raised && witness.count() >= THRESHOLD {
        return Err(Missing::NoAcks);
    }
    Ok((Basis::Silence, None))
}

fn rto_recovery(witness: &Witness) -> Result<Shown, Missing> {
    match witness.timeout_at {
        Some(at) => Ok((Basis::TimeoutBefore, Some(at))),
        // Nobody saw the one before: a timeout may have sent that, or another that was lost on the way here.
        None if witness.is_unseen() && !witness.is_sooner(witness.since_sent.1, RTO_MIN) => {
            Ok((Basis::Silence, None))
        }
        None => Err(Missing::TimeoutBefore),
    }
}

fn fast_retransmit(witness: &Witness) -> Result<Shown, Missing> {
    if witness.count() >= LEAST_THRESHOLD {
        return Ok(witness.counted_at());
    }
    match witness.partial_at {
        Some(at) => Ok((Basis::PartialAck, Some(at))),
        None => Err(Missing::DuplicateAcks),
    }
}

fn sack_recovery(witness: &Witness) -> Result<Shown, Missing> {
    if !witness.sack {
        return Err(Missing::Sack);
    }
    if witness.sacked > 0 {
        return Ok((Basis::SackAbove, witness.sacked_at));
    }
    if witness.rescue {
        return Ok((Basis::Rescue, witness.sacked_at));
    }
    Err(Missing::SackAbove)
}

fn fack(witness: &Witness) -> Result<Shown, Missing> {
    if !witness.has_sack_above() {
        return Err(Missing::SackAbove);
    }
    // Of a later hole of the recovery the first one was beyond the threshold.
    if witness.reach < LEAST_THRESHOLD && witness.first {
        return Err(Missing::DuplicateAcks);
    }
    Ok((Basis::SackAbove, witness.sacked_at))
}

fn early_retransmit(witness: &Witness) -> Result<Shown, Missing> {
    if !few_out(witness.out) {
        return Err(Missing::FewOut);
    }
    // RFC 5827 §3.1 has all but one; Linux, since 3.5, takes one of up to three (tcp_time_to_recover).
    if witness.count() == 0 {
        return Err(Missing::DuplicateAcks);
    }
    Ok(witness.counted_at())
}

fn rack(witness: &Witness) -> Result<Shown, Missing> {
    if !witness.sack {
        return Err(Missing::Sack);
    }
    let Some(at) = witness.later_at else {
        return Err(Missing::LaterDelivered);
    };
    let trip = witness.least_rtt.unwrap_or(Duration::ZERO);
    // That of a sender that has not seen reordering, and never widened it, is the least.
    let window = Rack::default().reordering_window(&Reordering {
        state: match witness.first {
            true => CaState::Open,
            false => CaState::Recovery,
        },
        seen: false,
        sacked_out: witness.sacked,
        threshold: THRESHOLD,
        no_threshold: false,
        min_rtt: Some(trip),
        srtt: Some(trip),
    });
    if witness.is_younger(trip + window) {
        return Err(Missing::ReorderWindow);
    }
    Ok((Basis::LaterDelivered, Some(at)))
}

fn tlp(witness: &Witness) -> Result<Shown, Missing> {
    if !witness.sack {
        return Err(Missing::Sack);
    }
    if !witness.tail {
        return Err(Missing::Tail);
    }
    if witness.probed {
        return Err(Missing::AckSinceProbe);
    }
    let trips = witness.least_rtt.unwrap_or(Duration::ZERO) * 2;
    // What the timeout left may be less.
    let least = trips.min(RTO_MIN).max(SHORTEST + TICK);
    let since = witness.since_news.unwrap_or(witness.since_sent.1);
    if witness.is_sooner(since, least) && witness.is_sooner(witness.since_sent.1, RTO_MIN) {
        return Err(Missing::Time);
    }
    Ok((Basis::Silence, None))
}

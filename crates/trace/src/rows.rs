//! The rows that an analysis gives. Times are the monitor's clock; sequence numbers as on the wire.

use std::ops::AddAssign;

use rexmit_tcp::{words, Mechanism, Need};
use rexmit_time::{Duration, Time};
use rexmit_wire::{FlowKey, SeqRange};
use serde::{Deserialize, Serialize};

use crate::account::Share;
use crate::cost::Waited;
use crate::emulate::{ModePosterior, Opinions};
use crate::event::Direction;
use crate::measures::{Alert, Handshake, Measures, Reset};
use crate::necessary::{Missing, ShortTimers, Witness};
use crate::parts::{any_word, word, words};
use crate::sender_view::{column_of, position_of};

/// A word of a table, as the name of a stack.
pub type Word = &'static str;

words! {
    /// What says whether a retransmission was needed.
    pub enum Evidence ("evidence") {
        /// Nothing does.
        None = "none",
        /// The receiver reported a duplicate of it (RFC 2883).
        Dsack = "dsack",
        /// An acknowledgement echoed the stamp of an earlier copy (RFC 3522).
        Timestamp = "timestamp",
        /// An acknowledgement came too early to be for the retransmission.
        AckTooEarly = "ack-too-early",
        /// Acknowledgements went on as only an earlier copy explains: as after a timeout without a loss (RFC 5682).
        Frto = "frto",
        /// Its bytes were acknowledged, or SACKed, before it was sent.
        AlreadyAcked = "already-acked",
        /// A monitor at the sender had seen the acknowledgement of its SYN-ACK go to it: it had not taken it, as one that waits
        /// for data (`TCP_DEFER_ACCEPT`) or whose queue is full.
        NotAccepted = "not-accepted",
        /// An earlier copy came by a monitor at the receiver.
        OriginalSeen = "original-seen",
        /// The earlier copies never came by a monitor at the receiver.
        OriginalUnseen = "original-unseen",
        /// The subflow on which a re-injection's data went before acknowledged them without having sent them again.
        SubflowAcked = "subflow-acked",
        /// The receiver answered it with an acknowledgement that says nothing new, or with a reset after its end.
        DuplicateAnswered = "duplicate-answered",
        /// Acknowledgements that the monitor never saw must have come before the one that covers it.
        AckLost = "ack-lost",
        /// Acknowledgements stood still at it, and went on a round-trip time after it.
        HoleFilled = "hole-filled",
    }
}

impl Evidence {
    /// Whether it needs no times between the two directions, nor across a wait.
    pub(crate) const fn is_told_without_times(self) -> bool {
        matches!(self, Evidence::Dsack | Evidence::Timestamp)
    }
}

words! {
    /// Where a monitor stood.
    pub enum Position ("position") {
        /// Next to the sender.
        Sender = "sender",
        /// Somewhere between.
        Midway = "midway",
        /// Next to the receiver.
        Receiver = "receiver",
        /// Cannot be told.
        Unknown = "unknown",
    }
}

/// One packet that carried sequence numbers sent before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retransmission {
    /// Which way it went.
    pub direction: Direction,
    /// When the monitor saw it.
    pub time: Time,
    /// What it carried, SYN and FIN counted.
    pub range: SeqRange,
    /// Payload bytes.
    pub length: u32,
    /// When its first sequence number was sent first, on the monitor's clock.
    pub first_sent: Option<Time>,
    /// How often its first sequence number had been sent before.
    pub copy: u32,
    /// What made the sender send it.
    pub mechanism: Mechanism,
    /// How likely it is that this is a retransmission and that the mechanism made it, 0 to 1.
    pub confidence: f64,
    /// The next best explanation and how likely it is.
    pub runner_up: Option<(Mechanism, f64)>,
    /// Some of its sequence numbers came by before: that it is a retransmission is not inferred from a gap.
    pub shown: bool,
    /// Packets of its sender had come by in another order than they left in: what it had heard when it sent is less sure.
    pub disordered: bool,
    /// How likely it is that this is a retransmission at all, 0 to 1.
    pub certainty: f64,
    /// How likely it is that this is a retransmission and that `need` is right, 0 to 1.
    pub need_confidence: f64,
    /// Where the monitor stood, as far as was known then.
    pub position: Position,
    /// The wire cannot tell the mechanism from the runner-up: a timeout and a probe of one packet fall together.
    pub either: bool,
    /// What the packets show of it.
    pub witness: Witness,
    /// What of it they do not show, where that leaves the mechanism unknown.
    pub missing: Option<Missing>,
    /// Whether it was needed.
    pub need: Need,
    /// What says so.
    pub evidence: Evidence,
    /// Its episode, counted from 0 in its connection and direction: from a first retransmission to the acknowledgement of
    /// all that was sent before it. Episodes of re-injections are of the whole Multipath TCP connection's data, and are
    /// counted down from the highest number.
    pub episode: u32,
    /// What began the episode.
    pub episode_cause: Mechanism,
    /// From the last earlier copy that the detection judged to the retransmission. At least.
    pub detection: Option<Duration>,
    /// At most: the two differ where nobody saw that copy.
    pub detection_most: Option<Duration>,
    /// From the episode's first retransmission to the acknowledgement of the highest sequence number sent before it.
    pub recovery: Option<Duration>,
    /// How long its sender had waited for it (docs/reference/glossary.md), at least; where both ends waited, each has its own.
    pub waited: Duration,
    /// At most.
    pub waited_most: Duration,
    /// The timer that must have run out, for those that a timer made.
    pub timer: Option<Duration>,
    /// What the emulated senders say of it, where it depends on the sending host's settings.
    pub opinions: Option<Box<Opinions>>,
    /// Moving average of the round-trip time when it was sent, weight 1/4 for the new sample.
    pub moving_rtt: Option<Duration>,
    /// Segments sent and not acknowledged when it was sent.
    pub flight_segments: u32,
    /// Bytes sent and not acknowledged when it was sent.
    pub flight_bytes: u32,
    /// Segments of its flight that were lost, as far as can be told (those sent again as needed in its episode).
    pub lost_in_flight: u32,
    /// The Multipath TCP connection that its flow is a subflow of.
    pub multipath: Option<Box<OnSubflow>>,
}

/// A retransmission on a subflow of a Multipath TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnSubflow {
    /// The Multipath TCP connection: the number of its first subflow's connection.
    pub connection: u64,
    /// Of a re-injection: where its data went first, in their direction, and that subflow's number.
    pub first: Option<(FlowKey, u32)>,
}

words! {
    /// How a subflow began.
    pub enum Role ("role") {
        /// With its Multipath TCP connection, by MP_CAPABLE.
        Initial = "initial",
        /// By MP_JOIN.
        Join = "join",
    }
}

/// What a connection is in Multipath TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subflow {
    /// The Multipath TCP connection: the number of its first subflow's connection.
    pub connection: u64,
    /// Which of its subflows, from 1, in the order in which they were seen.
    pub number: u32,
    /// How it began, if that was seen.
    pub role: Option<Role>,
    /// The protocol's version, if keys were seen.
    pub version: Option<u8>,
}

/// An inferred parameter and the interval that the capture leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inferred {
    /// Best value.
    pub value: f64,
    /// Smallest value that explains what was seen.
    pub low: f64,
    /// Largest value that explains what was seen.
    pub high: f64,
}

/// The six parameters of UNC 2007, Table I.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Duplicate acknowledgements that make a loss.
    pub d: Option<Inferred>,
    /// Gain of the deviation.
    pub a: Option<Inferred>,
    /// Gain of the smoothed round-trip time.
    pub b: Option<Inferred>,
    /// Factor of the smoothed round-trip time.
    pub m: Option<Inferred>,
    /// Factor of the deviation.
    pub k: Option<Inferred>,
    /// Smallest timeout (Linux: smallest deviation term), seconds.
    pub min_rto_s: Option<Inferred>,
}

/// What one direction of a connection did, as a sender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderRow {
    /// Packets seen.
    pub packets: u64,
    /// Payload bytes seen, retransmissions counted.
    pub bytes: u64,
    /// Different payload bytes.
    pub unique_bytes: u64,
    /// Packets with payload, retransmissions counted.
    pub segments: u64,
    /// As many of them as the wire carried: a capture on a host whose network card cuts segments, or joins them, shows
    /// several as one packet; at least as many as their bytes fill.
    pub wire_segments: u64,
    /// Maximum segment size offered by this side.
    pub mss: Option<u16>,
    /// Window scale offered by this side.
    pub window_scale: Option<u8>,
    /// SACK offered by this side.
    pub sack_permitted: bool,
    /// Timestamps offered by this side.
    pub timestamps: bool,
    /// Multipath TCP offered by this side.
    pub mptcp: bool,
    /// Its SYN as a signature: `ttl:mss:window,scale:option layout`.
    pub syn_signature: Option<String>,
    /// Retransmissions by mechanism, in the order of `Mechanism::ALL`: those needed, those spurious, and those of which it is not known.
    pub retransmissions: [[u32; Need::ALL.len()]; Mechanism::ALL.len()],
    /// Packets that came late (reordering).
    pub reordered: u32,
    /// Packets doubled by the network.
    pub network_duplicates: u32,
    /// Packets doubled by the capture.
    pub capture_duplicates: u32,
    /// Packets that the capture must have missed: their bytes were acknowledged without being seen.
    pub capture_losses: u32,
    /// Keep-alives and zero-window probes.
    pub probes: u32,
    /// Where the monitor stood, as seen from this sender.
    pub position: Option<Position>,
    /// From the monitor to this sender and back.
    pub monitor_delay: Option<Duration>,
    /// Smallest, average and largest round-trip time of this sender, and their number.
    pub rtt: Option<(Duration, Duration, Duration, u32)>,
    /// The stack that explains every retransmission, `several` or `none`; nothing without retransmissions.
    #[serde(deserialize_with = "any_word")]
    pub stack: Option<Word>,
    /// How sure that is, 0 to 1.
    pub stack_confidence: f64,
    /// All stacks that explain every retransmission.
    #[serde(deserialize_with = "words")]
    pub stacks: Vec<Word>,
    /// The system that the SYN's signature names.
    #[serde(deserialize_with = "any_word")]
    pub syn_system: Option<Word>,
    /// The six parameters.
    pub parameters: Parameters,
    /// What ideal loss detection would have saved at most (UNC 2007, section V-A).
    pub best_case: Option<Duration>,
    /// Time waited, by mechanism as in `retransmissions`. What both ends wait at a time counts once in a connection.
    pub waited: Waited,
    /// What the connection says of this host's way of finding losses.
    pub posterior: ModePosterior,
    /// What the connection shows of this host's timers that are shorter than the usual least one.
    pub short_timers: ShortTimers,
    /// Of a subflow: bytes of the Multipath TCP connection's data that went first here.
    pub data_bytes: Option<u64>,
    /// What an operator asks for beside retransmissions.
    pub measures: Measures,
    /// Whose its time was, all of the connection's.
    pub account: Vec<Share>,
}

impl SenderRow {
    /// A retransmission that was counted by its need counts for another one; for none where it is none after all.
    pub(crate) fn count_again(&mut self, row: &Retransmission, need: Option<Need>) {
        let counts = &mut self.retransmissions[position_of(row.mechanism)];
        let was = &mut counts[column_of(row.need)];
        *was = was.saturating_sub(1);
        if let Some(need) = need {
            counts[column_of(need)] += 1;
        }
    }

    /// Of what it sent again nothing is shown to be lost, and most had arrived.
    pub(crate) fn has_lost_nothing(&self) -> bool {
        let of = |need: Need| -> u32 {
            let counts = self.retransmissions.iter();
            counts.map(|counts| counts[column_of(need)]).sum()
        };
        of(Need::Needed) == 0 && of(Need::Spurious) > of(Need::Unknown)
    }
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Client to server.
    pub flow: FlowKey,
    /// First packet.
    pub start: Time,
    /// Last packet.
    pub end: Time,
    /// SYN to the client's first acknowledgement, and its part between monitor and server.
    pub handshake_rtt: Option<(Duration, Duration)>,
    /// The first packet seen was no SYN.
    pub mid_stream: bool,
    /// Only one direction was seen.
    pub one_sided: bool,
    /// Closed by FINs, by RST, or not at all.
    #[serde(deserialize_with = "word")]
    pub closed: Word,
    /// It was put out to make room.
    pub evicted: bool,
    /// What became of its handshake.
    pub handshake: Handshake,
    /// The first reset that fits.
    pub reset: Option<Reset>,
    /// The first alert of TLS that ended the handshake.
    pub alert: Option<Alert>,
    /// The client as a sender.
    pub forward: SenderRow,
    /// The server as a sender.
    pub backward: SenderRow,
    /// What it is in Multipath TCP, if it is a subflow.
    pub multipath: Option<Subflow>,
}

impl Connection {
    /// The time in which either end waited or both did; never more than the connection lasted.
    #[must_use]
    pub fn waited(&self) -> Duration {
        let both = self.forward.waited.iter().chain(&self.backward.waited);
        both.fold(Duration::ZERO, |sum, of| sum + *of)
    }
}

/// Which retransmissions another setting changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Retransmissions that would not have been made.
    pub avoided: u64,
    /// Retransmissions made by fast retransmit instead of timeout.
    pub rto_to_fr: u64,
    /// Retransmissions made by timeout instead of fast retransmit.
    pub fr_to_rto: u64,
    /// Spurious timeouts avoided.
    pub spurious_rto_avoided: u64,
    /// Spurious fast retransmits avoided.
    pub spurious_fr_avoided: u64,
    /// Spurious timeouts caused.
    pub spurious_rto_caused: u64,
    /// Spurious fast retransmits caused.
    pub spurious_fr_caused: u64,
}

impl AddAssign for Changes {
    fn add_assign(&mut self, other: Self) {
        self.avoided += other.avoided;
        self.rto_to_fr += other.rto_to_fr;
        self.fr_to_rto += other.fr_to_rto;
        self.spurious_rto_avoided += other.spurious_rto_avoided;
        self.spurious_fr_avoided += other.spurious_fr_avoided;
        self.spurious_rto_caused += other.spurious_rto_caused;
        self.spurious_fr_caused += other.spurious_fr_caused;
    }
}

/// What one other setting would have done to one direction of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// Which way the data went.
    pub direction: Direction,
    /// Index of the setting in the list that the run's what-if was given.
    pub setting: u32,
    /// Which retransmissions it changes.
    pub changes: Changes,
    /// Change of the connection's duration; negative is shorter.
    pub change: Duration,
    /// Change of the time waited for first repairs; a saving is never more than what was waited.
    pub waited: Duration,
}

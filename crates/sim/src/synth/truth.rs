//! What is true of a connection: which packets are retransmissions, why they were sent, and whether they were needed.
//!
//! Mechanisms are those that the sender named when it sent. Whether a retransmission was needed follows from what the
//! network delivered; no rule of an analysis has a part in it.

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::record::Made;

/// A packet with something in it that was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retransmission {
    /// Its place among the packets.
    pub packet: usize,
    pub mechanism: Mechanism,
    /// Why, in the sender's own words.
    pub cause: &'static str,
    pub need: Need,
    /// When its first number was first sent.
    pub first_sent: Time,
}

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    pub retransmissions: Vec<Retransmission>,
    /// Payload bytes, each counted once.
    pub bytes: u64,
    /// Packets with payload, and those of them that were lost.
    pub segments: u64,
    pub lost_segments: u64,
}

/// Works out the truth of the direction whose packets `made` gives, in the order in which they were sent.
pub(super) fn truth<'a>(made: impl Iterator<Item = (usize, &'a Made)>) -> Truth {
    let mut truth = Truth::default();
    let mut stream = Stream::default();
    for (packet, made) in made {
        let segment = &made.segment;
        if segment.len > 0 {
            truth.segments += 1;
            truth.lost_segments += u64::from(!made.arrived);
        }
        if segment.space() == 0 {
            continue;
        }
        let start = stream.place(segment.seq);
        let end = start + i64::from(segment.space());
        let next = stream.next;
        if start < next {
            let (mechanism, cause) = named(made);
            let came = stream.came.covers(start, end);
            truth.retransmissions.push(Retransmission {
                packet,
                mechanism,
                cause,
                need: if came { Need::Spurious } else { Need::Needed },
                first_sent: stream.first_sent(start).unwrap_or(made.at),
            });
        }
        if end > next {
            let new = end - next.max(start);
            let not_payload = i64::from(segment.flags.syn()) + i64::from(segment.flags.fin());
            truth.bytes += (new - not_payload.min(new)).unsigned_abs();
            stream.next = end;
            stream.sent.push((end, made.at));
        }
        if made.arrived {
            stream.came.insert(start, end);
        }
    }
    truth
}

/// What the sender called it. Handshakes are the connection's, which names nothing: a SYN is sent again by its timer, a
/// SYN-ACK also because the SYN came again. Their causes are called as a kernel's are (docs/notes/causes.md).
fn named(made: &Made) -> (Mechanism, &'static str) {
    match made.mechanism {
        Some(mechanism) => (mechanism, mechanism.as_str()),
        None if made.segment.flags.syn() && made.answers_syn => (Mechanism::Rto, "synack-answer"),
        None if made.segment.flags.syn() && made.segment.flags.ack() => {
            (Mechanism::Rto, "synack-timer")
        }
        None if made.segment.flags.syn() => (Mechanism::Rto, "timer"),
        None => (Mechanism::Unknown, "unnamed"),
    }
}

/// The stream of numbers, unwrapped: 0 is the first.
#[derive(Default)]
struct Stream {
    first: Option<SeqNum>,
    /// The first number that was not sent yet.
    next: i64,
    /// Where each packet of new numbers ended, and when it was sent.
    sent: Vec<(i64, Time)>,
    /// What copies sent so far brought, or will.
    came: Set,
}

impl Stream {
    fn place(&mut self, seq: SeqNum) -> i64 {
        let first = *self.first.get_or_insert(seq);
        let next = SeqNum::new(first.get().wrapping_add(self.next as u32));
        self.next + i64::from(seq.offset_from(next))
    }

    fn first_sent(&self, place: i64) -> Option<Time> {
        let index = self.sent.partition_point(|(end, _)| *end <= place);
        self.sent.get(index).map(|(_, at)| *at)
    }
}

/// A set of numbers as sorted intervals apart from each other.
#[derive(Clone, Debug, Default)]
struct Set(Vec<(i64, i64)>);

impl Set {
    fn insert(&mut self, start: i64, end: i64) {
        let first = self.0.partition_point(|i| i.1 < start);
        let behind = self.0.partition_point(|i| i.0 <= end);
        let merged = self.0[first..behind]
            .iter()
            .fold((start, end), |all, i| (all.0.min(i.0), all.1.max(i.1)));
        self.0.splice(first..behind, [merged]);
    }

    fn covers(&self, start: i64, end: i64) -> bool {
        let index = self.0.partition_point(|i| i.1 <= start);
        let holds = |i: &(i64, i64)| i.0 <= start && end <= i.1;
        self.0.get(index).is_some_and(holds)
    }
}

//! Whether the identifications of a sender's packets are this connection's own count, as far as its packets prove it.
//!
//! A sender that is believed to count each connection apart may not: the counter is shared with traffic that the capture does not
//! hold, or grows with time. Then numbers are missing where nothing can have been sent.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::ids::Ids;
use crate::event::{packets_of, Event, ETHERNET};

/// Numbers that are missing although nothing explains them, from which on the count is refuted.
const UNEXPLAINED: u32 = 2;
/// The least that a host acknowledges apart: a segment of the least maximum (RFC 9293 §3.7.1).
const LEAST_ACKED: u32 = 536;
/// Packets that no other packet calls for (keep-alives, updates of the window) come more seldom than this.
const UNCALLED: Duration = Duration::from_secs(5);
/// Numbers are missing where a sender with nothing outstanding goes on: whole flights were lost, or other traffic took them. So often,
/// and in more than three of four such places, and nowhere else, it is the latter.
const GAPS: u32 = 4;
/// After a shorter wait a first timeout may be what ended it (RFC 6298 §2: the initial timeout was 3 s).
const FIRST_TIMEOUT: Duration = Duration::from_secs(3);
/// Least of what a sender's packets are cut into that is looked for.
const LEAST_CUT: u32 = 536;

/// What a sender's packets prove of its count.
#[derive(Debug)]
pub(crate) struct OwnCount {
    ids: Ids,
    /// What each packet bears of which several were merged; none if that is not known.
    cut: u32,
    last: Option<Event>,
    /// The end of what was sent, and of what was acknowledged.
    nxt: Option<SeqNum>,
    acked: Option<SeqNum>,
    /// Packets of the peer since the last of the sender.
    answers: u32,
    /// Packets that were lost beyond all that was seen, if the count is the connection's own.
    owed: u32,
    /// How often the sender went on with nothing outstanding, and how often of those numbers were missing.
    starts: u32,
    gaps: u32,
    /// How often something was missing elsewhere.
    within: u32,
    /// How long no number was missing.
    proven: Duration,
    refuted: bool,
}

impl OwnCount {
    /// Of a sender whose merged packets bear `cut` bytes each; `refuted`: it is known not to count them.
    pub fn new(cut: u32, refuted: bool) -> Self {
        OwnCount {
            ids: Ids::new(true).sorted(),
            cut: cut.max(1),
            last: None,
            nxt: None,
            acked: None,
            answers: 0,
            owed: 0,
            starts: 0,
            gaps: 0,
            within: 0,
            proven: Duration::ZERO,
            refuted,
        }
    }

    /// Numbers are missing that the connection cannot have used.
    pub const fn is_refuted(&self) -> bool {
        self.refuted
    }

    /// Whether the count is known to hold over a wait in which `missing` packets left: other traffic that took so many numbers in
    /// that time would have taken one while none was missing.
    pub fn holds_over(&self, waited: Duration, missing: u32) -> bool {
        waited <= FIRST_TIMEOUT || self.proven * i64::from(missing) >= waited
    }

    /// The sender's packet came by.
    pub fn sent(&mut self, event: &Event) {
        if event.flags.rst() || event.ip_id.is_none_or(|id| id == 0) {
            return;
        }
        let packets = packets_of(event.payload_len, self.cut);
        self.ids.learn(event.ip_id, event.seq, packets);
        if let Some(last) = self.last.replace(*event) {
            self.step(&last, event);
        }
        let end = event.range().end;
        if self.nxt.is_none_or(|nxt| end.is_after(nxt)) {
            self.nxt = Some(end);
        }
        self.answers = 0;
    }

    /// The peer's packet came by.
    pub fn answered(&mut self, event: &Event) {
        self.answers += 1;
        let ahead = self.acked.is_none_or(|acked| event.ack.is_after(acked));
        if event.flags.ack() && ahead {
            self.acked = Some(event.ack);
        }
    }

    fn step(&mut self, last: &Event, event: &Event) {
        let waited = event.at - last.at;
        let packets = packets_of(last.payload_len, self.cut);
        let missing = self.ids.between(last.ip_id, event.ip_id, packets);
        if missing == 0 {
            self.proven += waited.max(Duration::ZERO);
        }
        let Some(nxt) = self.nxt else { return };
        let is_next = event.seq == nxt;
        let idle = self.acked.is_some_and(|acked| !acked.is_before(nxt));
        if !event.range().is_empty() {
            let unexplained = missing > self.explained(last, event);
            if is_next && idle {
                self.starts += 1;
                self.gaps += u32::from(unexplained);
            } else {
                self.within += u32::from(unexplained || event.seq.is_after(nxt));
            }
            let often = self.gaps >= GAPS && self.gaps * 4 > self.starts * 3;
            self.refuted |= often && self.within == 0;
        }
        if event.range().is_empty() {
            let unexplained = missing.saturating_sub(self.explained(last, event));
            self.refuted |= is_next && (self.owed > 0 || (idle && unexplained >= UNEXPLAINED));
            self.owed = 0;
        } else if is_next && missing > 0 {
            let copies = self.explained(last, event) + timeouts_in(waited);
            self.owed = missing.saturating_sub(copies);
        } else if event.seq.is_after(nxt) {
            self.owed = 0;
        } else {
            self.owed = self.owed.saturating_sub(packets);
        }
    }

    /// Packets without data that may have been lost between two.
    fn explained(&self, last: &Event, event: &Event) -> u32 {
        let acked = event.ack.offset_from(last.ack).max(0).unsigned_abs();
        let uncalled = (event.at - last.at).as_nanos() / UNCALLED.as_nanos();
        self.answers.max(acked.div_ceil(LEAST_ACKED)) + u32::try_from(uncalled).unwrap_or(0)
    }
}

/// How often one packet may have been sent in a wait: at once, by a probe, and by a timer that doubles from 200 ms.
fn timeouts_in(waited: Duration) -> u32 {
    let tries = waited.as_nanos() / Duration::from_millis(200).as_nanos();
    2 + (tries.max(0) + 1).ilog2()
}

/// What packets bear each of which several were merged into one (by a network card or GRO): most of the larger ones are multiples
/// of it. `agreed` is the maximum of the handshake, 0 where none was seen. None where it is not known.
pub(crate) fn cut(sizes: impl Iterator<Item = u32> + Clone, agreed: u32) -> Option<u32> {
    let most = if agreed == 0 { ETHERNET } else { agreed };
    let single = sizes.clone().filter(|&size| size <= most).max();
    let merged = sizes.filter(|&size| size > most);
    let (mut all, mut multiples) = (0, 0);
    for size in merged {
        all += 1;
        multiples += u32::from(single.is_some_and(|one| size % one.max(1) == 0));
    }
    let single = single.filter(|&one| one >= LEAST_CUT && all > 0 && multiples * 2 >= all);
    match (single, agreed) {
        (Some(one), _) => Some(one),
        (None, 0) if all > 0 => None,
        (None, 0) => Some(most),
        (None, agreed) => Some(agreed),
    }
}

#[cfg(test)]
mod tests {
    use rexmit_time::Time;
    use rexmit_wire::Flags;

    use rexmit_wire::headers::Record;

    use super::*;
    use crate::event::Direction;

    fn packet(ms: u64, id: u16, seq: u32, len: u32) -> Event {
        Event {
            at: Time::from_nanos(ms * 1_000_000),
            direction: Direction::Forward,
            seq: SeqNum::new(seq),
            ack: SeqNum::new(7),
            payload_len: len,
            flags: Flags::ACK,
            window: 0,
            record: Record::None,
            ip_id: Some(id),
            timestamps: None,
            sacks: (0, 0),
        }
    }

    fn ack(ms: u64, ack: u32) -> Event {
        Event {
            ack: SeqNum::new(ack),
            ..packet(ms, 1, 7, 0)
        }
    }

    /// Five packets of 100 bytes, one each 10 ms, and all acknowledged.
    fn counting() -> OwnCount {
        let mut count = OwnCount::new(1460, false);
        for i in 0..5_u16 {
            let ms = u64::from(i) * 10;
            count.sent(&packet(ms, 10 + i, u32::from(i) * 100, 100));
            count.answered(&ack(ms + 1, u32::from(i) * 100 + 100));
        }
        count
    }

    #[test]
    fn numbers_missing_where_nothing_was_sent_refute_the_count() {
        let mut count = counting();
        count.sent(&packet(50, 16, 500, 0));
        assert!(!count.is_refuted(), "the peer's packet was acknowledged");
        count.sent(&packet(100, 30, 500, 0));
        assert!(count.is_refuted());
    }

    #[test]
    fn numbers_missing_before_each_flight_refute_the_count() {
        // Before every other one, or within flights, too: those were lost, tail by tail.
        for (each, within, refuted) in [(1, 0, true), (2, 0, false), (1, 4, false)] {
            let mut count = counting();
            let mut id = 14;
            for flight in 0..24_u16 {
                id += if flight % each == 0 { 4 } else { 1 };
                let (ms, seq) = (u64::from(flight) * 300 + 400, 500 + u32::from(flight) * 200);
                count.sent(&packet(ms, id, seq, 100));
                id += 1 + if flight == 1 { within } else { 0 };
                count.sent(&packet(ms, id, seq + 100, 100));
                count.answered(&ack(ms + 1, seq + 200));
            }
            assert_eq!(count.is_refuted(), refuted);
        }
    }

    #[test]
    fn packets_that_were_lost_have_to_come_again() {
        for (again, refuted) in [(true, false), (false, true)] {
            let mut count = counting();
            count.sent(&packet(100, 21, 500, 100));
            if again {
                (1..6)
                    .for_each(|i| count.sent(&packet(101, 21 + i, 500 + u32::from(i) * 100, 100)));
            }
            count.answered(&ack(110, if again { 1100 } else { 600 }));
            count.sent(&packet(
                120,
                if again { 27 } else { 22 },
                if again { 1100 } else { 600 },
                0,
            ));
            assert_eq!(count.is_refuted(), refuted);
        }
    }

    #[test]
    fn a_count_proven_for_a_moment_says_nothing_of_a_minute() {
        let count = counting();
        assert!(count.holds_over(Duration::from_secs(1), 1));
        assert!(!count.holds_over(Duration::from_secs(60), 5));
    }

    #[test]
    fn merged_packets_are_multiples_of_those_that_were_not() {
        let sizes = |sizes: &[u32], agreed| cut(sizes.iter().copied(), agreed);
        assert_eq!(sizes(&[320, 1440, 10_080, 2_880, 7_691], 0), Some(1440));
        assert_eq!(sizes(&[320, 1440, 1106], 0), Some(ETHERNET));
        assert_eq!(sizes(&[320, 10_080, 2_880], 0), None);
        assert_eq!(sizes(&[320, 13_880, 1388, 27_760], 1460), Some(1388));
        assert_eq!(sizes(&[320, 14_600], 1460), Some(1460));
    }
}

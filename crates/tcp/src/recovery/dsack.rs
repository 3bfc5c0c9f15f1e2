//! Reports that a segment came twice (D-SACK, RFC 2883), and whether a sender believes them.

use rexmit_wire::{SeqNum, SeqRange};

/// Whether the first block of a SACK option is a D-SACK: below what is acknowledged, or inside the second (RFC 2883 §4;
/// `tcp_check_dsack`).
#[must_use]
pub fn is_dsack(first: SeqRange, second: Option<SeqRange>, ack: SeqNum) -> bool {
    let inside = second.is_some_and(|second| {
        !first.end.is_after(second.end) && !first.start.is_before(second.start)
    });
    first.start.is_before(ack) || inside
}

/// What decides whether a D-SACK is believed.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// What came twice.
    pub range: SeqRange,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The peer's largest window; none where that is not known.
    pub largest_window: Option<u32>,
    /// What had been sent when the tail loss probe was that is out, if one is.
    pub probe_high: Option<SeqNum>,
    /// Segments reported before (`dsack_dups`).
    pub reported: u32,
    /// Segments sent again so far (`total_retrans`); none where not all of them were seen.
    pub retransmitted: Option<u32>,
}

/// What a D-SACK tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Segments that came twice.
    pub segments: u32,
    /// They are the tail loss probe.
    pub of_probe: bool,
    /// More are reported than were sent again: the network doubles packets, and nothing else follows.
    pub doubted: bool,
}

/// What a D-SACK tells; none if it cannot be right (`tcp_dsack_seen`). A stack that does not check believes every one, as of
/// one segment (`tcp_check_dsack`, 3.10).
#[must_use]
pub fn decide(checks: bool, report: &Report) -> Option<Outcome> {
    if !checks {
        return Some(Outcome {
            segments: 1,
            of_probe: false,
            doubted: false,
        });
    }
    let range = report.range;
    let len = range.len();
    let too_long = report.largest_window.is_some_and(|most| len > most);
    if !range.start.is_before(range.end) || too_long {
        return None;
    }
    let segments = len.div_ceil(report.mss).max(1);
    let sent_again = report.retransmitted;
    Some(Outcome {
        segments,
        of_probe: len <= report.mss && report.probe_high == Some(range.end),
        doubted: sent_again.is_some_and(|most| report.reported + segments > most),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISS: SeqNum = SeqNum::new(u32::MAX - 1_999);

    fn range(start: u32, len: u32) -> SeqRange {
        SeqRange::new(ISS + start, len)
    }

    #[test]
    fn a_block_below_the_acknowledgement_or_inside_the_second_is_one() {
        let ack = ISS + 3_000;
        assert!(is_dsack(range(2_000, 1_000), None, ack));
        assert!(!is_dsack(range(4_000, 1_000), None, ack));
        assert!(is_dsack(
            range(4_000, 1_000),
            Some(range(4_000, 3_000)),
            ack
        ));
        assert!(!is_dsack(
            range(4_000, 1_000),
            Some(range(5_000, 3_000)),
            ack
        ));
    }

    #[test]
    fn no_more_is_believed_than_was_sent_again() {
        let report = Report {
            range: range(0, 2_500),
            mss: 1_000,
            largest_window: Some(60_000),
            probe_high: None,
            reported: 0,
            retransmitted: Some(3),
        };
        let told_all =
            |report: Report| decide(true, &report).map(|decide| (decide.segments, decide.doubted));
        assert_eq!(told_all(report), Some((3, false)));
        let more = Report {
            reported: 1,
            ..report
        };
        assert_eq!(told_all(more), Some((3, true)));
        let empty = Report {
            range: range(0, 0),
            ..report
        };
        assert_eq!(told_all(empty), None);
        let narrow = Report {
            largest_window: Some(2_499),
            ..report
        };
        assert_eq!(told_all(narrow), None);
        let unseen = Report {
            largest_window: None,
            retransmitted: None,
            ..more
        };
        assert_eq!(told_all(unseen), Some((3, false)));
        let old = decide(false, &more).unwrap();
        assert_eq!((old.segments, old.doubted), (1, false));
    }

    #[test]
    fn one_segment_that_ends_where_the_probe_did_is_the_probe() {
        let of_probe = |start, len, high: u32| {
            let report = Report {
                range: range(start, len),
                mss: 1_000,
                largest_window: Some(60_000),
                probe_high: Some(ISS + high),
                reported: 0,
                retransmitted: Some(5),
            };
            decide(true, &report).is_some_and(|decide| decide.of_probe)
        };
        assert!(of_probe(2_000, 1_000, 3_000));
        assert!(!of_probe(1_000, 2_000, 3_000));
        assert!(!of_probe(2_000, 1_000, 4_000));
    }
}

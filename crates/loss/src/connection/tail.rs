//! The tail by sequence number; of a connection whose end is not known before, by the number of its segments.

use super::flow::{Flow, Positions};
use super::judge::Judged;
use super::out::Out;
use crate::{Note, Verdict};

/// Whether a segment whose first byte is at `start` lies among the last `segments` full segments of a transfer
/// that ends before `end`: at or after end − N·MSS.
///
/// The comparison is not strict and counts the packet itself: with a size that is an exact multiple of the MSS
/// the paper's `bytesRemaining < bytesToDrop` (Algorithm 1) loses one segment less.
pub(crate) fn in_tail(start: u64, end: u64, segments: u32, mss: u32) -> bool {
    start.saturating_add(u64::from(segments) * u64::from(mss)) >= end
}

impl Flow {
    pub(super) fn judge_by_sequence(&self, p: &Positions, out: &Out) -> Judged {
        let (segments, mss) = (out.drops.tail_segments(), self.largest);
        let owner = self
            .transfers
            .iter()
            .filter(|t| t.completed.is_none())
            .find(|t| {
                if p.start < p.end {
                    t.touches_data(p.start, p.end)
                        && match out.whole.and_then(|whole| whole.lossless) {
                            Some(all) => t.row.segments + u64::from(segments) > all,
                            None => in_tail(p.start, t.end, segments, mss),
                        }
                } else {
                    // A bare FIN goes with its tail; where the FIN came early there may have been none.
                    t.fin == Some(p.start)
                        && (t.row.dropped_segments > 0 || !t.row.notes.iter().any(is_short))
                }
            });
        match owner {
            Some(owner) => (Verdict::Drop, Some(owner.row.id)),
            None => (Verdict::Accept, None),
        }
    }
}

fn is_short(note: &Note) -> bool {
    matches!(note, Note::ShortOf { .. })
}

#[cfg(test)]
mod tests {
    use super::in_tail;

    #[test]
    fn an_exact_multiple_counts_its_last_segment() {
        assert!(in_tail(900, 1000, 1, 100) && !in_tail(899, 1000, 1, 100));
        assert!(in_tail(800, 1000, 2, 100) && !in_tail(800, 1000, 1, 100));
        assert!(in_tail(950, 1000, 1, 100));
        assert!(
            in_tail(0, 1000, u32::MAX, u32::MAX),
            "more than there is: all of it"
        );
    }
}

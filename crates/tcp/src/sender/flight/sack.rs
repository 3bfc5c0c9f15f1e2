//! Noting on the scoreboard what the SACK option says (RFC 2018, D-SACK of RFC 2883; `tcp_sacktag_write_queue`).

use rexmit_wire::{SeqNum, SeqRange};

use super::queue::{Marks, Micros, SentSegment};
use super::{Arrival, Flight};
use crate::recovery::machine::AckOutcome;
use crate::recovery::CaState;
use crate::settings::ReorderingUnit;

/// The blocks of the last option, in order: what lies in them was noted (`recv_sack_cache`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenBlocks {
    blocks: [SeqRange; 4],
    len: u8,
}

/// The blocks of an option that say something new, in order.
struct Blocks {
    ranges: [SeqRange; 4],
    len: usize,
    /// Which of them is a D-SACK.
    duplicate: Option<usize>,
}

impl Blocks {
    /// The blocks that are valid and not old, sorted.
    fn select(options: &[SeqRange], duplicate: bool, prior_una: SeqNum, bounds: &Bounds) -> Self {
        let mut blocks = Blocks {
            ranges: [SeqRange::default(); 4],
            len: 0,
            duplicate: None,
        };
        for (place, range) in options.iter().enumerate() {
            let dup = duplicate && place == 0;
            if !bounds.allow(*range, dup) || !range.end.is_after(prior_una) {
                continue;
            }
            // Sorted by where they start; equal ones stay as they came.
            let mut at = blocks.len;
            while at > 0 && blocks.ranges[at - 1].start.is_after(range.start) {
                blocks.ranges[at] = blocks.ranges[at - 1];
                at -= 1;
            }
            if let Some(other) = &mut blocks.duplicate {
                if *other >= at {
                    *other += 1;
                }
            }
            if dup {
                blocks.duplicate = Some(at);
            }
            blocks.ranges[at] = *range;
            blocks.len += 1;
        }
        blocks
    }
}

/// What is known when blocks are checked.
struct Bounds {
    una: SeqNum,
    nxt: SeqNum,
    /// A D-SACK below `una` is believed from here on.
    undo_marker: Option<SeqNum>,
    largest_window: u32,
}

impl Bounds {
    /// Whether the block, a D-SACK if `duplicate`, is believed (`tcp_is_sackblock_valid`).
    fn allow(&self, range: SeqRange, duplicate: bool) -> bool {
        let SeqRange { start, end } = range;
        if end.is_after(self.nxt) || !start.is_before(end) || !start.is_before(self.nxt) {
            return false;
        }
        if start.is_after(self.una) {
            return true;
        }
        let Some(marker) = self.undo_marker.filter(|_| duplicate) else {
            return false;
        };
        if end.is_after(self.una) {
            return false;
        }
        if !start.is_before(marker) {
            return true;
        }
        // Across the marker: as far as a window below.
        end.is_after(marker) && !start.is_before(end - self.largest_window)
    }
}

/// What a SACK option told.
#[derive(Clone, Copy, Debug)]
pub struct Tagged {
    pub outcome: AckOutcome,
    /// The lowest segment that was delivered late.
    pub late: SeqNum,
    /// When the first and the last of the segments newly SACKed were sent that were sent once.
    pub first_sent: Option<Micros>,
    pub last_sent: Micros,
    /// Segments delivered.
    pub delivered: u32,
}

impl Tagged {
    pub fn new(nxt: SeqNum) -> Self {
        Tagged {
            outcome: AckOutcome::NONE,
            late: nxt,
            first_sent: None,
            last_sent: 0,
            delivered: 0,
        }
    }

    /// A segment sent once is SACKed: late if a higher one was before it, and it gives a round-trip time.
    fn note_original(&mut self, segment: &SentSegment, highest_sack: SeqNum, point: SeqNum) {
        if segment.seq.is_before(highest_sack) && segment.seq.is_before(self.late) {
            self.late = segment.seq;
        }
        if !segment.end.is_after(point) {
            self.outcome.set(AckOutcome::ORIGINAL);
        }
        self.first_sent.get_or_insert(segment.at);
        self.last_sent = segment.at;
    }
}

/// A SACK option at work.
struct Tagging<'a, 'b> {
    flight: &'a mut Flight,
    arrival: &'a mut Arrival<'b>,
    tagged: &'a mut Tagged,
    /// The walk over the scoreboard goes on here.
    cursor: Option<usize>,
}

impl Flight {
    /// An option comes: where nothing is SACKed, what was the highest SACK no longer counts.
    pub(in super::super) fn begin_option(&mut self) {
        if self.queue.counts.sacked == 0 {
            self.queue.reset_highest_sack(self.una);
            self.fack.reach = 0;
        }
    }

    /// Notes the blocks of an option, the first of which may be a `duplicate`.
    pub(in super::super) fn tag(
        &mut self,
        options: &[SeqRange],
        duplicate: bool,
        arrival: &mut Arrival<'_>,
        tagged: &mut Tagged,
    ) {
        let bounds = Bounds {
            una: self.una,
            nxt: self.nxt,
            undo_marker: arrival.episode.undo.marker,
            largest_window: arrival.peer.largest_window,
        };
        let prior_una = arrival.before.view.prior_una;
        let blocks = Blocks::select(options, duplicate, prior_una, &bounds);
        let mut seen = match self.queue.counts.sacked {
            0 => SeenBlocks::default(),
            _ => self.seen_blocks,
        };
        self.seen_blocks = SeenBlocks {
            blocks: blocks.ranges,
            len: blocks.len as u8,
        };
        let counts_lost = self.settings.loss.fack_lost_retransmits
            && arrival.detection.fack
            && arrival.episode.state == CaState::Recovery;
        let mut tagging = Tagging {
            flight: self,
            arrival,
            tagged,
            cursor: None,
        };
        for index in 0..blocks.len {
            let range = blocks.ranges[index];
            if blocks.duplicate == Some(index) {
                tagging.walk(range, true, None);
                continue;
            }
            let inner = blocks
                .duplicate
                .filter(|place| *place == index + 1)
                .map(|place| blocks.ranges[place]);
            tagging.walk_unseen(range, inner, &mut seen);
        }
        if counts_lost {
            self.fack
                .mark_lost_retransmissions(&mut self.queue, self.una, self.nxt);
        }
    }

    /// By how many segments the one at `late` was overtaken, if it is out.
    pub(in super::super) fn overtaken_by(&self, late: SeqNum) -> Option<u32> {
        let before = self.queue.packets_before(self.queue.find(late)?);
        Some(self.fack.reach.saturating_sub(before))
    }

    /// Whether the segment lies in the block; one of several packets is cut where the block begins or ends
    /// (`tcp_match_skb_to_sack`).
    fn cut_to_block(&mut self, index: usize, range: SeqRange) -> bool {
        let segment = *self.queue.at(index);
        let begins = !range.start.is_after(segment.seq);
        if begins && !range.end.is_before(segment.end) {
            return true;
        }
        if segment.packets == 1 || !segment.end.is_after(range.start) {
            return false;
        }
        let cut = if begins {
            let len = range.end.offset_from(segment.seq);
            len.max(0).unsigned_abs() / self.sizes.mss * self.sizes.mss
        } else {
            let len = range.start.offset_from(segment.seq).unsigned_abs();
            len.div_ceil(self.sizes.mss) * self.sizes.mss
        };
        if cut == 0 || cut >= segment.len() {
            return false;
        }
        self.split(index, cut);
        begins
    }
}

impl Tagging<'_, '_> {
    /// Walks the parts of a block that earlier options did not hold. `inner` is a D-SACK inside the block.
    fn walk_unseen(&mut self, mut range: SeqRange, inner: Option<SeqRange>, seen: &mut SeenBlocks) {
        loop {
            while seen.len > 0 && !range.start.is_before(seen.blocks[0].end) {
                seen.drop_first();
            }
            let known = seen.blocks[0];
            if seen.len == 0 || !range.end.is_after(known.start) {
                self.walk(range, false, inner);
                return;
            }
            if range.start.is_before(known.start) {
                let before = SeqRange {
                    start: range.start,
                    end: known.start,
                };
                self.walk(before, false, inner);
            }
            if !range.end.is_after(known.end) {
                return;
            }
            if let Some(inner) = inner.filter(|inner| inner.start.is_before(known.end)) {
                // tcp_maybe_skipping_dsack
                self.walk(inner, true, None);
            }
            range.start = known.end;
            seen.drop_first();
        }
    }

    /// Notes every segment that lies wholly in the block (`tcp_sacktag_walk`).
    fn walk(&mut self, range: SeqRange, duplicate: bool, inner: Option<SeqRange>) {
        // tcp_sacktag_skip: the walk never goes back.
        let ahead = self.cursor.filter(|index| {
            *index < self.flight.queue.len()
                && self.flight.queue.at(*index).seq.is_after(range.start)
        });
        let Some(mut index) = ahead.or_else(|| self.flight.queue.find(range.start)) else {
            self.cursor = None;
            return;
        };
        while index < self.flight.queue.len()
            && self.flight.queue.at(index).seq.is_before(range.end)
        {
            let dup = inner.is_some_and(|inner| self.flight.cut_to_block(index, inner));
            if dup || self.flight.cut_to_block(index, range) {
                self.tag_one(index, duplicate || dup);
            }
            index += 1;
        }
        self.cursor = Some(index);
    }

    /// Notes one segment as SACKed (`tcp_sacktag_one`).
    fn tag_one(&mut self, index: usize, duplicate: bool) {
        let segment = *self.flight.queue.at(index);
        let count = segment.count();
        let mut marks = segment.marks;
        if duplicate && marks.any(Marks::ANY_RETRANSMISSION) {
            self.arrival.episode.undo.note_spurious(segment.end, count);
            if segment.is_sacked() && segment.seq.is_before(self.tagged.late) {
                self.tagged.late = segment.seq;
            }
        }
        if !segment.end.is_after(self.flight.una) {
            // About to be taken off.
            self.arrival.delivery.take(self.flight.queue.at_mut(index));
            return;
        }
        if !segment.is_sacked() {
            self.arrival.advance_rack(&segment);
            if segment.has_retransmission_out() {
                // A retransmission of what is not lost stays in flight.
                if segment.is_lost() {
                    marks.clear(Marks::LOST | Marks::RETRANSMISSION_OUT);
                    self.flight.queue.counts.lost -= count;
                    self.flight.queue.counts.retransmissions -= count;
                }
            } else {
                if !marks.any(Marks::ANY_RETRANSMISSION) {
                    let highest = self.flight.queue.highest_sack(self.flight.una);
                    self.tagged
                        .note_original(&segment, highest, self.arrival.episode.point);
                }
                if segment.is_lost() {
                    marks.clear(Marks::LOST);
                    self.flight.queue.counts.lost -= count;
                }
            }
            marks.set(Marks::SACKED);
            self.tagged.outcome.set(AckOutcome::SACKED);
            self.flight.queue.counts.sacked += count;
            self.tagged.delivered += count;
            if !self.arrival.detection.fack {
                self.flight.queue.count_below_hint(segment.seq, count);
            }
            if self.flight.settings.loss.reordering_unit == ReorderingUnit::Segments {
                let reach = self.flight.queue.packets_before(index) + count;
                self.flight.fack.reach = self.flight.fack.reach.max(reach);
            }
        }
        if duplicate && marks.any(Marks::RETRANSMISSION_OUT) {
            // Both the original and the retransmission arrived.
            marks.clear(Marks::RETRANSMISSION_OUT);
            self.flight.queue.counts.retransmissions -= count;
        }
        self.flight.queue.at_mut(index).marks = marks;
        self.arrival.delivery.take(self.flight.queue.at_mut(index));
        if marks.any(Marks::SACKED) {
            self.flight.queue.unlist(index);
            if !self.flight.sizes.apart {
                self.flight.queue.join_sacked(index, segment.marks);
            }
        }
        if !segment
            .seq
            .is_before(self.flight.queue.highest_sack(self.flight.una))
        {
            self.flight.queue.advance_highest_sack(segment.end);
        }
    }
}

impl SeenBlocks {
    fn drop_first(&mut self) {
        self.blocks.rotate_left(1);
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: fn(Option<u32>) -> Bounds = |marker| Bounds {
        una: SeqNum::new(1000),
        nxt: SeqNum::new(5000),
        undo_marker: marker.map(SeqNum::new),
        largest_window: 400,
    };

    fn range(start: u32, end: u32) -> SeqRange {
        let [start, end] = [start, end].map(SeqNum::new);
        SeqRange { start, end }
    }

    #[test]
    fn a_block_lies_in_what_is_out_and_a_d_sack_in_what_undo_asks_for() {
        let plain = BOUNDS(None);
        assert!(plain.allow(range(2000, 5000), false));
        for wrong in [range(2000, 5001), range(3000, 3000), range(900, 2000)] {
            assert!(!plain.allow(wrong, false), "{wrong:?}");
        }
        assert!(!plain.allow(range(800, 900), true));
        let undo = BOUNDS(Some(700));
        assert!(undo.allow(range(700, 900), true) && !undo.allow(range(700, 900), false));
        // Across the marker as far as a window, and not below it.
        assert!(undo.allow(range(600, 800), true) && !undo.allow(range(300, 800), true));
        assert!(!undo.allow(range(600, 700), true));
    }

    #[test]
    fn blocks_are_sorted_and_the_d_sack_keeps_its_mark() {
        let options = [range(800, 900), range(4000, 4500), range(2000, 3000)];
        let blocks = Blocks::select(&options, true, SeqNum::new(850), &BOUNDS(Some(700)));
        let expected = [range(800, 900), range(2000, 3000), range(4000, 4500)];
        assert_eq!(&blocks.ranges[..blocks.len], &expected);
        assert_eq!(blocks.duplicate, Some(0));
    }
}

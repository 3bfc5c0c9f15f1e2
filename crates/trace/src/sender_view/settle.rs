//! When nothing more is to be learned of a retransmission: whether it was needed, what made it, and its row.

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Duration;

use super::need::{self, Scene};
use super::open::{row, Settled};
use super::pieces::MOST_PARTS;
use super::{column_of, position_of, SenderView, MOST_PIECES};
use crate::emulate::mechanism;
use crate::rows::{Evidence, Position, Retransmission};
use crate::whatif::Resolved;

/// A retransmission waits so long for a duplicate report after all is acknowledged, and twice the largest round trip more.
const PATIENCE: Duration = Duration::from_secs(1);
/// Retransmissions of which the need is known and whose mechanism waits for what the rest of the connection says of its
/// sender.
const MOST_UNNAMED: usize = 64;

impl SenderView {
    /// Settles retransmissions of which no more is to be learned, and drops what is done with.
    pub(super) fn settle(&mut self) {
        let now = self.merge.now();
        let patience = self.measured.rtts.most() * 2 + PATIENCE;
        while let Some(first) = self.verdicts.waiting.front() {
            let over = first.recovered.is_some_and(|at| now > at + patience);
            let crowded = self.verdicts.waiting.len() > self.most_retransmissions
                || self.board.pieces.len() > MOST_PIECES;
            if !over && !crowded {
                break;
            }
            self.settle_first();
        }
        let first = self.verdicts.waiting.first_number();
        let crowded = self.board.pieces.len() > MOST_PIECES;
        self.board.pieces.trim(|piece| {
            let open =
                first.is_some_and(|first| piece.again.last().is_some_and(|c| c.number >= first));
            let recent = piece.covered.is_some_and(|c| now <= c.at + patience);
            open || (recent && !crowded)
        });
    }

    /// Settles the oldest retransmission as it stands.
    pub(super) fn settle_first(&mut self) {
        let Some(open) = self.verdicts.waiting.pop() else {
            return;
        };
        self.mark_resets((open.start, open.end));
        self.mark_returned((open.start, open.end));
        let scene = self.scene();
        let (need, evidence) = need::of_retransmission(
            &self.board.pieces,
            (open.start, open.end),
            open.number,
            &scene,
        );
        let sure = matches!(evidence, Evidence::AlreadyAcked | Evidence::AckTooEarly);
        self.reports.unreported += u32::from(sure && need == Need::Spurious);
        self.verdicts.tell_all();
        let verdict = self.verdicts.explain(&open, &self.complete(&open.witness));
        if let Some(replay) = &mut self.verdicts.replay {
            replay.resolved(&Resolved {
                number: open.number,
                mechanism: verdict.judged.mechanism,
                need,
                episode: verdict.episode,
                detection: open.since_sent(),
                timer: verdict.judged.timer,
                waited: open.waited.0,
                flight_segments: open.flight.0,
            });
        }
        self.verdicts.unnamed.push_back((open, need, evidence));
        if self.verdicts.unnamed.len() > MOST_UNNAMED {
            self.name_first();
        }
    }

    /// Asks the emulations what made the oldest retransmission that waits for it.
    pub(super) fn name_first(&mut self) {
        let (Some(line), Some((mut open, need, evidence))) =
            (self.board.line, self.verdicts.unnamed.pop_front())
        else {
            return;
        };
        open.witness = self.complete(&open.witness);
        let verdict = self.verdicts.explain(&open, &open.witness);
        self.verdicts.judges.forget_before(open.number + 1);
        // A SYN or a FIN is no byte, and what is new in the packet was not sent before.
        let again = u64::from(open.length).min((open.end - open.start) as u64);
        self.measured.row.measures.bytes_retransmitted += again;
        let settled = Settled {
            direction: self.direction,
            verdict,
            need,
            evidence,
            position: self.times.clock.position(),
            disordered: self.measured.row.reordered > 0,
            range: line.range(open.start, open.end),
        };
        let mut row = row(&open, settled);
        mechanism::settle(&mut row, self.uncalibrated);
        if self
            .even
            .is_unknown(open.at - open.witness.since_sent.0, open.at)
        {
            Self::forget_times(&mut row);
        }
        self.count(row.mechanism, row.need);
        let waits = &mut self.measured.waits;
        waits.add(open.at, row.waited, position_of(row.mechanism));
        waits.may_be(open.at, row.waited, row.waited_most);
        self.verdicts
            .episode
            .add(&open, row, &mut self.verdicts.ready);
        if self.verdicts.episode.len() > self.most_retransmissions {
            self.verdicts.episode.flush(&mut self.verdicts.ready);
        }
    }

    /// Nothing tells how long it was since the packet was sent before: the monitor's clock was set meanwhile.
    fn forget_times(row: &mut Retransmission) {
        (row.detection, row.detection_most, row.timer) = (None, None, None);
        if !row.evidence.is_told_without_times() {
            (row.need, row.evidence) = (Need::Unknown, Evidence::None);
            row.need_confidence = 0.0;
        }
    }

    /// Marks the copies of these places that a reset answered.
    fn mark_resets(&mut self, (start, end): (i64, i64)) {
        let Some(line) = self.board.line.filter(|_| !self.resets.is_empty()) else {
            return;
        };
        let resets = &self.resets;
        for piece in self.board.pieces.within(start, end).take(MOST_PARTS) {
            for copy in piece.what.copies_mut() {
                copy.reset = copy.seen && resets.has_answered(copy.at, line.seq(copy.from));
            }
        }
    }

    fn count(&mut self, mechanism: Mechanism, need: Need) {
        self.measured.row.retransmissions[position_of(mechanism)][column_of(need)] += 1;
    }

    /// What the question of need is answered from.
    fn scene(&self) -> Scene {
        Scene {
            beyond: self.times.clock.beyond().unwrap_or(Duration::ZERO),
            reports: self.reports.are_made(self.facts.sack, self.is_old()),
            network_doubles: self.reports.network_doubles,
            delays: self.is_old(),
            at_server: !self.facts.client && self.times.clock.position() == Position::Sender,
            at_receiver: self.times.clock.is_at_receiver(),
        }
    }

    /// Whether the receiver is of the time before RFC 2883 was common, as one that neither stamps nor scales.
    const fn is_old(&self) -> bool {
        !self.facts.timestamps && self.facts.window_shift == 0
    }
}

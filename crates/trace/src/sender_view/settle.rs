//! When nothing more is to be learned of a retransmission: whether it was needed, what made it, and its row.

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Duration;

use super::need::{self, Scene};
use super::open::{self, Settled};
use super::{position_of, SenderView, MOST_PIECES};
use crate::rows::{Evidence, Position};
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
        let patience = self.rtts.most() * 2 + PATIENCE;
        while let Some(first) = self.waiting.front() {
            let over = first.recovered.is_some_and(|at| now > at + patience);
            let crowded =
                self.waiting.len() > self.most_retransmissions || self.pieces.len() > MOST_PIECES;
            if !over && !crowded {
                break;
            }
            self.settle_first();
        }
        let first = self.waiting.first_number();
        let crowded = self.pieces.len() > MOST_PIECES;
        self.pieces.trim(|piece| {
            let open =
                first.is_some_and(|first| piece.again.last().is_some_and(|c| c.number >= first));
            let recent = piece.covered.is_some_and(|c| now <= c.at + patience);
            open || (recent && !crowded)
        });
    }

    /// Settles the oldest retransmission as it stands.
    pub(super) fn settle_first(&mut self) {
        let Some(open) = self.waiting.pop() else {
            return;
        };
        let scene = self.scene();
        let (need, evidence) =
            need::of_retransmission(&self.pieces, (open.start, open.end), open.number, &scene);
        let sure = matches!(evidence, Evidence::AlreadyAcked | Evidence::AckTooEarly);
        self.unreported += u32::from(sure && need == Need::Spurious);
        while let Some(event) = self.held.pop() {
            self.judge(&event);
        }
        if let Some(replay) = &mut self.replay {
            let verdict = self
                .judges
                .verdict(open.number)
                .unwrap_or_else(|| open::no_verdict(open.episode));
            replay.resolved(&Resolved {
                number: open.number,
                mechanism: verdict.judged.mechanism,
                need,
                episode: verdict.episode,
                detection: open.previous.map(|at| open.at - at),
                timer: verdict.judged.timer,
                waited: open.waited,
                flight_segments: open.flight.0,
            });
        }
        self.unnamed.push_back((open, need, evidence));
        if self.unnamed.len() > MOST_UNNAMED {
            self.name_first();
        }
    }

    /// Asks the emulations what made the oldest retransmission that waits for it.
    pub(super) fn name_first(&mut self) {
        let (Some(line), Some((open, need, evidence))) = (self.line, self.unnamed.pop_front())
        else {
            return;
        };
        let verdict = self
            .judges
            .verdict(open.number)
            .unwrap_or_else(|| open::no_verdict(open.episode));
        self.judges.forget_before(open.number + 1);
        let mechanism = verdict.judged.mechanism;
        self.count(mechanism, need);
        // A SYN or a FIN is no byte, and what is new in the packet was not sent before.
        let again = u64::from(open.length).min((open.end - open.start) as u64);
        self.row.measures.bytes_retransmitted += again;
        self.waits.add(open.at, open.waited, position_of(mechanism));
        let settled = Settled {
            direction: self.direction,
            verdict,
            need,
            evidence,
            position: self.clock.position(),
            range: line.range(open.start, open.end),
        };
        self.episode.add(&open, settled, &mut self.ready);
        if self.episode.len() > self.most_retransmissions {
            self.episode.flush(&mut self.ready);
        }
    }

    fn count(&mut self, mechanism: Mechanism, need: Need) {
        let column = usize::from(need == Need::Spurious);
        self.row.retransmissions[position_of(mechanism)][column] += 1;
    }

    /// What the question of need is answered from.
    fn scene(&self) -> Scene {
        Scene {
            beyond: self.clock.beyond().unwrap_or(Duration::ZERO),
            reports: self.reports(),
            network_doubles: self.network_doubles,
            delays: self.is_old(),
            at_server: !self.facts.client && self.clock.position() == Position::Sender,
            at_receiver: self.clock.is_at_receiver(),
        }
    }

    /// Whether the receiver reports duplicates, as far as it has shown.
    const fn reports(&self) -> bool {
        let silent = self.unreported > 1 || self.answers > 0 || self.is_old();
        self.facts.sack && (self.reports > 0 || !silent)
    }

    /// Whether the receiver is of the time before RFC 2883 was common, as one that neither stamps nor scales.
    const fn is_old(&self) -> bool {
        !self.facts.timestamps && self.facts.window_shift == 0
    }
}

//! Whether a re-injection was needed, once its connection is over.

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, SeqNum, SeqRange};

use super::data::Reinjection;
use super::group::Group;
use super::sent::Copy;
use super::subflow::Resent;
use crate::analyzer::{Of, Rows};
use crate::event::Direction;
use crate::rows::{Evidence, OnSubflow, Retransmission};

/// What became of the copies that went before a re-injection.
type Fate = (Need, Evidence);

impl Group {
    /// Settles the oldest re-injection of a side's data: its row goes to `out`.
    pub(super) fn settle_first(&mut self, side: usize, out: &mut Rows) {
        let Some(mut open) = self.data[side].take_first() else {
            return;
        };
        if let Some(own) = self.resend_of(&open.copy, side, &open) {
            // The subflow sent it again; its first copy never came by. What came by elsewhere before was the re-injection.
            let first = open.before.iter().min_by_key(|before| before.sent).copied();
            let (Some(first), true) = (first, own.unseen) else {
                return;
            };
            if first.subflow == open.copy.subflow || self.is_open(side, &first, &open) {
                return;
            }
            let fate = (own.need, own.evidence);
            open.before = vec![open.copy];
            open.copy = first;
            self.give_row(side, &open, fate, false, out);
            return;
        }
        let fate = self.fate(side, &open);
        self.give_row(side, &open, fate, true, out);
    }

    /// The subflow's own resend that the packet of `copy` is.
    fn resend_of(&self, copy: &Copy, side: usize, open: &Reinjection) -> Option<Resent> {
        let range = range(copy, open.start, open.end);
        let resent = self.resent.iter().find(|resent| {
            resent.subflow == copy.subflow
                && resent.at == copy.at
                && self.side_of(resent) == Some(side)
                && resent.range.intersects(range)
        });
        resent.copied()
    }

    fn side_of(&self, resent: &Resent) -> Option<usize> {
        let subflow = self.subflows.get(resent.subflow as usize)?;
        Some(subflow.side(resent.direction))
    }

    /// Whether the packet of `copy` is known as a re-injection.
    fn is_open(&self, side: usize, copy: &Copy, of: &Reinjection) -> bool {
        self.data[side].open().iter().any(|open| {
            open.copy.subflow == copy.subflow
                && open.copy.shift == copy.shift
                && open.start < of.end
                && of.start < open.end
        })
    }

    /// Whether the data had arrived without it.
    fn fate(&self, side: usize, open: &Reinjection) -> Fate {
        if open.una >= open.end {
            return (Need::Spurious, Evidence::AlreadyAcked);
        }
        let mut lost = None;
        for before in &open.before {
            match self.fate_of(before, side, open) {
                (Need::Needed, evidence) => lost = Some(evidence),
                other => return other,
            }
        }
        match (lost, open.covered) {
            (Some(evidence), _) => (Need::Needed, evidence),
            // What stood still before it went on after it.
            (None, Some(_)) if open.start <= open.una => (Need::Needed, Evidence::HoleFilled),
            _ => (Need::Unknown, Evidence::None),
        }
    }

    /// Whether a copy of the data on another subflow, sent before, arrived: as the subflow's next resend says, or its
    /// acknowledgement without one.
    fn fate_of(&self, copy: &Copy, side: usize, open: &Reinjection) -> Fate {
        let range = range(copy, open.start, open.end);
        let next = self
            .resent
            .iter()
            .filter(|resent| {
                resent.subflow == copy.subflow
                    && resent.at > open.copy.at
                    && self.side_of(resent) == Some(side)
                    && resent.range.intersects(range)
            })
            .min_by_key(|resent| resent.at);
        if let Some(next) = next {
            return (next.need, next.evidence);
        }
        let subflow = self.subflows.get(copy.subflow as usize);
        let acked = subflow.and_then(|subflow| {
            let half = &subflow.halves[subflow.direction(side) as usize];
            half.acked
        });
        if acked.is_some_and(|acked| !acked.is_before(range.end)) {
            (Need::Spurious, Evidence::SubflowAcked)
        } else if open.covered.is_some() && subflow.is_some_and(|subflow| subflow.ended) {
            // The subflow never got it.
            (Need::Needed, Evidence::HoleFilled)
        } else {
            (Need::Unknown, Evidence::None)
        }
    }

    fn give_row(
        &mut self,
        side: usize,
        open: &Reinjection,
        (need, evidence): Fate,
        seen: bool,
        out: &mut Rows,
    ) {
        let before = open.before.iter().min_by_key(|before| before.sent).copied();
        let first = before.and_then(|before| {
            let subflow = self.subflows.get(before.subflow as usize)?;
            let flow = subflow.flow(subflow.direction(side));
            Some((flow, before.subflow + 1))
        });
        let id = self.id;
        let Some(subflow) = self.subflows.get_mut(open.copy.subflow as usize) else {
            return;
        };
        let direction = subflow.direction(side);
        let mut row = row(open, direction, (need, evidence), id, first);
        if !seen {
            row.first_sent = None;
            row.detection = None;
        }
        let half = &mut subflow.halves[direction as usize];
        let column = usize::from(need == Need::Spurious);
        half.reinjections[column] += 1;
        if let (true, Some(waited)) = (half.last_lost_episode != Some(open.episode), row.detection)
        {
            half.last_lost_episode = Some(open.episode);
            half.lost += waited;
        }
        let whose = subflow.whose;
        let of = Of {
            connection: whose.connection,
            start: whose.start,
            flow: whose.flow,
            row,
        };
        out.retransmissions.push(of);
    }
}

/// The sequence numbers that `start..end` of the data have where the copy went.
fn range(copy: &Copy, start: i64, end: i64) -> SeqRange {
    let seq = |place: i64| SeqNum::new((place as u32).wrapping_add(copy.shift));
    SeqRange {
        start: seq(start),
        end: seq(end),
    }
}

/// When the packet of an earlier copy that came by at `at` would have, had it left on the way of `copy`. The monitor's
/// clock, unless it came by later than `copy`, which overtook it.
fn on_its_clock(before: &Copy, at: Time, copy: &Copy) -> Time {
    if before.at <= copy.at {
        at.min(copy.at)
    } else {
        copy.at - (copy.sent - before.sent)
    }
}

fn row(
    open: &Reinjection,
    direction: Direction,
    (need, evidence): Fate,
    connection: u64,
    first: Option<(FlowKey, u32)>,
) -> Retransmission {
    let copy = &open.copy;
    let before = open.before.iter();
    let first_sent = before
        .clone()
        .map(|before| on_its_clock(before, before.at, copy))
        .min();
    let previous = before
        .clone()
        .map(|before| on_its_clock(before, before.last, copy))
        .max();
    Retransmission {
        direction,
        time: copy.at,
        range: range(copy, open.start, open.end),
        length: open.length,
        first_sent,
        copy: before.map(|before| before.times).sum::<u32>().max(1),
        mechanism: Mechanism::MptcpReinject,
        confidence: 1.0,
        runner_up: None,
        either: false,
        need,
        evidence,
        // Apart from the subflow's own episodes.
        episode: u32::MAX - open.episode,
        episode_cause: Mechanism::MptcpReinject,
        detection: previous.map(|at| copy.at - at),
        recovery: open.recovered.map(|at| at - open.begun),
        timer: None,
        opinions: None,
        moving_rtt: None,
        flight_segments: open.flight.0,
        flight_bytes: open.flight.1,
        lost_in_flight: u32::from(need == Need::Needed),
        multipath: Some(Box::new(OnSubflow { connection, first })),
    }
}

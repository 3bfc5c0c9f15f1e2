//! Whether a re-injection was needed, once its connection is over.

use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};
use rexmit_wire::{FlowKey, SeqNum, SeqRange};

use super::data::Reinjection;
use super::group::Group;
use super::sent::{Copy, Resent};
use super::subflow::Retransmitted;
use crate::analyzer::{Of, Rows};
use crate::emulate::mechanism::{self, decide};
use crate::event::Direction;
use crate::necessary::Witness;
use crate::rows::{Evidence, OnSubflow, Position, Retransmission};
use crate::sender_view::column_of;

/// What became of the copies that went before a re-injection.
type Fate = (Need, Evidence);

impl Group {
    /// Settles the oldest re-injection of a side's data: its row goes to `out`.
    pub(super) fn settle_first(&mut self, side: usize, out: &mut Rows) {
        let Some(open) = self.data[side].take_first() else {
            return;
        };
        let fate = self.fate(side, &open);
        self.give_row(side, &open, fate, out);
    }

    /// Finds those that are retransmissions of their own subflow whose first copies never came by: what came by elsewhere
    /// before was the re-injection.
    pub(super) fn turn(&mut self, side: usize) {
        let all = self.data[side].take_all();
        let (own, mut kept): (Vec<_>, Vec<_>) = all.into_iter().partition(|open| {
            let range = (open.start(), open.end());
            self.retransmission_of(&open.copy, side, range).is_some()
        });
        for mut open in own {
            let Some(first) = open.first().copied() else {
                continue;
            };
            if first.subflow == open.copy.subflow {
                continue;
            }
            let part = Resent {
                start: open.start(),
                end: open.end(),
                before: vec![open.copy],
            };
            let known = kept.iter_mut().find(|other| other.copy.same_packet(&first));
            match known {
                Some(other) => other.add(part),
                None => {
                    open.parts = vec![part];
                    // What was acknowledged then is not known any more.
                    open.una = i64::MIN;
                    open.copy = first;
                    kept.push(open);
                }
            }
        }
        kept.sort_by_key(|open| open.copy.at);
        self.data[side].put_back(kept);
    }

    /// The subflow's own retransmission that the first packet at the copy's place is.
    fn retransmission_of(
        &self,
        copy: &Copy,
        side: usize,
        (start, end): (i64, i64),
    ) -> Option<Retransmitted> {
        let range = range(copy, start, end);
        let retransmitted = self.retransmitted.iter().find(|retransmitted| {
            retransmitted.subflow == copy.subflow
                && retransmitted.at == copy.at
                && self.side_of(retransmitted) == Some(side)
                && retransmitted.range.intersects(range)
        });
        retransmitted.copied()
    }

    fn side_of(&self, retransmitted: &Retransmitted) -> Option<usize> {
        let subflow = self.subflows.get(retransmitted.subflow as usize)?;
        Some(subflow.side(retransmitted.direction))
    }

    /// Whether all of its data had arrived without it.
    fn fate(&self, side: usize, open: &Reinjection) -> Fate {
        if open.una >= open.end() {
            return (Need::Spurious, Evidence::AlreadyAcked);
        }
        let mut all = (Need::Unknown, Evidence::None);
        for part in &open.parts {
            match self.fate_of_part(part, side, open) {
                (Need::Needed, evidence) => return (Need::Needed, evidence),
                (Need::Spurious, evidence) if all.0 == Need::Unknown => {
                    all = (Need::Spurious, evidence);
                }
                (Need::Spurious, _) => {}
                unknown => return unknown,
            }
        }
        all
    }

    fn fate_of_part(&self, part: &Resent, side: usize, open: &Reinjection) -> Fate {
        if open.una >= part.end {
            return (Need::Spurious, Evidence::AlreadyAcked);
        }
        let mut lost = None;
        for before in &part.before {
            match self.fate_of(before, part, side, open) {
                (Need::Needed, evidence) => lost = Some(evidence),
                other => return other,
            }
        }
        match (lost, open.covered) {
            (Some(evidence), _) => (Need::Needed, evidence),
            // What stood still before it went on after it.
            (None, Some(_)) if part.start <= open.una => (Need::Needed, Evidence::HoleFilled),
            _ => (Need::Unknown, Evidence::None),
        }
    }

    /// Whether a copy of the data at another place, sent before, arrived: as the subflow's next retransmission says, or its
    /// acknowledgement without one.
    fn fate_of(&self, copy: &Copy, part: &Resent, side: usize, open: &Reinjection) -> Fate {
        let range = range(copy, part.start, part.end);
        let next = self
            .retransmitted
            .iter()
            .filter(|retransmitted| {
                retransmitted.subflow == copy.subflow
                    && retransmitted.at > open.copy.at
                    && self.side_of(retransmitted) == Some(side)
                    && retransmitted.range.intersects(range)
            })
            .min_by_key(|retransmitted| retransmitted.at);
        if let Some(next) = next {
            return (next.need, next.evidence);
        }
        let subflow = self.subflows.get(copy.subflow as usize);
        let acked = subflow.and_then(|subflow| {
            let flow = &subflow.directions[subflow.direction(side) as usize];
            flow.acked
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

    /// When its data were sent first, if that is known, and on which subflow.
    fn first_of(&self, side: usize, open: &Reinjection) -> Option<(Option<Time>, u32)> {
        let parts = open.parts.iter().filter_map(|part| {
            let first = part.before.iter().min_by_key(|before| before.sent)?;
            let own = self.retransmission_of(first, side, (part.start, part.end));
            let at = own.map_or_else(|| Some(came_by(first, &open.copy)), |own| own.first_sent);
            Some((at, first.subflow))
        });
        parts.min_by_key(|(at, _)| at.unwrap_or(Time::MAX))
    }

    fn give_row(
        &mut self,
        side: usize,
        open: &Reinjection,
        (need, evidence): Fate,
        out: &mut Rows,
    ) {
        let before = self.first_of(side, open);
        let first_sent = before.and_then(|(at, _)| at);
        let first = before.and_then(|(_, before)| {
            let subflow = self.subflows.get(before as usize)?;
            let flow = subflow.flow(subflow.direction(side));
            Some((flow, before + 1))
        });
        let id = self.id;
        let Some(subflow) = self.subflows.get_mut(open.copy.subflow as usize) else {
            return;
        };
        let direction = subflow.direction(side);
        let whose = subflow.whose;
        let mut row = row(open, direction, (need, evidence), first_sent, (id, first));
        row.waited = waited(open, whose.start, first_sent);
        (row.waited_most, row.detection_most) = (row.waited, row.detection);
        let flow = &mut subflow.directions[direction as usize];
        flow.reinjections[column_of(need)] += 1;
        flow.waited += row.waited;
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

/// When an earlier copy came by. One that came by later than `copy`, which overtook it: when it would have on its way.
fn came_by(before: &Copy, copy: &Copy) -> Time {
    if before.at <= copy.at {
        before.at
    } else {
        copy.at - (copy.sent - before.sent)
    }
}

/// How long the sender had waited for a re-injection: from its last transmission on any subflow, as far as the subflow on
/// which it went was there.
fn waited(open: &Reinjection, start: Time, first_sent: Option<Time>) -> Duration {
    let since = open.since.max(first_sent).unwrap_or(open.copy.at);
    let waited = open.copy.at.since(since.max(start));
    waited.max(Duration::ZERO)
}

fn row(
    open: &Reinjection,
    direction: Direction,
    (need, evidence): Fate,
    first_sent: Option<Time>,
    (connection, first): (u64, Option<(FlowKey, u32)>),
) -> Retransmission {
    let copy = &open.copy;
    let judged = decide(mechanism::Evidence::OtherSubflow, &Witness::default());
    let before = open.parts.first().map(|part| part.before.iter());
    let times = before.map_or(0, |before| before.map(|before| before.times).sum());
    Retransmission {
        direction,
        time: copy.at,
        range: range(copy, open.start(), open.end()),
        length: open.length,
        first_sent,
        copy: times.max(1),
        mechanism: judged.mechanism,
        confidence: judged.confidence,
        runner_up: judged.runner_up,
        shown: true,
        disordered: false,
        certainty: 1.0,
        need_confidence: 1.0,
        position: Position::Unknown,
        either: judged.either,
        witness: Witness::default(),
        missing: None,
        need,
        evidence,
        // Apart from the subflow's own episodes.
        episode: u32::MAX - open.episode,
        episode_cause: judged.mechanism,
        detection: first_sent
            .map(|at| copy.at - at)
            .filter(|waited| !waited.is_negative()),
        detection_most: None,
        recovery: open.recovered.map(|at| at - open.begun),
        waited: Duration::ZERO,
        waited_most: Duration::ZERO,
        timer: judged.timer,
        opinions: None,
        moving_rtt: None,
        flight_segments: open.flight.0,
        flight_bytes: open.flight.1,
        lost_in_flight: u32::from(need == Need::Needed),
        multipath: Some(Box::new(OnSubflow { connection, first })),
    }
}

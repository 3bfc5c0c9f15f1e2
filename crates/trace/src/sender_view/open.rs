//! Retransmissions that wait for what becomes known later, and their rows.

use std::collections::VecDeque;

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::{Duration, Time};

use crate::emulate::mechanism::{self, decide};
use crate::emulate::Explanation;
use crate::event::Direction;
use crate::necessary::Witness;
use crate::rows::{Evidence, Position, Retransmission};

/// A retransmission that is not settled.
#[derive(Clone, Debug)]
pub(super) struct Unsettled {
    /// Its number, from 0.
    pub number: u32,
    /// When it came by the monitor.
    pub at: Time,
    /// Places of what had been sent before.
    pub start: i64,
    /// The place after.
    pub end: i64,
    /// Payload bytes.
    pub length: u32,
    /// Some of its places came by before.
    pub shown: bool,
    /// When its first place was sent first, if that was seen.
    pub first_sent: Option<Time>,
    /// What the packets show of it.
    pub witness: Witness,
    /// How long the sender had waited for it, at least and at most.
    pub waited: (Duration, Duration),
    /// How often its first place had been sent before.
    pub copy: u32,
    /// The place after the highest sent before it.
    pub high: i64,
    /// When that was acknowledged.
    pub recovered: Option<Time>,
    /// Segments and bytes sent and not acknowledged.
    pub flight: (u32, u32),
    /// Moving average of the round-trip time.
    pub moving: Option<Duration>,
    /// Counts up when all that was sent before the first retransmission since has been acknowledged.
    pub episode: u32,
}

impl Unsettled {
    /// Since its first place was sent last before, if that was seen or is bounded; at least.
    pub(super) fn since_sent(&self) -> Option<Duration> {
        let (least, most) = self.witness.since_sent;
        (most < Duration::MAX).then_some(least)
    }
}

/// Retransmissions in their order until they are settled.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    open: VecDeque<Unsettled>,
    /// How many, from the front, have `recovered`.
    recovered: usize,
    episode: u32,
    episode_high: Option<i64>,
}

impl Waiting {
    /// None yet; they go into `recycled`.
    pub(super) fn within(recycled: VecDeque<Unsettled>) -> Self {
        Waiting {
            open: recycled,
            ..Waiting::default()
        }
    }

    /// Its collection.
    pub(super) fn leave(self) -> VecDeque<Unsettled> {
        self.open
    }

    /// A new one, of which all but the episode is filled in.
    pub(super) fn push(&mut self, mut retransmission: Unsettled, una: i64) {
        match self.episode_high {
            Some(high) if una < high => {}
            Some(_) => {
                self.episode += 1;
                self.episode_high = Some(retransmission.high);
            }
            None => self.episode_high = Some(retransmission.high),
        }
        retransmission.episode = self.episode;
        self.open.push_back(retransmission);
    }

    /// Everything below `una` was acknowledged at `at`.
    pub(super) fn advanced(&mut self, una: i64, at: Time) {
        while let Some(retransmission) = self.open.get_mut(self.recovered).filter(|r| r.high <= una)
        {
            retransmission.recovered = Some(at);
            self.recovered += 1;
        }
    }

    /// All of them, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Unsettled> {
        self.open.iter()
    }

    /// The oldest.
    pub(super) fn front(&self) -> Option<&Unsettled> {
        self.open.front()
    }

    /// The number of the oldest.
    pub(super) fn first_number(&self) -> Option<u32> {
        self.open.front().map(|r| r.number)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Takes the oldest.
    pub(super) fn pop(&mut self) -> Option<Unsettled> {
        self.recovered = self.recovered.saturating_sub(1);
        self.open.pop_front()
    }
}

/// Rows of one episode, which share some values.
#[derive(Debug, Default)]
pub(super) struct Episode {
    rows: Vec<Retransmission>,
    /// Of the last row: the number of its episode, and what began that.
    of: Option<(u32, Mechanism)>,
    recovery: Option<Duration>,
    lost: u32,
    last_lost: Option<i64>,
}

/// What settles a retransmission.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// Direction of its sender.
    pub direction: Direction,
    /// The emulations' verdict.
    pub verdict: Explanation,
    /// Whether it was needed.
    pub need: Need,
    /// What says so.
    pub evidence: Evidence,
    /// Where the monitor stood.
    pub position: Position,
    /// Packets of its sender overtook each other before the monitor.
    pub disordered: bool,
    /// What it carried.
    pub range: rexmit_wire::SeqRange,
}

/// The row of a retransmission, but for what it shares with others of its episode.
pub(super) fn row(open: &Unsettled, settled: Settled) -> Retransmission {
    let Explanation {
        judged,
        episode,
        opinions,
    } = settled.verdict;
    let witness = open.witness;
    let detection = open.since_sent();
    let mut row = Retransmission {
        direction: settled.direction,
        time: open.at,
        range: settled.range,
        length: open.length,
        first_sent: open.first_sent,
        copy: open.copy,
        mechanism: Mechanism::Unknown,
        confidence: 0.0,
        runner_up: None,
        shown: open.shown,
        disordered: settled.disordered,
        certainty: f64::from(open.shown),
        need_confidence: 1.0,
        position: settled.position,
        either: false,
        witness,
        missing: None,
        need: settled.need,
        evidence: settled.evidence,
        episode,
        episode_cause: Mechanism::Unknown,
        detection,
        detection_most: detection.map(|_| witness.since_sent.1),
        recovery: None,
        waited: open.waited.0,
        waited_most: open.waited.1,
        timer: None,
        opinions,
        moving_rtt: open.moving,
        flight_segments: open.flight.0,
        flight_bytes: open.flight.1,
        lost_in_flight: 0,
        multipath: None,
    };
    judged.rename(&mut row);
    row
}

impl Episode {
    /// None yet; rows go into `recycled`.
    pub(super) fn within(recycled: Vec<Retransmission>) -> Self {
        Episode {
            rows: recycled,
            ..Episode::default()
        }
    }

    /// Its collection.
    pub(super) fn leave(self) -> Vec<Retransmission> {
        self.rows
    }

    /// Adds a row. If it is of another episode than the ones before, those come out.
    pub(super) fn add(
        &mut self,
        open: &Unsettled,
        row: Retransmission,
        out: &mut Vec<Retransmission>,
    ) {
        let others = |r: &Retransmission| r.episode != row.episode;
        if self.rows.first().is_some_and(others) {
            self.flush(out);
        }
        if self.rows.is_empty() {
            self.recovery = open.recovered.map(|at| at - open.at);
            self.last_lost = None;
            self.lost = 0;
        }
        if row.need == Need::Needed && self.last_lost.is_none_or(|last| open.start >= last) {
            self.lost += 1;
            self.last_lost = Some(open.end);
        }
        let (_, episode_cause) = *match &mut self.of {
            Some(of) if of.0 == row.episode => of,
            of => of.insert((row.episode, row.mechanism)),
        };
        self.rows.push(Retransmission {
            episode_cause,
            recovery: self.recovery,
            ..row
        });
    }

    /// Gives out what there is.
    pub(super) fn flush(&mut self, out: &mut Vec<Retransmission>) {
        for mut row in self.rows.drain(..) {
            row.lost_in_flight = self.lost;
            out.push(row);
        }
    }

    /// How many rows wait.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// What stands for the verdict of emulations that have none.
pub(super) fn no_verdict(episode: u32, witness: &Witness) -> Explanation {
    Explanation {
        judged: decide(mechanism::Evidence::Nothing, witness),
        episode,
        opinions: None,
    }
}

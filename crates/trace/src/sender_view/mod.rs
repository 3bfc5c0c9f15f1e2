//! One direction of a connection as its sender saw it.

mod acknowledged;
mod board;
mod clock;
mod copies;
mod even;
mod held;
mod hidden;
mod ids;
mod line;
mod measured;
mod merge;
mod need;
mod numbers;
mod open;
mod order;
mod own_count;
mod pieces;
mod prompted;
mod receiver;
mod recycled;
mod resets;
mod rtt;
mod settle;
pub(crate) mod stamps;
mod steps;
#[cfg(test)]
mod tests;
mod times;
mod unacked;
mod verdicts;
mod witness;

use rexmit_tcp::{Mechanism, Need, SackList};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Intervals, SeqRange};

use crate::cost::Waits;
use crate::emulate::Judges;
use crate::event::{packets_of, Direction, Event};
use crate::facts::SenderFacts;
use crate::rows::{Retransmission, SenderRow, WhatIf};
use crate::settings::Settings;
use crate::whatif::Replay;

use board::Board;
pub(crate) use clock::is_beside;
use clock::Delays;
pub(crate) use copies::NO_TIMER;
use even::Even;
use measured::Measured;
use merge::{Ack, Merge, Next};
use numbers::Numbers;
use pieces::Pieces;
use receiver::{Receiver, Repeats, Reports};
use resets::Resets;
use times::Times;
use verdicts::Verdicts;
use witness::Heard;

pub(crate) use line::SeqSpace;
pub(crate) use own_count::{cut, OwnCount};
pub(crate) use prompted::{Returned, MOST_RETURNED};
pub use recycled::Recycled;

/// Pieces kept before the oldest retransmissions are settled as they stand.
const MOST_PIECES: usize = 1 << 16;
/// Full segments where the maximum is not known (RFC 9293 §3.7.1).
const DEFAULT_MSS: u32 = 536;

/// One direction of a connection: the sender's packets, and the acknowledgements that come back.
///
/// Both come in the order in which the monitor saw them. [`SenderView::finish`] gives what is left.
#[derive(Debug)]
pub struct SenderView {
    direction: Direction,
    facts: SenderFacts,
    mss: u32,
    /// What each packet bears of those that came by merged.
    cut: u32,
    most_retransmissions: usize,
    uncalibrated: bool,
    even: Even,
    merge: Merge,
    times: Times,
    numbers: Numbers,
    board: Board,
    receiver: Receiver,
    heard: Heard,
    repeats: Repeats,
    reports: Reports,
    resets: Resets,
    verdicts: Verdicts,
    measured: Measured,
}

impl SenderView {
    /// A sender view whose sender sends in `direction`.
    #[must_use]
    pub fn new(direction: Direction, facts: &SenderFacts, settings: &Settings) -> Self {
        SenderView::within(direction, facts, settings, Recycled::default())
    }

    /// As [`SenderView::new`], in the memory that another has left.
    #[must_use]
    pub fn within(
        direction: Direction,
        facts: &SenderFacts,
        settings: &Settings,
        recycled: Recycled,
    ) -> Self {
        let mss = if facts.mss == 0 {
            DEFAULT_MSS
        } else {
            facts.mss
        };
        let cut = if facts.cut == 0 { mss } else { facts.cut };
        SenderView {
            direction,
            facts: *facts,
            mss,
            cut,
            most_retransmissions: settings.most_retransmissions.max(1),
            uncalibrated: settings.uncalibrated,
            even: Even::new(facts.late),
            merge: Merge::within(recycled.merge),
            times: Times::new(Delays::within(recycled.peer)),
            numbers: Numbers::new(
                (facts.counts_own, facts.peer_counts_own),
                OwnCount::new(cut, facts.count_refuted),
            ),
            board: Board {
                line: None,
                pieces: Pieces::new(mss, recycled.pieces),
                sacked: Intervals::default(),
                laid_out: 0,
                lately: recycled.lately,
            },
            receiver: Receiver::default(),
            heard: Heard::default(),
            repeats: Repeats::default(),
            reports: Reports::default(),
            resets: Resets::default(),
            verdicts: Verdicts::new(
                Judges::within(facts, settings.stacks, recycled.judges),
                settings
                    .whatif
                    .as_ref()
                    .map(|plan| Replay::new(direction, facts, plan)),
                recycled.verdicts,
            ),
            measured: Measured::default(),
        }
    }

    /// Other packets of the hosts have shown whether the sender, and its peer, number the packets of this connection apart.
    pub fn counted(&mut self, own: bool, peer_own: bool) {
        self.numbers.set_own(own);
        self.numbers.peer.set_own(peer_own);
    }

    /// A packet of the sender; its SACK blocks belong to the other direction.
    pub fn data(&mut self, event: &Event) {
        self.pass(event, SackList::default());
    }

    /// A packet of the receiver that acknowledges, with its SACK blocks. Its SYN may be given, too.
    pub fn ack(&mut self, event: &Event, sacks: &[SeqRange]) {
        let mut blocks = SackList::default();
        sacks.iter().for_each(|&block| blocks.push(block));
        self.pass(event, blocks);
    }

    /// Takes in what has its time on a clock that goes on evenly.
    fn pass(&mut self, event: &Event, blocks: SackList) {
        let mut next = self.even.came((*event, blocks));
        while let Some((event, blocks)) = next.take().or_else(|| self.even.next()) {
            self.take(&event, blocks);
        }
    }

    fn take(&mut self, event: &Event, blocks: SackList) {
        if event.direction == self.direction {
            self.take_data(event);
        } else {
            self.take_ack(event, blocks);
        }
    }

    fn take_data(&mut self, event: &Event) {
        let answers = event.flags.ack() && (event.flags.syn() || self.facts.client);
        if answers {
            self.times.clock.syn_answered(event.at);
        }
        if event.flags.ack() && !event.flags.rst() {
            self.times.clock.answered(event.ack, event.at);
        }
        if let Some((value, echo)) = event.timestamps {
            if !event.flags.rst() {
                let full = event.payload_len * 2 >= self.mss;
                let heard = match event.flags.ack() {
                    true => self.times.clock.echoed(echo, event.at, full),
                    false => None,
                };
                self.times.stamps.learn(value, event.at, heard);
            }
        }
        if !event.flags.rst() {
            let packets = packets_of(event.payload_len, self.cut);
            self.numbers.learn_own(event, packets);
            self.resets.sent(event);
        }
        let (clock, ids) = (&self.times.clock, &self.numbers.own);
        self.merge.sent(event, clock, ids);
        self.measured.row.reordered += self.merge.came_late();
        self.work();
    }

    fn take_ack(&mut self, event: &Event, blocks: SackList) {
        if event.flags.syn() {
            if event.flags.ack() && self.merge.count() == 0 {
                self.receiver.early_answer = Some(*event);
            }
            let stamp = event.timestamps.map(|(value, _)| value);
            self.times.clock.peer_syn(event.at, stamp);
            self.verdicts
                .judges
                .asked(event.at + self.times.clock.delay(true));
            if !event.flags.ack() {
                self.numbers.note_peer_syn(event);
            }
        } else if event.payload_len > 0 {
            self.times.clock.asked(event.range().end, event.at);
        }
        if let Some((value, _)) = event.timestamps {
            if !event.flags.rst() {
                self.times.clock.peer_stamp(value, event.at);
            }
        }
        if event.flags.rst() {
            if let Some(after) = self.resets.reset(event) {
                self.times.clock.acknowledged(after);
            }
        } else if event.flags.ack() {
            self.resets.lives();
        } else {
            return;
        }
        let ack = Ack {
            event: *event,
            blocks,
        };
        if self.doubled(&ack) {
            return;
        }
        self.numbers.proof.answered(event);
        if event.flags.rst() {
            self.receiver.resets.note(event.at);
        } else {
            self.receiver.last_heard = Some(ack);
        }
        self.merge.heard(ack);
        self.work();
    }

    /// Whether the capture shows the same packet of the receiver once more.
    fn doubled(&mut self, ack: &Ack) -> bool {
        let event = &ack.event;
        let double = self.receiver.last_heard.is_some_and(|last| {
            let same = Event {
                at: event.at,
                sacks: event.sacks,
                ..last.event
            };
            same == *event
                && last.blocks == ack.blocks
                && event.at - last.event.at < NO_TIMER
                && self.numbers.peer.equal(last.event.ip_id, event.ip_id) == Some(true)
        });
        if !double && !event.flags.syn() {
            let packets = packets_of(event.payload_len, self.mss);
            self.numbers.peer.learn(event.ip_id, event.seq, packets);
        }
        double
    }

    /// Packets, pieces of what was sent and waits that are kept: all else that grows with a connection grows with these.
    pub(crate) fn kept(&self) -> usize {
        self.board.pieces.len_with_copies() + self.merge.waiting() + self.measured.waits.len()
    }

    /// Moves out the rows of retransmissions that are settled, oldest first.
    pub fn settled(&mut self, out: &mut Vec<Retransmission>) {
        let largest = self.measured.rtts.most();
        for row in &self.verdicts.ready {
            self.measured.best_case.retransmission(row, largest);
        }
        for row in &mut self.verdicts.ready {
            self.even.record(row);
        }
        out.append(&mut self.verdicts.ready);
    }

    /// The connection is over: everything that is left, and what the sender did in all. Leaves its memory, how it waited, and how
    /// often the monitor's clock was set meanwhile and by how much at most.
    pub fn finish(
        mut self,
        retransmissions: &mut Vec<Retransmission>,
        whatif: &mut Vec<WhatIf>,
        row: &mut SenderRow,
    ) -> (Recycled, Waits, (u64, Duration)) {
        self.even.end();
        while let Some((event, blocks)) = self.even.next() {
            self.take(&event, blocks);
        }
        self.merge.end();
        self.work();
        self.verdicts.tell_all();
        while self.verdicts.waiting.len() > 0 {
            self.settle_first();
        }
        while !self.verdicts.unnamed.is_empty() {
            self.name_first();
        }
        self.verdicts.episode.flush(&mut self.verdicts.ready);
        self.settled(retransmissions);
        if let Some(replay) = self.verdicts.end_replay() {
            replay.finish(whatif);
        }
        self.summarise(row);
        let waits = core::mem::take(&mut self.measured.waits);
        let steps = self.even.steps();
        (self.leave(), waits, steps)
    }

    /// Takes in what has an order by now.
    fn work(&mut self) {
        while let Some(next) = self.next() {
            match next {
                Next::Sent(event, at, following) => {
                    self.times.note_wait(event.at - at);
                    self.send(&event, at);
                    if let Some(following) = following {
                        self.look_ahead(&event, &following);
                    }
                }
                Next::Heard(ack, at) => {
                    self.heard(&ack, at, true);
                    self.note_flight(at, false);
                }
                Next::NotHeard(ack, at) => {
                    self.heard(&ack, at, false);
                    self.note_flight(at, false);
                }
            }
        }
        self.settle();
    }

    /// The next that has an order.
    fn next(&mut self) -> Option<Next> {
        let (clock, stamps) = (&self.times.clock, &self.times.stamps);
        self.merge.next(clock, stamps, &self.numbers.own)
    }

    /// The sender sent this, then; what is measured of it.
    fn send(&mut self, event: &Event, at: Time) {
        let (nxt, probes) = (self.board.pieces.nxt(), self.measured.row.probes);
        self.sent(event, at);
        if self.measured.row.probes > probes {
            self.measured.row.measures.window_probes += u32::from(self.receiver.is_shut());
        } else if event.payload_len > 0 {
            self.measured.data_sent.note(event.at);
        }
        let new = event.payload_len > 0 && self.board.pieces.nxt() > nxt;
        self.note_flight(at, new);
    }

    fn note_flight(&mut self, at: Time, new: bool) {
        let flight = self.board.pieces.nxt() - self.board.pieces.una();
        let window = self.receiver.window.unwrap_or(0);
        let mss = self.mss;
        self.measured.note_flight(at, flight, window, mss, new);
    }

    fn summarise(&mut self, row: &mut SenderRow) {
        self.measured.give(row, self.facts.agreed);
        row.measures.unacked = self.unacked();
        row.position = Some(self.times.clock.position());
        row.monitor_delay = self.times.clock.known_delay();
        let identity = self.verdicts.judges.identity();
        row.stack = identity.stack;
        row.stack_confidence = identity.confidence;
        row.stacks = identity.stacks;
        row.parameters = identity.parameters;
        row.posterior = self.verdicts.judges.posterior();
        row.short_timers = core::mem::take(&mut self.heard.short);
    }
}

/// Where retransmissions of a need are counted: needed, spurious, and not known.
pub(crate) const fn column_of(need: Need) -> usize {
    match need {
        Need::Needed => 0,
        Need::Spurious => 1,
        Need::Unknown => 2,
    }
}

/// How many mechanisms there are.
pub(crate) const MECHANISMS: usize = Mechanism::ALL.len();

/// Where a mechanism stands in `Mechanism::ALL`.
pub(crate) fn position_of(mechanism: Mechanism) -> usize {
    Mechanism::ALL
        .iter()
        .position(|&m| m == mechanism)
        .unwrap_or(Mechanism::ALL.len() - 1)
}

//! One direction of a connection as its sender saw it.

mod acknowledged;
mod clock;
mod copies;
mod held;
mod hidden;
mod ids;
mod line;
mod merge;
mod need;
mod open;
mod pieces;
mod recycled;
mod rtt;
mod settle;
mod spans;
mod stamps;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rexmit_tcp::{Mechanism, Need, SackList};
use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use crate::cost::{BestCase, Silence, Waits};
use crate::emulate::Judges;
use crate::event::{Direction, Event, SenderEvent};
use crate::facts::SenderFacts;
use crate::measures::{window, Extent};
use crate::rows::{Evidence, Retransmission, SenderRow, WhatIf};
use crate::settings::Settings;
use crate::whatif::Replay;

use clock::Clock;
use held::Held;
use ids::Ids;
use line::Line;
use merge::{Ack, Merge, Next};
use open::{Episode, Open, Waiting};
use pieces::{Copy, Pieces};
use rtt::Rtts;
use spans::Spans;
use stamps::Stamps;

pub use recycled::Recycled;

/// Pieces kept before the oldest retransmissions are settled as they stand.
const MOST_PIECES: usize = 1 << 16;
/// Packets sent lately that are remembered.
const LATELY: usize = 256;
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
    most_retransmissions: usize,
    clock: Clock,
    stamps: Stamps,
    ids: Ids,
    peer_ids: Ids,
    merge: Merge,
    line: Option<Line>,
    pieces: Pieces,
    sacked: Spans,
    rtts: Rtts,
    /// Bytes the receiver offers, scaled.
    window: Option<u32>,
    /// The byte that was sent last into a window that was shut.
    refused: Option<i64>,
    /// Acknowledgements that repeated the one before and that nothing acknowledged since explains (without SACK).
    credit: u32,
    /// When it did so since the edge moved (without SACK).
    repeats: VecDeque<Time>,
    /// Most segments in order that one acknowledgement was for.
    longest_step: u32,
    last_heard: Option<Ack>,
    /// The last one that said anything, in the sender's order.
    last_heard_in_order: Option<Ack>,
    /// IP identification and payload of the last one.
    last_answer: Option<(Option<u16>, u32)>,
    /// The peer's SYN that nothing has followed yet: the number after it, and when it came by.
    peer_syn: Option<(SeqNum, Time)>,
    /// The packet with the newest IP identification.
    newest: Option<Event>,
    /// Packets lost before the monitor whose numbers are to come, and when that was.
    owed: u32,
    owed_at: Option<Copy>,
    /// What was sent last: when it came by, its first place, and whether it was sent before.
    lately: VecDeque<(Time, i64, bool)>,
    /// The way to the receiver and back, newest sample.
    beyond_now: Duration,
    /// How long packets without stamps waited before the monitor of late, as far as that is known.
    waited: Duration,
    /// Newest time given to an event.
    told: Time,
    held: Held,
    judges: Judges,
    replay: Option<Replay>,
    next_number: u32,
    waiting: Waiting,
    /// Retransmissions that wait for their mechanism, oldest first.
    unnamed: VecDeque<(Open, Need, Evidence)>,
    /// Duplicates that the receiver reported, and that it must have got and did not report.
    reports: u32,
    unreported: u32,
    /// Duplicates that it answered without such a report.
    answers: u32,
    /// Keep-alives and window probes whose answers are still to come.
    probed: u32,
    /// It reported duplicates of what was sent once.
    network_doubles: bool,
    episode: Episode,
    ready: Vec<Retransmission>,
    row: SenderRow,
    /// Since when the sender could have sent and has not, and what it waited before.
    silence: Silence,
    waits: Waits,
    best_case: BestCase,
    /// When the receiver's window was full.
    full: window::Full,
    /// When data were sent.
    data_sent: Extent,
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
        SenderView {
            direction,
            facts: *facts,
            mss,
            most_retransmissions: settings.most_retransmissions.max(1),
            clock: Clock::within(recycled.peer),
            stamps: Stamps::default(),
            ids: Ids::new(facts.counts_own),
            peer_ids: Ids::new(facts.peer_counts_own),
            merge: Merge::within(recycled.merge),
            line: None,
            pieces: Pieces::new(mss, recycled.pieces),
            sacked: Spans::within(recycled.sacked),
            rtts: Rtts::default(),
            window: None,
            refused: None,
            credit: 0,
            longest_step: 0,
            repeats: VecDeque::new(),
            last_heard: None,
            last_heard_in_order: None,
            last_answer: None,
            peer_syn: None,
            newest: None,
            owed: 0,
            owed_at: None,
            lately: recycled.lately,
            beyond_now: Duration::ZERO,
            waited: Duration::ZERO,
            told: Time::ZERO,
            held: Held::within(recycled.held),
            judges: Judges::within(facts, recycled.judges),
            replay: settings
                .whatif
                .as_ref()
                .map(|plan| Replay::new(direction, facts, plan)),
            next_number: 0,
            waiting: Waiting::within(recycled.open),
            unnamed: recycled.unnamed,
            reports: 0,
            unreported: 0,
            answers: 0,
            probed: 0,
            network_doubles: false,
            episode: Episode::within(recycled.rows),
            ready: recycled.ready,
            row: SenderRow::default(),
            silence: Silence::default(),
            waits: Waits::default(),
            best_case: BestCase::default(),
            full: window::Full::default(),
            data_sent: Extent::default(),
        }
    }

    /// Other packets of the hosts have shown whether the sender, and its peer, number the packets of this connection apart.
    pub fn counted(&mut self, own: bool, peer_own: bool) {
        self.ids.set_own(own);
        self.peer_ids.set_own(peer_own);
    }

    /// A packet of the sender, with its SACK blocks (which belong to the other half).
    pub fn data(&mut self, event: &Event) {
        let answers = event.flags.ack() && (event.flags.syn() || self.facts.client);
        if answers {
            self.clock.syn_answered(event.at);
        }
        if event.flags.ack() && !event.flags.rst() {
            self.clock.answered(event.ack, event.at);
        }
        if let Some((value, echo)) = event.timestamps {
            if !event.flags.rst() {
                let full = event.payload_len * 2 >= self.mss;
                let heard = match event.flags.ack() {
                    true => self.clock.echoed(echo, event.at, full),
                    false => None,
                };
                self.stamps.learn(value, event.at, heard);
            }
        }
        if !event.flags.rst() {
            let packets = event.payload_len.div_ceil(self.mss).max(1);
            self.ids.learn(event.ip_id, event.seq, packets);
        }
        self.merge.sent(event);
        self.work();
    }

    /// A packet of the receiver that acknowledges, with its SACK blocks. Its SYN may be given, too.
    pub fn ack(&mut self, event: &Event, sacks: &[SeqRange]) {
        if event.flags.syn() {
            self.clock.peer_syn(event.at);
            self.judges.asked(event.at + self.clock.delay(true));
            if !event.flags.ack() {
                self.last_answer = Some((event.ip_id, 0));
                self.peer_syn = Some((event.range().end, event.at));
            }
        } else if event.payload_len > 0 {
            self.clock.asked(event.range().end, event.at);
        }
        if let Some((value, _)) = event.timestamps {
            if !event.flags.rst() {
                self.clock.peer_stamp(value, event.at);
            }
        }
        if !event.flags.ack() && !event.flags.rst() {
            return;
        }
        let mut blocks = SackList::default();
        sacks.iter().for_each(|&block| blocks.push(block));
        let ack = Ack {
            event: *event,
            blocks,
        };
        if self.doubled(&ack) {
            return;
        }
        self.last_heard = Some(ack);
        self.merge.heard(ack);
        self.work();
    }

    /// Whether the capture shows the same packet of the receiver once more.
    fn doubled(&mut self, ack: &Ack) -> bool {
        let event = &ack.event;
        let double = self.last_heard.is_some_and(|last| {
            let same = Event {
                at: event.at,
                sacks: event.sacks,
                ..last.event
            };
            same == *event
                && last.blocks == ack.blocks
                && self.peer_ids.equal(last.event.ip_id, event.ip_id) == Some(true)
        });
        if !double && !event.flags.syn() {
            let packets = event.payload_len.div_ceil(self.mss).max(1);
            self.peer_ids.learn(event.ip_id, event.seq, packets);
        }
        double
    }

    /// Moves out the rows of retransmissions that are settled, oldest first.
    pub fn settled(&mut self, out: &mut Vec<Retransmission>) {
        let largest = self.rtts.most();
        for row in &self.ready {
            self.best_case.retransmission(row, largest);
        }
        out.append(&mut self.ready);
    }

    /// The connection is over: everything that is left, and what the sender did in all. Leaves its memory, and how it waited.
    pub fn finish(
        mut self,
        retransmissions: &mut Vec<Retransmission>,
        whatif: &mut Vec<WhatIf>,
        row: &mut SenderRow,
    ) -> (Recycled, Waits) {
        self.merge.end();
        self.work();
        while let Some(event) = self.held.pop() {
            self.judge(&event);
        }
        while self.waiting.len() > 0 {
            self.settle_first();
        }
        while !self.unnamed.is_empty() {
            self.name_first();
        }
        self.episode.flush(&mut self.ready);
        self.settled(retransmissions);
        if let Some(mut replay) = self.replay.take() {
            name_sender(&mut replay, &self.judges);
            replay.finish(whatif);
        }
        self.summarise(row);
        let waits = core::mem::take(&mut self.waits);
        (self.leave(), waits)
    }

    /// Takes in what has an order by now.
    fn work(&mut self) {
        while let Some(next) = self.merge.next(&self.clock, &self.stamps) {
            match next {
                Next::Sent(event, at, following) => {
                    let wait = (event.at - at).max(Duration::ZERO);
                    self.waited = wait.max(self.waited * 15 / 16);
                    self.send(&event, at);
                    if let Some(following) = following {
                        self.look_ahead(&event, &following);
                    }
                }
                Next::Heard(ack, at) => {
                    self.heard(&ack, at);
                    self.note_flight(at, false);
                }
            }
        }
        self.settle();
    }

    /// The sender sent this, then; what is measured of it.
    fn send(&mut self, event: &Event, at: Time) {
        let (nxt, probes) = (self.pieces.nxt(), self.row.probes);
        self.sent(event, at);
        if self.row.probes > probes {
            self.row.measures.window_probes += u32::from(self.window == Some(0));
        } else if event.payload_len > 0 {
            self.data_sent.note(event.at);
        }
        let new = event.payload_len > 0 && self.pieces.nxt() > nxt;
        self.note_flight(at, new);
    }

    fn note_flight(&mut self, at: Time, new: bool) {
        let flight = self.pieces.nxt() - self.pieces.una();
        let window = self.window.unwrap_or(0);
        self.full.note(at, flight, window, self.mss, new);
    }

    /// Hands an event on to the emulations, by and by.
    fn tell(&mut self, event: &SenderEvent) {
        self.held.push(*event);
        while let Some(event) = self.held.due() {
            self.judge(&event);
        }
    }

    fn judge(&mut self, event: &SenderEvent) {
        self.judges.event(event);
        if let Some(replay) = &mut self.replay {
            if replay.asks_for_sender() {
                name_sender(replay, &self.judges);
            }
            replay.event(event);
        }
    }

    /// No time goes back for the emulations.
    fn not_before(&mut self, at: Time) -> Time {
        self.told = self.told.max(at);
        self.told
    }

    fn summarise(&mut self, row: &mut SenderRow) {
        let identity = self.judges.identity();
        row.unique_bytes = self.row.unique_bytes;
        row.retransmissions = self.row.retransmissions;
        row.reordered = self.row.reordered;
        row.network_duplicates = self.row.network_duplicates;
        row.capture_duplicates = self.row.capture_duplicates;
        row.capture_losses = self.row.capture_losses;
        row.probes = self.row.probes;
        row.position = Some(self.clock.position());
        row.monitor_delay = self.clock.known_delay();
        row.rtt = self.rtts.summary();
        row.measures.rtt = self.rtts.percentiles();
        row.measures.window_probes = self.row.measures.window_probes;
        row.measures.bytes_retransmitted = self.row.measures.bytes_retransmitted;
        row.measures.window_full = self.facts.agreed.then(|| self.full.length());
        row.measures.data = self.data_sent.length();
        let best_case = core::mem::take(&mut self.best_case);
        row.best_case = row
            .rtt
            .map(|(_, average, largest, _)| best_case.finish(average, largest));
        row.stack = identity.stack;
        row.stack_confidence = identity.confidence;
        row.stacks = identity.stacks;
        row.parameters = identity.parameters;
        row.posterior = self.judges.posterior();
    }
}

/// Tells a replay what the sender's stack is like.
fn name_sender(replay: &mut Replay, judges: &Judges) {
    if let Some(settings) = judges.settings() {
        replay.sender_is(&settings, &judges.identity().parameters);
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

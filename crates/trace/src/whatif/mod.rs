//! What other settings would have done, replayed from the same events: UNC 2007, sections IV-C and IV-D.
//!
//! A sender's events are boiled down to what settings can differ in: round-trip times, and the waits of each head of its
//! queue with the duplicate acknowledgements and retransmissions in them. Each wait is then judged under every setting at
//! once: would the head have been sent again, by what and when? What happened in truth is the measure, and a setting counts
//! by how it differs from the sender's own in the same model, so that the sender's own setting never changes anything.
//! Round-trip times and losses are taken to be what they were, as UNC 2007 does.

mod clock;
mod effects;
mod found;
mod judge;
mod known;
mod outcome;
mod plan;
mod scene;
mod setting;
#[cfg(test)]
mod tests;
mod totals;
mod undone;
mod watch;

pub use plan::Plan;
pub use setting::{Setting, SettingError, Threshold};
pub use totals::{Total, Totals};

use std::sync::Arc;

use rexmit_tcp::settings::Settings;
use rexmit_tcp::{Mechanism, Need};
use rexmit_time::{Duration, Time};

use crate::cost;
use crate::event::{Direction, SenderEvent, Sent, SentKind};
use crate::facts::SenderFacts;
use crate::rows::{Inferred, Parameters, WhatIf};

use judge::Judge;
use known::Known;
use outcome::Tally;
use scene::Scene;
use watch::{Note, Watch};

/// Notes kept before they are worked through with the stack that is known so far.
const MOST_NOTES: usize = 4096;
/// Notes kept before retransmissions that are not yet resolved are given up.
const MOST_NOTES_UNRESOLVED: usize = 4 * MOST_NOTES;

/// What became known of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// The retransmission's number in its direction.
    pub number: u32,
    /// What made it.
    pub mechanism: Mechanism,
    /// Whether it was needed.
    pub need: Need,
    /// Its episode.
    pub episode: u32,
    /// From the original to the retransmission.
    pub detection: Option<Duration>,
    /// The timer that ran out.
    pub timer: Option<Duration>,
    /// How long its sender had waited for it.
    pub waited: Duration,
    /// Segments outstanding when it was sent.
    pub flight_segments: u32,
}

/// All settings asked for, replayed side by side over one direction.
#[derive(Debug)]
pub struct Replay {
    direction: Direction,
    facts: SenderFacts,
    plan: Arc<Plan>,
    watch: Watch,
    notes: Vec<Note>,
    known: Known,
    /// The sender's stack, as far as is known.
    own: Option<Arc<Settings>>,
    judge: Option<Judge>,
    /// When the sender's SYN was sent, if it is among the events, and for how long it waited to send that again; something
    /// is after it.
    syn: Option<Time>,
    syn_timer: Option<Duration>,
    begun: bool,
}

impl Replay {
    /// A replay for a sender of which `facts` are known.
    #[must_use]
    pub fn new(direction: Direction, facts: &SenderFacts, plan: &Arc<Plan>) -> Self {
        Replay {
            direction,
            facts: *facts,
            plan: Arc::clone(plan),
            watch: Watch::new(facts.mss, facts.sack),
            notes: Vec::new(),
            known: Known::default(),
            own: None,
            judge: None,
            syn: None,
            syn_timer: None,
            begun: false,
        }
    }

    /// The next event, in the sender's order. Retransmissions are numbered as in
    /// [`crate::event::SentKind::Retransmission`].
    pub fn event(&mut self, event: &SenderEvent) {
        match event {
            SenderEvent::Sent(sent) => {
                self.begin(sent);
                self.watch.sent(sent);
            }
            SenderEvent::Acked(acked) => self.watch.acked(acked, &mut self.notes),
        }
        if self.notes.len() >= MOST_NOTES {
            self.work(false);
        }
    }

    /// Notes the end of the handshake, once.
    fn begin(&mut self, sent: &Sent) {
        if sent.flags.syn() {
            let waited = sent.at - *self.syn.get_or_insert(sent.at);
            // A SYN-ACK is also sent again because the SYN is.
            if matches!(sent.kind, SentKind::Retransmission(_)) && !sent.flags.ack() {
                self.syn_timer.get_or_insert(waited);
            }
        } else if !self.begun && !sent.range.is_empty() {
            self.begun = true;
            let rtt = self.facts.handshake_rtt.filter(|_| self.syn.is_none());
            self.notes.push(Note::Begin(rtt, sent.range.start));
        }
    }

    /// What a retransmission was, once that is known; in the order of their numbers.
    pub fn resolved(&mut self, retransmission: &Resolved) {
        self.known.add(retransmission);
    }

    /// Whether the sender's stack is about to be needed and not known yet.
    #[must_use]
    pub fn asks_for_sender(&self) -> bool {
        self.judge.is_none() && self.notes.len() + 1 >= MOST_NOTES
    }

    /// What the sender's stack is like: the settings of the emulation that explains most, and what was inferred of them.
    /// The latest word counts when the first waits are judged, which is at the end unless the connection is long. Where a
    /// capture leaves an inferred parameter no room for the stack's own value, the inferred one is the sender's.
    pub fn sender_is(&mut self, settings: &Arc<Settings>, inferred: &Parameters) {
        let departs = |inferred: &Option<Inferred>, own: f64| {
            let inferred = inferred.filter(|known| own < known.low || own > known.high)?;
            (inferred.value.is_finite() && inferred.value > 0.0).then_some(inferred.value)
        };
        let k = departs(&inferred.k, f64::from(settings.timers.rttvar_factor));
        let d = departs(&inferred.d, f64::from(settings.loss.dupack_threshold));
        // What is inferred is the shortest timeout, whatever it is made of.
        let slop = settings.timers.rto_slop.as_secs_f64();
        let shortest = settings.timers.min_rto.as_secs_f64() + slop;
        let min_rto = departs(&inferred.min_rto_s, shortest).map(|shortest| shortest - slop);
        // Timers of any stack are less than an eighth late.
        let initial = settings.timers.initial_rto;
        let initial = self
            .syn_timer
            .filter(|waited| (*waited - initial).max(initial - *waited) > initial / 8);
        if k.is_none() && d.is_none() && min_rto.is_none() && initial.is_none() {
            self.own = Some(Arc::clone(settings));
            return;
        }
        let mut own = Settings::clone(settings);
        // In whole milliseconds, so that senders of one kind are alike.
        let millis = |seconds: f64| Duration::from_millis((seconds * 1e3).round().max(1.0) as i64);
        own.timers.rttvar_factor = k.map_or(own.timers.rttvar_factor, |k| k.round() as u32);
        own.loss.dupack_threshold =
            d.map_or(own.loss.dupack_threshold, |d| d.round().max(1.0) as u32);
        own.timers.min_rto = min_rto.map_or(own.timers.min_rto, millis);
        own.timers.initial_rto = initial.map_or(own.timers.initial_rto, |waited| {
            Duration::from_millis(((waited.as_secs_f64() * 10.0).round().max(1.0) * 1e2) as i64)
        });
        self.own = Some(Arc::new(own));
    }

    /// The connection is over: a row for each setting that changes something.
    pub fn finish(mut self, out: &mut Vec<WhatIf>) {
        self.watch.finish(&mut self.notes);
        self.work(true);
        let Some(judge) = self.judge else { return };
        let average = judge.average();
        let changed = |(_, tally): &(u32, &Tally)| **tally != Tally::default();
        let tallies = || (0..).zip(judge.tallies()).filter(changed);
        out.reserve(tallies().count());
        out.extend(tallies().map(|(setting, tally)| WhatIf {
            direction: self.direction,
            setting,
            changes: tally.changes,
            change: cost::times(tally.round_trips, average) + tally.waited,
            waited: tally.waited,
        }));
        self.plan.take_back(judge.leave());
    }

    /// Works through the notes up to the first retransmission that is not resolved.
    fn work(&mut self, last: bool) {
        let all = last || self.notes.len() >= MOST_NOTES_UNRESOLVED;
        let Some(own) = &self.own else {
            if all {
                self.notes.clear();
            }
            return;
        };
        let mut judge = self.judge.take().unwrap_or_else(|| {
            let facts = &self.facts;
            let compiled = self.plan.compiled(own, facts.sack);
            Judge::new(
                compiled,
                self.plan.recycled(),
                facts.client,
                facts.timestamps,
            )
        });
        let known = &self.known;
        let mut timeouts = self.notes.iter().filter_map(|note| match note {
            Note::Stand(stand) => Scene::timeouts(stand, known).next(),
            _ => None,
        });
        if let Some(timeout) = timeouts.next() {
            judge.fired(timeout.at, timeout.slack);
        }
        let ready = |note: &Note| match note {
            Note::Stand(stand) => stand.legs.last().is_none_or(|leg| known.has(leg.number)),
            Note::Ack(_) | Note::Begin(..) => true,
        };
        let until = match all {
            true => self.notes.len(),
            false => self
                .notes
                .iter()
                .position(|note| !ready(note))
                .unwrap_or(self.notes.len()),
        };
        let mut done = None;
        for note in self.notes.drain(..until) {
            match note {
                Note::Begin(rtt, una) => judge.begin(rtt, una),
                Note::Ack(ack) => judge.ack(&ack),
                Note::Stand(stand) => {
                    judge.stand(&stand, known);
                    done = stand.legs.last().map(|leg| leg.number).or(done);
                }
            }
        }
        if let Some(number) = done {
            self.known.forget_before(number);
        }
        self.judge = Some(judge);
    }
}

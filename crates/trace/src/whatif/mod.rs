//! What other settings would have done, replayed from the same events: seed 002, sections IV-C and IV-D.
//!
//! A sender's events are boiled down to what settings can differ in: round-trip times, and the waits of each head of its
//! queue with the duplicate acknowledgements and resends in them. Each wait is then judged under every setting at once:
//! would the head have been sent again, by what and when? What happened in truth is the measure, and a setting counts by
//! how it differs from the sender's own in the same model, so that the sender's own setting never changes anything.
//! Round-trip times and losses are taken to be what they were, as seed 002 does.

mod judge;
mod known;
mod outcome;
mod plan;
mod setting;
#[cfg(test)]
mod tests;
mod watch;

pub use plan::Plan;
pub use setting::{Setting, SettingError, Threshold};

use std::sync::Arc;

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Duration;

use crate::cost;
use crate::emulate::Identity;
use crate::event::{Direction, SenderEvent, Sent};
use crate::facts::SenderFacts;
use crate::rows::WhatIf;

use judge::Judge;
use known::Known;
use plan::Compiled;
use watch::{Note, Watch};

/// Notes kept before they are worked through with the stack that is known so far.
const MOST_NOTES: usize = 4096;
/// Notes kept before resends that are not yet resolved are given up.
const MOST_NOTES_UNRESOLVED: usize = 4 * MOST_NOTES;
/// The stack of a sender that no stack explains.
const COMMON_STACK: &str = "linux-6.12";

/// What became known of a resend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// The resend's number in its half.
    pub number: u32,
    /// What made it.
    pub mechanism: Mechanism,
    /// Whether it was needed.
    pub need: Need,
    /// Its episode.
    pub episode: u32,
    /// From the original to the resend.
    pub detection: Option<Duration>,
    /// The timer that ran out.
    pub timer: Option<Duration>,
    /// Segments outstanding when it was sent.
    pub flight_segments: u32,
}

/// All settings asked for, replayed side by side over one half.
#[derive(Debug)]
pub struct Replay {
    direction: Direction,
    facts: SenderFacts,
    plan: Arc<Plan>,
    watch: Watch,
    notes: Vec<Note>,
    known: Known,
    identity: Identity,
    judge: Option<Judge>,
    /// The sender's SYN is among the events; so is something after it.
    handshake: bool,
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
            identity: Identity::default(),
            judge: None,
            handshake: false,
            begun: false,
        }
    }

    /// The next event, in the sender's order. Resends are numbered as in [`crate::event::SentKind::Resend`].
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
            self.handshake = true;
        } else if !self.begun && !sent.range.is_empty() {
            self.begun = true;
            let rtt = self.facts.handshake_rtt.filter(|_| !self.handshake);
            self.notes.push(Note::Begin(rtt, sent.range.start));
        }
    }

    /// What a resend was, once that is known; in the order of their numbers.
    pub fn resolved(&mut self, resend: &Resolved) {
        self.known.add(resend);
    }

    /// Whether the sender's stack is about to be needed and not known yet.
    #[must_use]
    pub fn asks_for_sender(&self) -> bool {
        self.judge.is_none() && self.notes.len() + 1 >= MOST_NOTES
    }

    /// Which stack the sender is, as far as is known. Waits are judged by the latest word before they are worked through,
    /// which is the last one unless the connection is long.
    pub fn sender_is(&mut self, identity: &Identity) {
        self.identity = identity.clone();
    }

    /// The connection is over: a row for each setting that changes something.
    pub fn finish(mut self, out: &mut Vec<WhatIf>) {
        self.watch.finish(&mut self.notes);
        self.work(true);
        let Some(judge) = self.judge else { return };
        let (tallies, average) = judge.finish();
        let changed = tallies.iter().enumerate();
        out.extend(
            changed
                .filter(|(_, tally)| **tally != Default::default())
                .map(|(setting, tally)| WhatIf {
                    direction: self.direction,
                    setting: setting as u32,
                    avoided: tally.avoided,
                    rto_to_fr: tally.rto_to_fr,
                    fr_to_rto: tally.fr_to_rto,
                    spurious_rto_avoided: tally.spurious_rto_avoided,
                    spurious_fr_avoided: tally.spurious_fr_avoided,
                    spurious_rto_caused: tally.spurious_rto_caused,
                    spurious_fr_caused: tally.spurious_fr_caused,
                    change: cost::times(tally.round_trips, average)
                        + Duration::from_nanos(tally.nanos),
                }),
        );
    }

    /// Works through the notes up to the first resend that is not resolved.
    fn work(&mut self, last: bool) {
        let all = last || self.notes.len() >= MOST_NOTES_UNRESOLVED;
        let begin = |plan| Judge::new(plan, self.facts.sack, self.facts.timestamps);
        let Some(mut judge) = self.judge.take().or_else(|| self.compiled().map(begin)) else {
            return;
        };
        let known = &self.known;
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

    /// The list of settings over the sender's stack.
    fn compiled(&self) -> Option<Arc<Compiled>> {
        let Identity { stack, stacks, .. } = &self.identity;
        let names = stack.iter().chain(stacks).chain([&COMMON_STACK]);
        names
            .filter_map(|name| self.plan.compiled(name))
            .next()
            .cloned()
    }
}

//! Scripted senders whose answers are known by hand. Segments are 1000 bytes, times milliseconds.

mod duplicates;
mod handshake;
mod probes;
mod random;
mod sack;
mod timeouts;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use rexmit_tcp::Mechanism::{self, Fack, FastRetransmit, Rack, Rto, RtoRecovery, Tlp, Unknown};
use rexmit_tcp::{Need, SackList};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum, SeqRange};

use super::{Plan, Replay, Resolved};
use crate::cost::{fast_retransmit_avoided, fast_retransmit_for_timeout, timeout_avoided, Silence};
use crate::event::{Acked, Direction, SenderEvent, Sent, SentKind};
use crate::facts::SenderFacts;
use crate::rows::{Inferred, Parameters, WhatIf};
use crate::testing;

/// A sender, the events of which are written down by the test.
struct Script {
    plan: Arc<Plan>,
    replay: Replay,
    next: u32,
    sack: bool,
    window: u32,
    silence: Silence,
    /// All the time waited.
    waited: Duration,
}

impl Script {
    /// A sender of `stack` whose first round trip, the handshake's, took 100 ms.
    fn new(stack: &'static str, settings: &[&str]) -> Self {
        Script::with(stack, settings, true)
    }

    fn with(stack: &'static str, settings: &[&str], sack: bool) -> Self {
        let plan = Arc::new(Plan::parse(settings).unwrap());
        let facts = SenderFacts {
            mss: 1000,
            sack,
            handshake_rtt: Some(Duration::from_millis(100)),
            ..SenderFacts::default()
        };
        let mut replay = Replay::new(Direction::Backward, &facts, &plan);
        let own = rexmit_tcp::stacks::page(stack).unwrap().settings;
        replay.sender_is(&Arc::new(own), &Parameters::default());
        Script {
            plan,
            replay,
            next: 0,
            sack,
            window: 65_535,
            silence: Silence::default(),
            waited: Duration::ZERO,
        }
    }

    /// Segments `from` to before `to` are sent.
    fn send(&mut self, at: u64, from: u32, to: u32) -> &mut Self {
        (from..to).for_each(|segment| self.packet(at, segment, SentKind::New));
        self
    }

    /// A segment is sent again.
    fn retransmission(
        &mut self,
        at: u64,
        segment: u32,
        mechanism: Mechanism,
        need: Need,
        episode: u32,
    ) -> &mut Self {
        self.flagged_again(at, segment, mechanism, need, episode, Flags::ACK)
    }

    /// A SYN or SYN-ACK is sent, and by a timer sent again after each of `timeouts`; an acknowledgement ends it.
    fn handshake(&mut self, flags: Flags, timeouts: &[u64], acked: u64) -> &mut Self {
        self.replay.facts.client = !flags.ack();
        self.replay.facts.handshake_rtt = None;
        self.flagged(0, 0, SentKind::New, flags);
        for at in timeouts {
            self.flagged_again(*at, 0, Mechanism::Rto, NEEDED, 0, flags);
        }
        self.ack(acked, 1, None)
    }

    fn flagged_again(
        &mut self,
        at: u64,
        segment: u32,
        mechanism: Mechanism,
        need: Need,
        episode: u32,
        flags: Flags,
    ) -> &mut Self {
        let number = self.next;
        self.next += 1;
        let waited = self.silence.waited(ms(at), None);
        self.waited += waited;
        self.flagged(at, segment, SentKind::Retransmission(number), flags);
        self.replay.resolved(&Resolved {
            number,
            mechanism,
            need,
            episode,
            detection: None,
            timer: None,
            waited,
            flight_segments: 8,
        });
        self
    }

    fn packet(&mut self, at: u64, segment: u32, kind: SentKind) {
        self.flagged(at, segment, kind, Flags::ACK);
    }

    fn flagged(&mut self, at: u64, segment: u32, kind: SentKind, flags: Flags) {
        self.silence.ends(ms(at));
        self.replay.event(&SenderEvent::Sent(Sent {
            flags,
            ..testing::sent(ms(at), SeqRange::new(seq(segment), 1000), kind)
        }));
    }

    /// All before segment `upto` is acknowledged, and `sacked` segments are reported.
    fn ack(&mut self, at: u64, upto: u32, sacked: Option<(u32, u32)>) -> &mut Self {
        let mut sacks = SackList::default();
        if let (Some((from, to)), true) = (sacked, self.sack) {
            sacks.push(SeqRange {
                start: seq(from),
                end: seq(to),
            });
        }
        self.replay.event(&SenderEvent::Acked(Acked {
            window: self.window,
            sacks,
            ..testing::acked(ms(at), seq(upto))
        }));
        self
    }

    /// One segment each round trip of 100 ms, until the estimators have settled; gives the time and the next segment.
    fn settle(&mut self) -> (u64, u32) {
        for turn in 0..100 {
            self.send(100 * u64::from(turn), turn, turn + 1);
            self.ack(100 * u64::from(turn + 1), turn + 1, None);
        }
        (10_000, 100)
    }

    /// What each setting changes. No script saves more of the time waited than there was.
    fn finish(self) -> BTreeMap<String, WhatIf> {
        let mut rows = Vec::new();
        self.replay.finish(&mut rows);
        for row in &rows {
            assert!(-row.waited <= self.waited, "{row:?} of {}", self.waited);
        }
        rows.into_iter()
            .map(|row| (self.plan.names()[row.setting as usize].clone(), row))
            .collect()
    }
}

fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// Sequence numbers that wrap early.
fn seq(segment: u32) -> SeqNum {
    SeqNum::new(u32::MAX - 50_000) + 1000 * segment
}

fn seconds(row: &WhatIf) -> f64 {
    row.change.as_secs_f64()
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!(
        (value - expected).abs() < 0.0015,
        "{value} is not {expected}"
    );
}

/// What it costs, in round trips of 100 ms and windows of four, that a fast retransmit takes the place of a timeout.
fn fast_for_timeout() -> f64 {
    fast_retransmit_for_timeout(4.0) * 0.1
}

const NEEDED: Need = Need::Needed;
const SPURIOUS: Need = Need::Spurious;

/// Four segments out, all lost, a timeout after `rto` and its answer.
fn timeout(script: &mut Script, rto: u64) {
    let (at, next) = script.settle();
    script.send(at, next, next + 4);
    script.retransmission(at + rto, next, Rto, NEEDED, 0);
    script.ack(at + rto + 100, next + 4, None);
}

#[test]
fn what_nobody_can_explain_is_left_alone() {
    let mut script = Script::new("linux-2.4", &["default", "grid"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 4);
    script.retransmission(at + 90, next, Unknown, Need::Unknown, 0);
    script.ack(at + 100, next + 4, None);
    assert!(script.finish().is_empty());
}

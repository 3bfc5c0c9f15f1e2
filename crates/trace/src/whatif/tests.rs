//! Scripted senders whose answers are known by hand. Segments are 1000 bytes, times milliseconds.

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
fn a_needed_timeout_waits_for_the_other_timer() {
    let mut script = Script::new(
        "linux-2.4",
        &[
            "min_rto=100ms",
            "min_rto=400ms",
            "k=2",
            "min_rto=200ms",
            "m=1.25",
        ],
    );
    timeout(&mut script, 300);
    let rows = script.finish();
    // The deviation of the first sample decays in whole ticks of 10 ms, and stops three above the minimum.
    near(seconds(&rows["min_rto=100ms"]), -0.07);
    near(seconds(&rows["min_rto=400ms"]), 0.2);
    // Two and a half ticks, of which the kernel keeps two.
    near(seconds(&rows["m=1.25"]), 0.02);
    // The deviation has settled at the minimum, and the minimum is the sender's own.
    assert_eq!(rows.len(), 3);
    let row = &rows["min_rto=100ms"];
    assert_eq!(row.changes.avoided, 0);
    assert_eq!(row.changes.rto_to_fr, 0);
    assert_eq!(row.changes.spurious_rto_caused, 0);
}

/// Four segments out that are late, a spurious timeout, and the acknowledgement of the originals `after` it.
fn late(script: &mut Script, after: u64) {
    let (at, next) = script.settle();
    script.send(at, next, next + 4);
    for lost in 0..3 {
        script.retransmission(at + 300, next + lost, Rto, SPURIOUS, 0);
    }
    script.ack(at + 300 + after, next + 4, None);
}

#[test]
fn f_rto_takes_a_spurious_timeout_back_and_a_stack_that_does_so_loses_it() {
    let changes = |page, setting: &'static str, sack, after| {
        let mut script = Script::with(page, &[setting], sack);
        late(&mut script, after);
        script.finish().remove(setting)
    };
    let saved = changes("linux-2.4", "frto", true, 20).unwrap();
    assert!(saved.change < Duration::ZERO && saved.waited == Duration::ZERO);
    assert_eq!(saved.changes.avoided, 2, "but the first");
    let lost = changes("linux-3.10", "no-frto", true, 20).unwrap();
    assert_eq!(lost.change, -saved.change);
    // What came a round trip later may have been brought by the retransmission: without SACK it proves nothing.
    assert_eq!(changes("freebsd-5", "frto", false, 101), None);
    // Without timestamps nothing else tells it.
    assert_eq!(changes("windows-xp", "undo", true, 20), None);
}

#[test]
fn a_second_timeout_doubles_the_difference() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 1);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.retransmission(at + 900, next, Rto, NEEDED, 0);
    script.ack(at + 1000, next + 1, None);
    let row = &script.finish()["min_rto=100ms"];
    near(seconds(row), -0.07 - 0.14);
    assert_eq!(row.waited, Duration::from_millis(-70 - 140));
}

#[test]
fn nothing_is_saved_of_what_nothing_acknowledged() {
    let mut script = Script::new("linux-2.4", &["default"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 4);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.retransmission(at + 900, next, Rto, NEEDED, 0);
    // What is behind it arrives.
    script.ack(at + 1000, next, Some((next + 1, next + 4)));
    assert_eq!(script.finish().len(), 0);
}

#[test]
fn a_timer_of_long_ticks_fires_where_one_begins() {
    // A timer of one tick fires 5 ms after it is set, before the acknowledgement, or 80 ms after.
    for (set, caused) in [(3_095, 1), (3_020, 0)] {
        let mut script = Script::new("windows-xp-unc2007", &["min_rto=100ms"]);
        script.replay.facts.handshake_rtt = Some(Duration::from_millis(10));
        for turn in 0..30 {
            script.send(100 * u64::from(turn) + 10, turn, turn + 1);
            script.ack(100 * u64::from(turn) + 20, turn + 1, None);
        }
        script.send(set, 30, 31);
        script.ack(set + 10, 31, None);
        // A timeout that shows where ticks begin.
        script.send(9_110, 31, 32);
        script.retransmission(9_400, 31, Rto, NEEDED, 0);
        script.ack(9_410, 32, None);
        let row = &script.finish()["min_rto=100ms"];
        assert_eq!(row.changes.spurious_rto_caused, caused, "set at {set}");
    }
}

#[test]
fn what_was_lost_behind_a_spurious_timeout_is_sent_again_with_it() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    // The first arrived, and its acknowledgement is late. The second was lost.
    script.retransmission(at + 300, next, Rto, SPURIOUS, 0);
    script.ack(at + 350, next + 1, None);
    script.retransmission(at + 350, next + 1, RtoRecovery, NEEDED, 0);
    script.ack(at + 450, next + 2, None);
    let rows = script.finish();
    assert_eq!(rows["min_rto=100ms"].waited, Duration::from_millis(-70));
}

#[test]
fn a_round_trip_is_as_many_ticks_as_the_stack_counts() {
    // 10 ms or 60 ms within a tick of 100 ms are none once a timer has shown where ticks begin, whatever is nearer.
    for trip in [10, 60] {
        let mut script = Script::new("windows-xp-unc2007", &["min_rto=100ms"]);
        script.replay.facts.handshake_rtt = Some(Duration::from_millis(10));
        for turn in 0..30 {
            script.send(100 * u64::from(turn) + 10, turn, turn + 1);
            script.ack(100 * u64::from(turn) + 10 + trip, turn + 1, None);
        }
        script.send(3_010, 30, 31);
        script.retransmission(3_200, 30, Rto, NEEDED, 0);
        script.ack(3_210, 31, None);
        // The timeout of one tick instead of two.
        near(seconds(&script.finish()["min_rto=100ms"]), -0.1);
    }
}

#[test]
fn what_is_added_to_every_timeout_is_part_of_the_shortest_that_is_inferred() {
    let saved = |page: &str, shortest: f64| {
        let mut script = Script::new("freebsd-5", &["min_rto=100ms"]);
        let own = rexmit_tcp::stacks::page(page).unwrap().settings;
        let inferred = Parameters {
            min_rto_s: Some(Inferred {
                value: shortest,
                low: shortest - 0.01,
                high: shortest + 0.01,
            }),
            ..Parameters::default()
        };
        script.replay.sender_is(&Arc::new(own), &inferred);
        let (at, next) = script.settle();
        script.send(at, next, next + 1);
        let waited = (shortest * 1e3).round() as u64;
        script.retransmission(at + waited, next, Rto, NEEDED, 0);
        script.ack(at + waited + 100, next + 1, None);
        let rows = script.finish();
        rows.get("min_rto=100ms").map(seconds)
    };
    // A second and the 200 ms on top of it, whatever the page says: 100 ms and 200 ms are 900 ms sooner.
    near(saved("freebsd-5-unc2007", 1.2).unwrap(), -0.9);
    near(saved("freebsd-5", 1.2).unwrap(), -0.9);
}

#[test]
fn what_is_added_to_every_timeout_does_not_double() {
    // A stack with 200 ms on top of every timeout, and a minimum of a second.
    let after = |answer: u64| {
        let mut script = Script::new("freebsd-5", &["min_rto=100ms"]);
        let mut own = rexmit_tcp::stacks::page("freebsd-5").unwrap().settings;
        own.timers.min_rto = Duration::from_secs(1);
        script
            .replay
            .sender_is(&Arc::new(own), &Parameters::default());
        let (at, next) = script.settle();
        script.send(at, next, next + 1);
        script.retransmission(at + 1_200, next, Rto, NEEDED, 0);
        script.ack(at + 1_200 + answer, next + 1, None);
        script.finish()["min_rto=100ms"].changes.spurious_rto_caused
    };
    // The other timer of 100 ms and 200 ms is one of 200 ms and 200 ms after its timeout.
    assert_eq!(after(380), 0);
    assert_eq!(after(420), 1);
}

#[test]
fn an_earlier_repair_saves_no_more_than_the_wait_for_the_sender_s_own() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 1);
    // The head is lost; the sender writes on, and stands still for the last 40 ms only.
    script.send(at + 260, next + 1, next + 2);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.ack(at + 400, next + 2, None);
    let row = &script.finish()["min_rto=100ms"];
    // Its own data, of 260 ms, are acknowledged 100 ms later in any case.
    near(seconds(row), -0.04);
    assert_eq!(row.waited, Duration::from_millis(-40));
}

#[test]
fn an_inferred_parameter_is_the_senders_own_where_its_stacks_cannot_be() {
    let setting = ["min_rto=100ms", "min_rto=400ms"];
    let inferred = |low, high| Parameters {
        min_rto_s: Some(Inferred {
            value: 0.4,
            low,
            high,
        }),
        ..Parameters::default()
    };
    let settings = Arc::new(rexmit_tcp::stacks::page("linux-2.4").unwrap().settings);
    let mut script = Script::new("linux-2.4", &setting);
    script.replay.sender_is(&settings, &inferred(0.39, 0.41));
    timeout(&mut script, 500);
    let rows = script.finish();
    assert!(!rows.contains_key("min_rto=400ms"));
    near(seconds(&rows["min_rto=100ms"]), -0.27);
    let mut script = Script::new("linux-2.4", &setting);
    script.replay.sender_is(&settings, &inferred(0.19, 0.41));
    timeout(&mut script, 300);
    near(seconds(&script.finish()["min_rto=400ms"]), 0.2);
}

#[test]
fn windows_bounds_the_timeout_and_not_the_deviation() {
    let mut script = Script::with(
        "windows-xp-unc2007",
        &["min_rto=100ms", "min_rto=400ms", "k=1"],
        false,
    );
    timeout(&mut script, 200);
    let rows = script.finish();
    // The granularity of 100 ms is the deviation's least term.
    assert!(!rows.contains_key("min_rto=100ms"));
    near(seconds(&rows["min_rto=400ms"]), 0.2);
}

#[test]
fn a_spurious_timeout_is_avoided_by_a_longer_timer() {
    let mut script = Script::new(
        "linux-2.4",
        &["min_rto=300ms", "min_rto=600ms", "min_rto=100ms"],
    );
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    script.retransmission(at + 300, next, Rto, SPURIOUS, 0);
    script.ack(at + 450, next + 1, None);
    script.retransmission(at + 450, next + 1, RtoRecovery, SPURIOUS, 0);
    script.ack(at + 450, next + 8, None);
    let rows = script.finish();
    // 400 ms are too short for an answer after 450, 700 are not.
    assert!(!rows.contains_key("min_rto=300ms"));
    assert!(!rows.contains_key("min_rto=100ms"));
    let row = &rows["min_rto=600ms"];
    assert_eq!(row.changes.avoided, 2);
    assert_eq!(row.changes.spurious_rto_avoided, 1);
    assert_eq!(row.changes.spurious_fr_avoided, 0);
    // One sample of 450 ms among a hundred of 100 makes the average.
    near(seconds(row), -timeout_avoided(4.0) * 0.1 * 1.0);
}

#[test]
fn a_shorter_timer_runs_out_before_a_late_acknowledgement() {
    let mut script = Script::new(
        "linux-2.4",
        &["min_rto=100ms", "min_rto=150ms", "min_rto=50ms,k=2"],
    );
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    script.ack(at + 240, next + 8, None);
    let rows = script.finish();
    let row = &rows["min_rto=100ms"];
    assert_eq!(row.changes.spurious_rto_caused, 1);
    assert_eq!(row.changes.avoided, 0);
    near(seconds(row), timeout_avoided(4.0) * (0.1 + 0.0014));
    assert_eq!(rows["min_rto=50ms,k=2"].changes.spurious_rto_caused, 1);
    assert!(!rows.contains_key("min_rto=150ms"));
}

#[test]
fn fast_retransmit_takes_the_place_of_a_timeout_when_two_duplicates_are_enough() {
    let mut script = Script::new("linux-2.4", &["d=2", "d=4", "smart", "d=3"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 3);
    script.ack(at + 100, next, Some((next + 1, next + 2)));
    script.ack(at + 110, next, Some((next + 1, next + 3)));
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.ack(at + 400, next + 3, None);
    let rows = script.finish();
    let row = &rows["d=2"];
    assert_eq!(row.changes.rto_to_fr, 1);
    assert_eq!(row.changes.fr_to_rto, 0);
    assert_eq!(row.changes.avoided, 0);
    near(seconds(row), -0.19 - fast_for_timeout());
    // Three outstanding: one duplicate is enough.
    assert_eq!(rows["smart"].changes.rto_to_fr, 1);
    near(seconds(&rows["smart"]), -0.2 - fast_for_timeout());
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_fast_retransmit_becomes_a_timeout_when_its_duplicates_do_not_reach() {
    let mut script = Script::new("linux-2.4", &["d=2", "d=4", "d=5"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 5);
    for late in 0..4_u32 {
        script.ack(
            at + 100 + 10 * u64::from(late),
            next,
            Some((next + 1, next + 2 + late)),
        );
        if late == 2 {
            script.retransmission(at + 120, next, FastRetransmit, NEEDED, 0);
        }
    }
    script.ack(at + 220, next + 5, None);
    let rows = script.finish();
    near(seconds(&rows["d=2"]), -0.01);
    // The fourth duplicate came ten milliseconds later, and no fifth: the timer of 300 ms runs out, half a tick early.
    near(seconds(&rows["d=4"]), 0.01);
    assert_eq!(rows["d=4"].changes.fr_to_rto, 0);
    assert_eq!(rows["d=5"].changes.fr_to_rto, 1);
    near(seconds(&rows["d=5"]), 0.175 + fast_for_timeout());
}

#[test]
fn fack_counts_what_lies_before_the_highest_sack() {
    let mut script = Script::new("linux-2.4", &["d=4", "d=2"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 6);
    // Two lost; the second SACK reaches the third segment after the head.
    script.ack(at + 100, next, Some((next + 2, next + 3)));
    script.ack(at + 110, next, Some((next + 2, next + 4)));
    script.retransmission(at + 110, next, Fack, NEEDED, 0);
    script.ack(at + 120, next, Some((next + 2, next + 5)));
    script.ack(at + 210, next + 6, None);
    let rows = script.finish();
    near(seconds(&rows["d=4"]), 0.01);
    near(seconds(&rows["d=2"]), -0.01);
}

#[test]
fn reordering_makes_spurious_fast_retransmits_with_a_small_threshold() {
    let settings = ["d=2", "d=4", "rack", "min_rto=100ms"];
    let mut script = Script::new("linux-2.4", &settings);
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    script.ack(at + 100, next, Some((next + 1, next + 2)));
    script.ack(at + 105, next, Some((next + 1, next + 3)));
    script.ack(at + 110, next + 8, None);
    let rows = script.finish();
    assert_eq!(rows["d=2"].changes.spurious_fr_caused, 1);
    near(seconds(&rows["d=2"]), fast_retransmit_avoided(4.0) * 0.1);
    // A quarter of a round trip had not gone by.
    assert_eq!(rows.len(), 1);
}

#[test]
fn a_larger_threshold_avoids_a_spurious_fast_retransmit() {
    let mut script = Script::new("linux-2.4", &["d=2", "d=4"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    for late in 0..3_u32 {
        script.ack(at + 100, next, Some((next + 1, next + 2 + late)));
    }
    script.retransmission(at + 100, next, FastRetransmit, SPURIOUS, 0);
    script.ack(at + 110, next + 8, None);
    let rows = script.finish();
    assert_eq!(rows["d=4"].changes.avoided, 1);
    assert_eq!(rows["d=4"].changes.spurious_fr_avoided, 1);
    near(seconds(&rows["d=4"]), -fast_retransmit_avoided(4.0) * 0.1);
    assert!(!rows.contains_key("d=2"));
}

#[test]
fn a_shorter_timer_overtakes_a_fast_retransmit() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    for late in 0..3_u32 {
        script.ack(at + 250, next, Some((next + 1, next + 2 + late)));
    }
    script.retransmission(at + 250, next, FastRetransmit, NEEDED, 0);
    script.ack(at + 350, next + 8, None);
    let row = &script.finish()["min_rto=100ms"];
    assert_eq!(row.changes.fr_to_rto, 1);
    near(seconds(row), -0.025 + fast_for_timeout());
}

#[test]
fn without_sack_every_duplicate_counts() {
    let mut script = Script::with("windows-xp-unc2007", &["d=3"], false);
    let (at, next) = script.settle();
    script.send(at, next, next + 3);
    script.ack(at + 100, next, None).ack(at + 100, next, None);
    script.retransmission(at + 100, next, FastRetransmit, NEEDED, 0);
    script.ack(at + 200, next + 3, None);
    let row = &script.finish()["d=3"];
    assert_eq!(row.changes.fr_to_rto, 1);
    // Two ticks of 100 ms, less half of one.
    near(seconds(row), 0.05 + fast_for_timeout());
}

#[test]
fn a_probe_repairs_the_last_segment_before_the_timeout() {
    let mut script = Script::new("linux-2.4", &["tlp", "no-tlp"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.ack(at + 100, next + 1, None);
    script.retransmission(at + 400, next + 1, Rto, NEEDED, 0);
    script.ack(at + 500, next + 2, None);
    let rows = script.finish();
    // One packet out: the probe falls together with the timeout, half a tick of which the capture has not shown, but does
    // not lower the rate to one segment.
    let row = &rows["tlp"];
    assert_eq!(row.changes.rto_to_fr, 1);
    near(seconds(row), -0.005 - fast_for_timeout());
    assert_eq!(rows.len(), 1);
}

#[test]
fn a_probe_finds_the_loss_of_many_a_round_trip_later() {
    let mut script = Script::new("linux-2.4", &["tlp", "tlp,rack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 3);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.retransmission(at + 400, next + 1, RtoRecovery, NEEDED, 0);
    script.retransmission(at + 400, next + 2, RtoRecovery, NEEDED, 0);
    script.ack(at + 400, next + 1, None);
    script.ack(at + 500, next + 3, None);
    // Two round trips and 2 ms to the probe, one to its answer, against the timer's 300.
    let rows = script.finish();
    let row = &rows["tlp,rack"];
    near(seconds(row), 0.002 - fast_for_timeout());
    // One SACK is too little for FACK: the timer runs out, but later, half a tick early.
    let row = &rows["tlp"];
    assert_eq!(row.changes.rto_to_fr, 0);
    assert_eq!(row.changes.avoided, 0);
    near(seconds(row), 0.202 + 0.295 - 0.3);
}

#[test]
fn without_probes_a_probed_loss_waits_for_the_timer() {
    let mut script = Script::new("linux-6.12", &["no-tlp", "tlp", "k=2", "rto_min=50ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.ack(at + 100, next + 1, None);
    script.send(at + 100, next + 2, next + 3);
    script.retransmission(at + 302, next + 2, Tlp, NEEDED, 0);
    script.ack(at + 402, next + 3, None);
    let rows = script.finish();
    let row = &rows["no-tlp"];
    assert_eq!(row.changes.fr_to_rto, 1);
    // The wheel is four ticks late on average.
    near(seconds(row), 0.098 + 0.016 + fast_for_timeout());
    // A timer of 152 ms, in ticks of 4 and up to eight of them late, is over before the probe, which goes in its place.
    near(seconds(&rows["rto_min=50ms"]), -0.044);
    assert_eq!(rows.len(), 2);
}

#[test]
fn without_rack_what_a_probe_found_waits_for_the_timer_after_it() {
    let mut script = Script::new("linux-6.12", &["no-rack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.retransmission(at + 202, next + 1, Tlp, NEEDED, 0);
    script.ack(at + 302, next, Some((next + 1, next + 2)));
    script.retransmission(at + 302, next, Rack, NEEDED, 0);
    script.ack(at + 402, next + 2, None);
    let row = &script.finish()["no-rack"];
    assert_eq!(row.changes.fr_to_rto, 1);
    assert_eq!(row.changes.rto_to_fr, 0);
    // From the probe on, and the wheel is four ticks late.
    near(seconds(row), 0.3 + 0.016 - 0.1 + fast_for_timeout());
}

#[test]
fn rack_finds_a_loss_with_one_segment_after_it() {
    let mut script = Script::new("linux-2.4", &["rack"]);
    let (at, next) = script.settle();
    script
        .send(at, next, next + 1)
        .send(at + 1, next + 1, next + 2);
    script.ack(at + 101, next, Some((next + 1, next + 2)));
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.ack(at + 400, next + 2, None);
    let row = &script.finish()["rack"];
    assert_eq!(row.changes.rto_to_fr, 1);
    // The round trip of what came after it, and a quarter of one.
    near(seconds(row), -(0.3 - 0.125) - fast_for_timeout());
}

/// RACK waits for reordered segments while nothing is repaired, and in a recovery only if some were seen.
#[test]
fn in_recovery_rack_finds_a_lost_retransmission_at_once() {
    let change = |reordered: bool| {
        let mut script = Script::new("linux-2.4", &["rack"]);
        let (mut at, mut next) = script.settle();
        if reordered {
            script.send(at, next, next + 2);
            script.ack(at + 100, next, Some((next + 1, next + 2)));
            script.ack(at + 101, next + 2, None);
            (at, next) = (at + 200, next + 2);
        }
        script.send(at, next, next + 2);
        script.retransmission(at + 300, next, Rto, NEEDED, 0);
        script.send(at + 310, next + 2, next + 3);
        script.ack(at + 410, next, Some((next + 2, next + 3)));
        script.retransmission(at + 900, next, Rto, NEEDED, 0);
        script.ack(at + 1_000, next + 3, None);
        seconds(&script.finish()["rack"])
    };
    near(change(true) - change(false), 0.025 - 0.01);
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

#[test]
fn a_syn_waits_for_the_other_initial_timeout() {
    let settings = ["init_rto=6s", "init_rto=500ms", "init_rto=3s"];
    let mut script = Script::new("linux-2.4", &settings);
    script.handshake(Flags::SYN, &[3_000, 9_000], 9_100);
    let rows = script.finish();
    near(seconds(&rows["init_rto=6s"]), 3.0 + 6.0);
    near(seconds(&rows["init_rto=500ms"]), -2.5 - 5.0);
    assert_eq!(rows.len(), 2);
}

/// A shorter timer sends a SYN-ACK again sooner; before a longer one runs out, the client asks again.
#[test]
fn a_syn_ack_waits_no_longer_than_the_client() {
    let mut script = Script::new("linux-2.4", &["init_rto=6s", "init_rto=500ms"]);
    script.handshake(Flags(Flags::SYN.0 | Flags::ACK.0), &[3_000], 3_100);
    let rows = script.finish();
    near(seconds(&rows["init_rto=500ms"]), -2.5);
    assert_eq!(rows.len(), 1);
}

#[test]
fn the_first_timeout_is_what_the_syn_waited_where_the_stack_s_cannot_be() {
    let mut script = Script::new("linux-2.4", &["init_rto=3s", "init_rto=1s"]);
    script.handshake(Flags::SYN, &[1_010], 1_100);
    let own = rexmit_tcp::stacks::page("linux-2.4").unwrap().settings;
    script
        .replay
        .sender_is(&Arc::new(own), &Parameters::default());
    let rows = script.finish();
    near(seconds(&rows["init_rto=3s"]), 2.0);
    assert_eq!(rows.len(), 1);
}

/// Linux has a second constant for data after a handshake that gave no sample, other stacks have one timeout for both.
#[test]
fn data_without_a_sample_wait_for_the_initial_timeout_where_the_stack_has_one() {
    let change = |stack| {
        let mut script = Script::new(stack, &["init_rto=1s"]);
        script.replay.facts.handshake_rtt = None;
        script.send(0, 0, 1);
        script.retransmission(3_000, 0, Mechanism::Rto, NEEDED, 0);
        script.ack(3_100, 1, None);
        script.finish().get("init_rto=1s").map(seconds)
    };
    near(change("freebsd-5").unwrap(), -2.0);
    assert_eq!(change("linux-6.12"), None);
}

/// Nobody probes before the handshake is over.
#[test]
fn a_lost_syn_is_not_probed() {
    let mut script = Script::new("linux-2.4", &["tlp", "rack"]);
    script.handshake(Flags::SYN, &[3_000], 3_100);
    assert!(script.finish().is_empty());
}

/// Segments 0, 2 and 4 of a flight of ten are lost. SACK repairs them in a round trip, of which partial acknowledgements tell.
fn three_holes(script: &mut Script, mechanism: Mechanism) {
    let (at, next) = script.settle();
    script.send(at, next, next + 10);
    for (from, to) in [(1, 2), (3, 4), (5, 6), (5, 10)] {
        // With SACK a window opens by data out of order, too.
        script.window += 1000;
        script.ack(at + 100, next, Some((next + from, next + to)));
    }
    for hole in [0, 2, 4] {
        script.retransmission(at + 100, next + hole, mechanism, NEEDED, 0);
    }
    script.ack(at + 200, next + 2, Some((next + 5, next + 10)));
    script.ack(at + 200, next + 4, Some((next + 5, next + 10)));
    script.ack(at + 200, next + 10, None);
}

#[test]
fn without_sack_each_further_hole_takes_a_round_trip() {
    let settings = ["no-sack", "no-sack,d=8", "sack"];
    for (stack, mechanism) in [
        ("linux-6.12", Mechanism::Rack),
        ("linux-2.4", Mechanism::Fack),
    ] {
        let mut script = Script::new(stack, &settings);
        three_holes(&mut script, mechanism);
        let rows = script.finish();
        let row = &rows["no-sack"];
        near(seconds(row), 0.2);
        assert_eq!((row.changes.fr_to_rto, row.changes.avoided), (0, 0));
        // No eighth duplicate: a timeout, after which slow start sends all of it.
        assert_eq!(rows["no-sack,d=8"].changes.fr_to_rto, 1);
        assert!(!rows.contains_key("sack"));
    }
}

#[test]
fn a_hole_that_waited_a_round_trip_with_sack_waits_no_longer_without() {
    let mut script = Script::new("linux-6.12", &["no-sack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 10);
    for (from, to) in [(1, 2), (3, 4), (3, 10)] {
        script.ack(at + 100, next, Some((next + from, next + to)));
    }
    script.retransmission(at + 100, next, Mechanism::Rack, NEEDED, 0);
    script.ack(at + 200, next + 2, Some((next + 3, next + 10)));
    script.retransmission(at + 200, next + 2, Mechanism::Rack, NEEDED, 0);
    script.ack(at + 300, next + 10, None);
    assert!(script.finish().is_empty());
}

#[test]
fn holes_that_one_acknowledgement_closes_count_each() {
    let mut script = Script::new("linux-6.12", &["no-sack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 10);
    for sacked in 3..6 {
        script.ack(at + 100, next, Some((next + 2, next + sacked)));
    }
    script.retransmission(at + 100, next, Mechanism::Rack, NEEDED, 0);
    script.retransmission(at + 100, next + 1, Mechanism::Rack, NEEDED, 0);
    // Needless, so no hole.
    script.retransmission(at + 100, next + 7, Mechanism::Rack, SPURIOUS, 0);
    script.ack(at + 200, next + 10, None);
    near(seconds(&script.finish()["no-sack"]), 0.1);
}

#[test]
fn without_sack_a_block_of_several_segments_is_one_duplicate() {
    let mut script = Script::new("linux-2.4", &["no-sack", "d=2"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 5);
    // Of four acknowledgements two arrive.
    script.ack(at + 100, next, Some((next + 1, next + 3)));
    script.ack(at + 110, next, Some((next + 1, next + 5)));
    script.retransmission(at + 110, next, Mechanism::FastRetransmit, NEEDED, 0);
    script.ack(at + 210, next + 5, None);
    let rows = script.finish();
    assert_eq!(rows["no-sack"].changes.fr_to_rto, 1);
    near(
        seconds(&rows["no-sack"]),
        0.185 + fast_retransmit_for_timeout(4.0) * 0.1,
    );
    near(seconds(&rows["d=2"]), -0.01);
}

#[test]
fn without_sack_nothing_is_probed() {
    let changes = |setting: &'static str| {
        let mut script = Script::new("linux-6.12", &[setting]);
        let (at, next) = script.settle();
        script.send(at, next, next + 1);
        script.retransmission(at + 202, next, Mechanism::Tlp, NEEDED, 0);
        script.ack(at + 302, next + 1, None);
        let rows = script.finish();
        (rows[setting].change, rows[setting].changes)
    };
    assert_eq!(changes("no-sack"), changes("no-tlp"));
}

#[test]
fn with_sack_a_further_hole_waits_for_no_partial_acknowledgement() {
    for (setting, stack, saved) in [
        // A round trip each, of which the sender stood still for all.
        ("sack", "windows-xp-unc2007", Some(-0.2)),
        ("no-sack", "windows-xp-unc2007", None),
        // What RACK would have seen is not known.
        ("sack", "linux-6.12", Some(-0.2)),
    ] {
        let mut script = Script::with(stack, &[setting], false);
        let (at, next) = script.settle();
        script.send(at, next, next + 10);
        for _ in 0..3 {
            script.ack(at + 100, next, None);
        }
        for (turn, hole) in [(0, 0), (1, 2), (2, 4)] {
            let now = at + 100 * (turn + 1);
            let segment = next + hole;
            script.retransmission(now, segment, Mechanism::FastRetransmit, NEEDED, 0);
            let upto = if hole == 4 { 10 } else { hole + 2 };
            script.ack(now + 100, next + upto, None);
        }
        let rows = script.finish();
        assert_eq!(rows.get(setting).map(|row| row.waited.as_secs_f64()), saved);
    }
}

#[test]
fn with_sack_what_duplicates_do_not_tell_stays_as_it_was() {
    // Whether RACK's time was over is not known, nor what FACK counts, nor why three were not enough.
    for (stack, duplicates) in [("linux-6.12", 1), ("linux-2.4", 1), ("linux-6.12", 3)] {
        let mut script = Script::with(stack, &["sack"], false);
        let (at, next) = script.settle();
        script.send(at, next, next + 5);
        for _ in 0..duplicates {
            script.ack(at + 100, next, None);
        }
        script.retransmission(at + 300, next, Mechanism::Rto, NEEDED, 0);
        script.ack(at + 400, next + 5, None);
        assert_eq!(script.finish().remove("sack"), None, "{stack} {duplicates}");
    }
}

#[test]
fn what_a_probe_brought_is_one_timeout_without_either() {
    let mut script = Script::new("linux-6.12", &["no-sack", "no-tlp,no-rack", "no-tlp"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.retransmission(at + 202, next + 1, Mechanism::Tlp, NEEDED, 0);
    script.ack(at + 302, next, Some((next + 1, next + 2)));
    script.retransmission(at + 302, next, Mechanism::Rack, NEEDED, 0);
    script.ack(at + 402, next + 2, None);
    let rows = script.finish();
    for name in ["no-sack", "no-tlp,no-rack"] {
        assert_eq!(rows[name].changes.fr_to_rto, 1, "{name}");
        assert_eq!(rows[name].change, rows["no-tlp"].change, "{name}");
    }
}

/// A stack that probes only with SACK does so with it.
#[test]
fn with_sack_a_tail_is_probed() {
    let mut script = Script::with("linux-6.12", &["sack"], false);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.retransmission(at + 300, next, Mechanism::Rto, NEEDED, 0);
    script.ack(at + 400, next + 2, None);
    let row = &script.finish()["sack"];
    assert_eq!((row.changes.rto_to_fr, row.changes.fr_to_rto), (1, 0));
    // Two round trips and two ticks of a millisecond.
    near(
        seconds(row),
        -0.098 - fast_retransmit_for_timeout(4.0) * 0.1,
    );
}

/// A random sender: flights of which some packets are lost, delayed or reordered, timers that run out at random.
fn sender(script: &mut Script, turns: &[(u32, u64, u8, bool)]) {
    let (mut at, mut next, mut episode) = (0, 0, 0);
    for (flight, delay, event, spurious) in turns {
        let need = if *spurious { SPURIOUS } else { NEEDED };
        script.send(at, next, next + flight);
        let first = u64::from(*flight > 3);
        match event % 6 {
            0 | 1 => {}
            2 => {
                script.retransmission(at + delay * 3, next, Rto, need, episode);
                at += delay * 3;
            }
            3 => {
                for late in 1..*flight {
                    script.ack(at + delay, next, Some((next + 1, next + 1 + late)));
                }
                script.retransmission(at + delay, next, FastRetransmit, need, episode);
                at += delay;
            }
            4 => {
                script.retransmission(at + delay * 2 + 2, next + flight - 1, Tlp, need, episode);
                script.retransmission(at + delay * 4 + first, next, Rto, need, episode);
                at += delay * 4 + 1;
            }
            _ => {
                script.ack(at + delay, next, Some((next + 1, next + 2)));
                script.retransmission(at + delay * 2, next, Rack, need, episode);
                script.retransmission(at + delay * 9, next, Rto, need, episode);
                at += delay * 9;
            }
        }
        episode += 1;
        at += delay;
        next += flight;
        script.ack(at, next, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The sender's own setting changes nothing, whatever happened; and no replay panics.
    #[test]
    fn the_own_setting_changes_nothing(
        turns in prop::collection::vec((1_u32..12, 1_u64..900, any::<u8>(), any::<bool>()), 1..60),
        stack in 0..10_usize,
    ) {
        let stacks: Vec<&'static str> = rexmit_tcp::stacks::all().map(|page| page.name).collect();
        let page = rexmit_tcp::stacks::page(stacks[stack % stacks.len()]).unwrap();
        let own = &page.settings;
        let name = format!(
            "k={},min_rto={}ms,a=1/{},b=1/{},m={},d={},init_rto={}ms,sack",
            own.timers.rttvar_factor,
            own.timers.min_rto.as_nanos() / 1_000_000,
            1 << own.timers.rttvar_shift,
            1 << own.timers.srtt_shift,
            own.timers.srtt_factor,
            own.loss.dupack_threshold,
            own.timers.initial_rto.as_nanos() / 1_000_000,
        );
        let mut script = Script::new(page.name, &[&name, "default", "no-sack", "init_rto=5s", "grid"]);
        sender(&mut script, &turns);
        let rows = script.finish();
        prop_assert!(!rows.contains_key(&name), "{} {:?}", page.name, rows[&name]);
    }

    /// What is avoided and what is made otherwise are among the retransmissions that there were.
    #[test]
    fn no_more_changes_than_there_were_retransmissions(
        turns in prop::collection::vec((1_u32..12, 1_u64..900, any::<u8>(), any::<bool>()), 1..60),
    ) {
        let mut script = Script::new("linux-2.4", &["default", "no-sack", "grid"]);
        sender(&mut script, &turns);
        let made = u64::from(script.next);
        for (name, row) in script.finish() {
            prop_assert!(row.changes.avoided + row.changes.rto_to_fr + row.changes.fr_to_rto <= made, "{name}");
            prop_assert!(row.changes.spurious_rto_avoided + row.changes.spurious_fr_avoided <= made, "{name}");
            prop_assert!(row.change.as_secs_f64().is_finite());
        }
    }
}

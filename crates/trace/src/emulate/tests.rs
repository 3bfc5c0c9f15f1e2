//! Scripted exchanges, with the times of the kernels' rules (scaled to whole ticks).

mod left_out;
mod looks;
mod nothing;
mod rate;
mod spurious;

use rexmit_tcp::{Mechanism, SackList};
use rexmit_testing::steps;
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum, SeqRange};

use super::*;
use crate::necessary::Witness;
use crate::testing;

const MSS: u32 = 1_000;
const ISN: u32 = u32::MAX - 2_500;

/// A sender's events, written down in milliseconds.
struct Script {
    judges: Judges,
    retransmissions: u32,
    /// How far its times may be off.
    slack: Duration,
}

fn at(ms: f64) -> Time {
    Time::from_nanos(5_000_000_000 + (ms * 1e6) as u64)
}

fn seq(segment: u32) -> SeqNum {
    SeqNum::new(ISN) + (1 + segment * MSS)
}

impl Script {
    fn new(rtt_ms: i64) -> Self {
        Script::begun(rtt_ms, None)
    }

    /// The same, of a connection that began then by the capture's clock.
    fn begun(rtt_ms: i64, begun: Option<Time>) -> Self {
        Script::of(&SenderFacts {
            begun,
            isn: Some(SeqNum::new(ISN)),
            mss: MSS,
            sack: true,
            handshake_rtt: Some(Duration::from_millis(rtt_ms)),
            ..SenderFacts::default()
        })
    }

    fn of(facts: &SenderFacts) -> Self {
        Script {
            judges: Judges::new(facts),
            retransmissions: 0,
            slack: Duration::ZERO,
        }
    }

    /// A SYN or SYN-ACK.
    fn syn(mut self, ms: f64, kind: SentKind) -> Self {
        self.retransmissions += u32::from(kind != SentKind::New);
        self.judges.event(&SenderEvent::Sent(Sent {
            flags: Flags::SYN,
            slack: self.slack,
            ..testing::sent(at(ms), SeqRange::new(SeqNum::new(ISN), 1), kind)
        }));
        self
    }

    /// The peer's SYN.
    fn asked(mut self, ms: f64) -> Self {
        self.judges.asked(at(ms));
        self
    }

    fn send(&mut self, ms: f64, segments: core::ops::Range<u32>, kind: SentKind) {
        for segment in segments {
            let range = SeqRange {
                start: seq(segment),
                end: seq(segment + 1),
            };
            self.judges.event(&SenderEvent::Sent(Sent {
                slack: self.slack,
                own_time: self.slack == Duration::ZERO,
                ..testing::sent(at(ms), range, kind)
            }));
        }
    }

    /// A FIN without data after so many segments.
    fn bare_fin(mut self, ms: f64, segments: u32, again: bool) -> Self {
        let kind = if again {
            self.retransmissions += 1;
            SentKind::Retransmission(self.retransmissions - 1)
        } else {
            SentKind::New
        };
        self.judges.event(&SenderEvent::Sent(Sent {
            flags: Flags::FIN,
            slack: self.slack,
            ..testing::sent(at(ms), SeqRange::new(seq(segments), 1), kind)
        }));
        self
    }

    /// How well its page of 3.10 with all that it has explains what was sent again.
    fn worst_of_linux_3_10(&self) -> f64 {
        let mut standings = self.judges.standings();
        let own = standings.find(|(stack, _, _)| *stack == "linux-3.10");
        own.unwrap().2
    }

    fn new_data(mut self, ms: f64, segments: core::ops::Range<u32>) -> Self {
        self.send(ms, segments, SentKind::New);
        self
    }

    fn again(mut self, ms: f64, segment: u32) -> Self {
        let kind = SentKind::Retransmission(self.retransmissions);
        self.retransmissions += 1;
        self.send(ms, segment..segment + 1, kind);
        self
    }

    /// What a packet script says.
    fn play(self, script: &str) -> Self {
        steps(script).fold(self, |script, step| match step.what() {
            "new" => {
                let (from, to) = step.pair("new");
                script.new_data(step.at, from..to)
            }
            "again" => script.again(step.at, step.pair("again").0),
            _ => script.ack(step.at, step.pair("ack").0, &step.pairs("sack")),
        })
    }

    fn ack(self, ms: f64, segment: u32, sacks: &[(u32, u32)]) -> Self {
        self.ack_twice(ms, segment, sacks, None)
    }

    /// An acknowledgement that reports that a segment came twice.
    fn ack_twice(
        mut self,
        ms: f64,
        segment: u32,
        sacks: &[(u32, u32)],
        twice: Option<u32>,
    ) -> Self {
        let mut list = SackList::default();
        for (start, end) in sacks {
            list.push(SeqRange {
                start: seq(*start),
                end: seq(*end),
            });
        }
        self.judges.event(&SenderEvent::Acked(Acked {
            at: at(ms),
            ack: seq(segment),
            window: 1 << 20,
            sacks: list,
            dsack: twice.map(|twice| SeqRange {
                start: seq(twice),
                end: seq(twice + 1),
            }),
            stamp: None,
            echo: None,
            carried: SeqRange::default(),
            slack: self.slack,
        }));
        self
    }

    fn verdict(&self, number: u32) -> Explanation {
        self.judges.verdict(number, &Witness::of_all()).unwrap()
    }

    fn mechanisms(&self) -> Vec<&'static str> {
        (0..self.retransmissions)
            .map(|number| self.verdict(number).judged.mechanism.as_str())
            .collect()
    }
}

#[test]
fn the_last_of_three_lost_is_probed_and_the_others_found_by_rack() {
    // Facts E.7: the probe 102 ms after the last acknowledgement, then a wait of a quarter of 50 ms and 2 ms.
    let script = Script::new(50)
        .play("0 new 0-10; 50 ack 7; 156 again 9; 206 ack 7 sack 9-10; 226 again 7; 226 again 8");
    assert_eq!(script.mechanisms(), ["tlp", "rack", "rack"]);
    assert!(
        !script.verdict(0).judged.either,
        "three are out: a timeout would come later"
    );
    let places: Vec<u32> = (0..3).map(|n| script.verdict(n).episode).collect();
    assert_eq!(places, [0, 0, 0]);
}

#[test]
fn one_packet_out_is_probed_when_a_timeout_would_come() {
    let script = Script::new(20).new_data(0.0, 0..1).again(222.0, 0);
    let verdict = script.verdict(0);
    assert_eq!(verdict.judged.mechanism, Mechanism::Tlp);
    assert!(verdict.judged.either);
    assert_eq!(verdict.judged.runner_up.unwrap().0, Mechanism::Rto);
    // A timeout that was not backed off follows a probe, one twice as long a timeout.
    let probed = Script::new(20).play("0 new 0-1; 222 again 0; 444 again 0");
    assert_eq!(probed.mechanisms(), ["tlp", "rto"]);
    assert!(!probed.verdict(0).judged.either);
    let backed_off = Script::new(20).play("0 new 0-1; 222 again 0; 670 again 0");
    assert_eq!(backed_off.mechanisms(), ["rto", "rto"]);
}

#[test]
fn one_packet_that_was_lost_before_the_monitor_is_probed_as_any() {
    let mut script = Script::new(20);
    script.slack = Duration::from_millis(1);
    let script = script.play("0 new 0-1; 20 ack 1; 242 again 1; 464 again 1");
    assert_eq!(script.mechanisms(), ["tlp", "rto"]);
}

/// A client's request that never came by left when the handshake was over, at the earliest.
#[test]
fn the_first_data_were_sent_after_the_handshake() {
    let mut script = Script::of(&SenderFacts {
        mss: MSS,
        sack: true,
        client: true,
        ..SenderFacts::default()
    });
    script.slack = Duration::from_millis(1);
    let script = script.syn(0.0, SentKind::New).play("20 ack 0; 242 again 0");
    assert_eq!(script.mechanisms(), ["tlp"]);
}

#[test]
fn linux_3_10_probes_no_bare_fin_and_waits_a_timeout_more() {
    // The probe would be due with the timeout of 220 ms; the timeout follows it.
    let begun = || Script::new(20).new_data(0.0, 0..1).ack(20.0, 1, &[]);
    let fin = begun().bare_fin(100.0, 1, false).bare_fin(540.0, 1, true);
    assert!(
        fin.worst_of_linux_3_10() > -3.0,
        "{}",
        fin.worst_of_linux_3_10()
    );
    let probed = begun().bare_fin(100.0, 1, false).bare_fin(320.0, 1, true);
    assert!(probed.worst_of_linux_3_10() < -3.0);
    let data = begun().new_data(100.0, 1..2).again(540.0, 1);
    assert!(data.worst_of_linux_3_10() < -3.0);
}

#[test]
fn what_follows_a_timeout_belongs_to_it() {
    // All ten are lost: the probe, the timeout of the head, and the others as acknowledgements let them.
    let script = Script::new(50).play(
        "0 new 0-10; 104 again 9; 356 again 0; 406 ack 1; 406 again 1; 406 again 2; 456 ack 3; \
             456 again 3",
    );
    assert_eq!(
        script.mechanisms(),
        ["tlp", "rto", "rto-recovery", "rto-recovery", "rto-recovery"]
    );
}

#[test]
fn the_second_duplicate_makes_windows_send_again() {
    let mut script = Script::new(50).new_data(0.0, 0..2).ack(50.0, 2, &[]);
    let mut lost = 2;
    for (n, round) in [1_000.0, 2_000.0, 3_000.0].into_iter().enumerate() {
        script = script
            .new_data(round, lost..lost + 3)
            .ack(round + 50.0, lost, &[(lost + 1, lost + 2)])
            .ack(round + 51.0, lost, &[(lost + 1, lost + 3)])
            .again(round + 51.0, lost)
            .ack(round + 101.0, lost + 3, &[]);
        assert_eq!(script.verdict(n as u32).episode, n as u32);
        lost += 3;
    }
    assert_eq!(script.mechanisms(), ["fast-retransmit"; 3]);
    let identity = script.judges.identity();
    assert_eq!(identity.stacks.first(), Some(&"windows-xp"), "{identity:?}");
    let d = identity.parameters.d.unwrap();
    assert_eq!(d.value, 2.0);
    assert!(d.low <= 2.0 && d.high <= 3.0, "{d:?}");
}

#[test]
fn acknowledgements_of_nothing_sent_move_nothing() {
    let script = Script::new(50).play("0 new 0-4; 20 ack 40; 50 ack 4; 60 new 4-5; 312 again 4");
    assert!(script.verdict(0).judged.timer.is_some());
}

#[test]
fn room_is_used_again_and_nothing_stays_in_it() {
    let run = |recycled: Recycled| {
        let mut script = Script::new(50);
        script.judges = Judges::within(&script.judges.facts, Chosen::default(), recycled);
        let script =
            script.play("0 new 0-10; 50 ack 1 sack 2-5; 50 again 1; 100 ack 5; 356 again 5");
        let standings: Vec<_> = script.judges.standings().collect();
        let verdicts = [script.verdict(0), script.verdict(1)];
        (standings, verdicts, script.judges.leave())
    };
    let (standings, verdicts, recycled) = run(Recycled::default());
    let places = recycled.places.capacity();
    assert!(places > 0);
    let (again, verdicts_again, recycled) = run(recycled);
    assert_eq!(
        (again, verdicts_again, recycled.places.capacity()),
        (standings, verdicts, places)
    );
}

#[test]
fn verdicts_are_forgotten_when_they_were_given_out() {
    let mut script = Script::new(50).play("0 new 0-10; 104 again 9; 356 again 0");
    script.judges.forget_before(1);
    assert_eq!(script.judges.verdict(0, &Witness::of_all()), None);
    assert_eq!(script.verdict(1).episode, 0);
}

#[test]
fn a_minimum_of_the_route_shows_in_the_first_timeout() {
    // A minimum of 64 ms: the timeout is 84 ms after a probe and is known from then on.
    let mut script = Script::new(20);
    for (round, lost) in [(0.0, 0), (1_000.0, 11), (2_000.0, 22)] {
        script = script
            .new_data(round, lost..lost + 10)
            .again(round + 44.0, lost + 9)
            .again(round + 128.0, lost)
            .ack(round + 148.0, lost + 10, &[])
            .new_data(round + 500.0, lost + 10..lost + 11)
            .ack(round + 520.0, lost + 11, &[]);
    }
    assert_eq!(script.mechanisms(), ["tlp", "rto"].repeat(3));
    let timer = script.verdict(5).judged.timer.unwrap();
    assert!(
        timer >= Duration::from_millis(76) && timer <= Duration::from_millis(92),
        "{timer}"
    );
    let identity = script.judges.identity();
    assert!(identity.stacks.contains(&"linux-6"), "{identity:?}");
    let minimum = identity.parameters.min_rto_s.unwrap();
    assert!(minimum.low <= 0.064 && 0.064 <= minimum.high, "{minimum:?}");
}

#[test]
fn duplicates_of_the_network_widen_no_reordering_window() {
    // Reordering was seen; then the first of ten is lost: RACK waits a quarter of 40 ms and 2 ms, for all the reports of
    // what was sent once.
    let twice =
        |script: Script, ms, segment, twice| script.ack_twice(ms, segment, &[], Some(twice));
    let mut script = Script::new(40).play("0 new 0-10; 40 ack 0 sack 1-2; 40.5 ack 2; 41 ack 10");
    for (n, round) in [100.0, 200.0, 300.0].into_iter().enumerate() {
        let segment = 10 + n as u32;
        script = script.new_data(round, segment..segment + 1);
        script = twice(
            script.ack(round + 40.0, segment + 1, &[]),
            round + 40.1,
            segment + 1,
            segment,
        );
    }
    let script = script.play("400 new 13-23; 440 ack 13 sack 14-23; 453 again 13");
    assert_eq!(script.mechanisms(), ["rack"]);
    let (stack, _, worst) = script.judges.standings().next().unwrap();
    assert_eq!(stack, "linux-6");
    assert!(worst > -0.5, "{worst}");
}

#[test]
fn another_threshold_of_duplicates_is_learned() {
    for threshold in [2, 6] {
        let mut script = Script::new(50).new_data(0.0, 0..2).ack(50.0, 2, &[]);
        for (round, lost) in [(1_000.0, 2), (2_000.0, 14), (3_000.0, 26)] {
            script = script.new_data(round, lost..lost + 12);
            // Acknowledgements a millisecond apart: none is too close to the one before.
            for above in 1..=threshold {
                let at = round + 50.0 + f64::from(above);
                script = script.ack(at, lost, &[(lost + 1, lost + 1 + above)]);
            }
            let at = round + 50.0 + f64::from(threshold);
            script = script.again(at, lost).ack(at + 50.0, lost + 12, &[]);
        }
        assert_eq!(script.mechanisms(), ["rack"; 3], "{threshold}");
        let (stack, score, worst) = script.judges.standings().next().unwrap();
        assert_eq!(stack, "linux-6");
        assert!(score > 0.0 && worst > -4.5, "{threshold}: {score} {worst}");
        let d = script.judges.identity().parameters.d.unwrap();
        assert_eq!(d.value, f64::from(threshold), "{d:?}");
    }
}

#[test]
fn what_exceeds_the_window_after_a_timeout_shows_that_there_was_none() {
    // It left when the timeout was due, and times are unsure; then one leaves with each report, and none was acknowledged.
    let mut script = Script::new(50);
    script.slack = Duration::from_millis(30);
    let begun = script.play("0 new 0-20; 50 ack 4; 90 ack 4 sack 8-9; 270 again 4");
    assert_eq!(begun.mechanisms(), ["rto"]);
    let script = begun.play(
        "271 ack 4 sack 8-10; 272 again 5; 273 ack 4 sack 8-11; 274 again 6; 275 ack 4 sack 8-12; \
             276 again 7",
    );
    assert_eq!(script.mechanisms(), ["rack"; 4]);
}

/// An acknowledgement that newer ones have overtaken is dropped (`tcp_validate_incoming`), its blocks with it: they are no
/// sign of reordering among the data, for which RACK would wait longer.
#[test]
fn an_overtaken_acknowledgement_is_dropped_with_its_blocks() {
    let acked = |ms: f64, una: u32, sacks: &[(u32, u32)], (own, len): (u32, u32), stamp: u32| {
        let mut list = SackList::default();
        for (start, end) in sacks {
            list.push(SeqRange {
                start: seq(*start),
                end: seq(*end),
            });
        }
        SenderEvent::Acked(Acked {
            sacks: list,
            stamp: Some(stamp),
            carried: SeqRange::new(SeqNum::new(own), len),
            ..testing::acked(at(ms), seq(una))
        })
    };
    let reordered = |own: u32| {
        let mut script = Script::new(50).new_data(0.0, 0..20);
        // Data of the receiver's come first, then what it had sent before them.
        script
            .judges
            .event(&acked(50.0, 10, &[(15, 16)], (100, 24), 7));
        script
            .judges
            .event(&acked(50.1, 10, &[(12, 13)], (own, 0), 6));
        script.judges.senders[0].has_seen_reordering()
    };
    assert!(!reordered(100), "overtaken");
    assert!(reordered(124), "sent after the data");
}

#[test]
fn a_syn_again_before_its_timer_is_unknown() {
    let client = SenderFacts {
        isn: Some(SeqNum::new(ISN)),
        client: true,
        ..SenderFacts::default()
    };
    let probe = Script::of(&client)
        .syn(0.0, SentKind::New)
        .syn(175.0, SentKind::Retransmission(0));
    assert_eq!(probe.mechanisms(), ["unknown"]);
    let lost = Script::of(&client)
        .syn(0.0, SentKind::New)
        .syn(1000.0, SentKind::Retransmission(0))
        .syn(3000.0, SentKind::Retransmission(1));
    assert_eq!(lost.mechanisms(), ["rto", "rto"]);
}

#[test]
fn a_syn_ack_again_is_the_timers_or_answers_a_syn_that_came_again() {
    let server = SenderFacts {
        isn: Some(SeqNum::new(ISN)),
        ..SenderFacts::default()
    };
    let first = || Script::of(&server).asked(0.0).syn(0.02, SentKind::New);
    let again = SentKind::Retransmission(0);
    assert_eq!(first().syn(100.0, again).mechanisms(), ["unknown"]);
    assert_eq!(first().syn(1000.0, again).mechanisms(), ["rto"]);
    let answer = first().asked(100.0).syn(100.02, again);
    assert_eq!(answer.mechanisms(), ["rto"]);
}

#[test]
fn stacks_of_later_years_than_the_captures_explain_nothing() {
    let year =
        |year: u64| Time::from_nanos((year - 1970) * 31_556_952_000_000_000 + 86_400_000_000_000);
    let mechanisms = |begun| {
        let script = Script::begun(50, begun).play(
            "0 new 0-10; 50 ack 7; 156 again 9; 206 ack 7 sack 9-10; 226 again 7; 226 again 8",
        );
        script.mechanisms()
    };
    let newest = ["tlp", "rack", "rack"];
    assert_eq!(mechanisms(None), newest);
    assert_eq!(mechanisms(Some(year(2024))), newest);
    // The clock was never set.
    assert_eq!(mechanisms(Some(year(1970))), newest);
    assert_eq!(mechanisms(Some(year(1985))), newest);
    let before_rack = mechanisms(Some(year(2014)));
    assert!(
        before_rack[0] == "tlp" && !before_rack.contains(&"rack"),
        "{before_rack:?}"
    );
    let before_probes = mechanisms(Some(year(2010)));
    for later in ["tlp", "rack", "early-retransmit"] {
        assert!(!before_probes.contains(&later), "{before_probes:?}");
    }
}

/// Every second of eight segments is lost. By counting, the last two holes have too few segments above them and wait for the
/// timer; RACK has found them lost with the first, and would have sent them with the last acknowledgement.
#[test]
fn what_waits_for_the_timer_with_nothing_in_flight_was_not_found_lost() {
    let script = Script::new(50)
        .play("0 new 0-8; 50 ack 0 sack 1-2; 51 ack 0 sack 1-2,3-4; 52 ack 0 sack 1-2,3-4,5-6; 52 again 0; \
             53 ack 0 sack 1-2,3-4,5-6,7-8; 53 again 2; 102 ack 2 sack 3-4,5-6,7-8; \
             103 ack 4 sack 5-6,7-8; 355 again 4; 405 ack 6 sack 7-8; 405 again 6; 455 ack 8");
    let names = ["fast-retransmit", "sack-recovery", "rto", "rto-recovery"];
    assert_eq!(script.mechanisms(), names);
}

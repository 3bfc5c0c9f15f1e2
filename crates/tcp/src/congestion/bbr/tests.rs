use rexmit_time::{Duration, Time};

use super::*;
use crate::congestion::AckEffect;
use crate::stacks;

/// A connection that BBR governs, with segments of 1,000 bytes.
struct One {
    bbr: Bbr,
    window: Window,
    pacing_rate: u64,
    facts: Facts,
}

impl One {
    /// A handshake of 10 ms is over at 1 s.
    fn new() -> Self {
        let settings = stacks::page("linux-6.12").unwrap().settings;
        let mut one = One {
            bbr: Bbr::new(&settings, 7),
            window: Window::new(10),
            pacing_rate: u64::MAX,
            facts: Facts {
                now: Time::from_nanos(1_000_000_000),
                tick: 250,
                hz: 250,
                state: CaState::Open,
                in_flight: 0,
                delivered: 1,
                lost: 0,
                mss: 1_000,
                srtt_us8: 80_000,
                min_rtt_us: 10_000,
                departs: Time::from_nanos(0),
            },
        };
        one.call(|bbr, governed, facts| bbr.begin(governed, facts));
        one
    }

    fn call(&mut self, act: impl FnOnce(&mut Bbr, &mut Governed<'_>, &Facts)) {
        let mut governed = Governed {
            window: &mut self.window,
            pacing_rate: &mut self.pacing_rate,
        };
        act(&mut self.bbr, &mut governed, &self.facts);
    }

    /// `ms` later `newly` segments are delivered, and a sample says that `delivered` were in `interval_us`, a round of its own.
    fn ack(&mut self, ms: i64, newly: u32, (delivered, interval_us): (u32, u32), losses: u32) {
        let facts = &mut self.facts;
        let prior_delivered = facts.delivered;
        facts.now += Duration::from_millis(ms);
        facts.tick = facts.now.as_nanos() as i64 / 4_000_000;
        facts.delivered += newly;
        facts.lost += losses;
        self.bbr.pacing.rate.delivered_at = micros(facts.now);
        let sample = RateSample {
            effect: AckEffect {
                at: micros(facts.now),
                newly,
                losses,
                delivered: facts.delivered,
                min_rtt_us: 10_000,
                prior_in_flight: facts.in_flight + newly,
                rtt_us: Some(10_000),
                delayed: false,
            },
            prior_delivered,
            delivered: Some(delivered),
            interval_us: Some(interval_us),
            app_limited: false,
        };
        self.call(|bbr, governed, facts| bbr.on_ack(governed, facts, &sample));
    }
}

#[test]
fn gains_are_the_kernel_s() {
    assert_eq!((HIGH_GAIN, DRAIN_GAIN, WINDOW_GAIN), (739, 88, 512));
    assert_eq!(CYCLE, [320, 192, 256, 256, 256, 256, 256, 256]);
}

#[test]
fn the_first_rate_is_the_first_window_in_a_round_trip_times_2_89_less_a_percent() {
    // 10 << 24 / 10,000 us = 16,777 (of 16,777.2); times 1,000 bytes times 739 / 256, times 990,000, >> 24.
    assert_eq!(One::new().pacing_rate, 2_857_814);
    // A segment a microsecond.
    assert_eq!(rate_bytes(1 << RATE_BITS, 1_000, ONE), 990_000_000);
}

#[test]
fn startup_grows_until_three_rounds_bring_less_than_a_quarter_more_and_drains() {
    let mut one = One::new();
    one.facts.in_flight = 10;
    one.ack(10, 10, (10, 10_000), 0);
    assert_eq!((one.bbr.mode, one.window.cwnd), (Mode::Startup, 20));
    one.facts.in_flight = 60;
    one.ack(10, 20, (20, 10_000), 0);
    let rate = one.pacing_rate;
    // 2,000 segments a second times 2.89 less a percent.
    assert_eq!(rate, 5_715_629);
    for rounds in 1..3 {
        one.ack(10, 20, (20, 10_000), 0);
        assert_eq!((one.bbr.mode, one.bbr.full.rounds), (Mode::Startup, rounds));
    }
    one.ack(10, 20, (20, 10_000), 0);
    assert_eq!(one.bbr.mode, Mode::Drain);
    // 20 segments are the product (rounded up, as 2,000 a second is a little less); three packets of five besides, made even.
    assert_eq!(one.window.ssthresh, 36);
    assert_eq!(one.pacing_rate, 680_616);
    one.facts.in_flight = 26;
    one.ack(10, 20, (20, 10_000), 0);
    assert_eq!(one.bbr.mode, Mode::Cycle);
    assert_ne!(one.bbr.phase, 1, "never the phase that drains");
}

#[test]
fn each_phase_but_that_which_drains_begins_a_cycle_one_time_in_seven() {
    let mut one = One::new();
    let mut begun = [0_u32; 8];
    for _ in 0..7_000 {
        one.call(|bbr, _, _| bbr.begin_cycle());
        begun[one.bbr.phase] += 1;
    }
    assert_eq!(begun[1], 0);
    for (phase, times) in begun
        .into_iter()
        .enumerate()
        .filter(|(phase, _)| *phase != 1)
    {
        assert!((850..1_150).contains(&times), "{phase}: {times}");
    }
}

#[test]
fn a_recovery_conserves_packets_for_a_round_and_the_window_comes_back() {
    let mut one = One::new();
    one.facts.in_flight = 10;
    one.ack(10, 10, (10, 10_000), 0);
    one.ack(10, 20, (20, 10_000), 0);
    assert_eq!(one.window.cwnd, 40);
    let kept = one.bbr.ssthresh(&one.window);
    assert_eq!((kept, one.bbr.prior_cwnd), (Window::INFINITE, 40));
    one.facts.state = CaState::Recovery;
    one.facts.in_flight = 8;
    one.ack(1, 2, (20, 10_000), 3);
    // What is in flight and what was delivered: as much leaves as arrives.
    assert_eq!((one.bbr.conserves, one.window.cwnd), (true, 10));
    one.ack(10, 2, (20, 10_000), 1);
    assert_eq!(
        (one.bbr.conserves, one.window.cwnd),
        (false, 11),
        "10 - 1 + 2"
    );
    one.facts.state = CaState::Open;
    one.ack(10, 2, (20, 10_000), 0);
    assert_eq!(one.window.cwnd, 42);
}

#[test]
fn after_ten_seconds_little_is_in_flight_for_200_ms_and_a_round() {
    let mut one = One::new();
    one.facts.in_flight = 10;
    one.ack(10, 10, (10, 10_000), 0);
    one.facts.min_rtt_us = 12_000;
    let before = one.window.cwnd;
    one.ack(10_020, 10, (10, 10_000), 0);
    assert_eq!((one.bbr.mode, one.window.cwnd), (Mode::ProbeRtt, 4));
    assert_eq!(one.bbr.prior_cwnd, before);
    assert_eq!(one.bbr.pacing.rate.app_limited, one.facts.delivered + 10);
    one.facts.in_flight = 4;
    one.ack(10, 4, (4, 10_000), 0);
    // A round passes, the time does not, and then it does.
    one.ack(100, 4, (4, 10_000), 0);
    assert_eq!(one.bbr.mode, Mode::ProbeRtt);
    one.ack(104, 4, (4, 10_000), 0);
    assert_eq!(one.bbr.mode, Mode::Cycle, "the path was full");
    assert!(one.window.cwnd >= before);
}

#[test]
fn two_stretches_that_lose_alike_are_a_policer_s() {
    let mut one = One::new();
    one.facts.in_flight = 10;
    // Each round delivers 10 in 20 ms and loses 3: over 20 %.
    let mut rounds = 0;
    while !one.bbr.long_term.in_use {
        one.ack(20, 10, (10, 10_000), 3);
        rounds += 1;
        assert!(rounds < 20);
    }
    assert_eq!(rounds, 8, "twice four rounds");
    // 500 segments a second, in segments a microsecond << 24.
    assert_eq!(one.bbr.bandwidth(), 8_388);
    // Of Startup's rate, which was higher, nothing is left: the path was found full meanwhile.
    assert_eq!(one.pacing_rate, 494_964);
}

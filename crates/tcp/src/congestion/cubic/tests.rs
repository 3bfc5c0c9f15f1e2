//! The numbers here are what the functions of the kernels themselves give for the same calls: `tcp_cubic.c` and
//! `tcp_cong.c` of 6.1, and of 3.10.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::super::{Context, Control, Siblings, Window};
use crate::clock::{Clock, Wheel};
use crate::settings::Settings;
use crate::stacks;

const MSS: u32 = 1448;

/// A connection whose every segment is acknowledged, without its packets.
struct Rig {
    clock: Clock,
    control: Control,
    window: Window,
    now: Time,
    una: SeqNum,
    nxt: SeqNum,
    pacing_rate: u64,
}

impl Rig {
    fn new(stack: &str, hz: u32, cwnd: u32) -> Self {
        let mut settings = stacks::page(stack).unwrap().settings;
        settings.timers.hz = hz;
        Rig::with(&settings, cwnd)
    }

    fn with(settings: &Settings, cwnd: u32) -> Self {
        let clock = Clock::linux(settings.timers.hz, Wheel::Exact);
        let now = Time::from_nanos(301_000_000_000);
        let una = SeqNum::new(1000);
        let ctx = Context {
            now,
            clock: &clock,
            una,
            nxt: una,
            open: true,
            pacing_rate: 0,
        };
        Rig {
            clock,
            control: Control::new(settings, &ctx),
            window: Window::new(cwnd),
            now,
            una,
            nxt: una,
            pacing_rate: 0,
        }
    }

    /// An acknowledgement of `count` segments, `gap` after the one before.
    fn ack(&mut self, gap: Duration, count: u32, rtt: Duration) {
        self.now += gap;
        self.una += count * MSS;
        self.nxt = self.una + self.window.cwnd * MSS;
        let clock = self.clock;
        let ctx = self.context(&clock);
        self.control.acked(&mut self.window, &ctx, count, Some(rtt));
        self.control
            .cong_avoid(&mut self.window, &ctx, &Siblings::default(), count);
    }

    fn context<'a>(&self, clock: &'a Clock) -> Context<'a> {
        Context {
            now: self.now,
            clock,
            una: self.una,
            nxt: self.nxt,
            open: true,
            pacing_rate: self.pacing_rate,
        }
    }

    /// A round trip in which all of the window is acknowledged, an acknowledgement for each `every` segments.
    fn round(&mut self, rtt: Duration, every: u32) -> u32 {
        let acks = (self.window.cwnd / every).max(1);
        for _ in 0..acks {
            self.ack(rtt / i64::from(acks), every, rtt);
        }
        self.window.cwnd
    }

    fn cut(&mut self) {
        self.window.prior_cwnd = self.window.cwnd;
        self.window.ssthresh = self.control.ssthresh(&self.window, &Siblings::default());
        self.window.cwnd = self.window.ssthresh;
    }

    fn undo(&mut self) -> u32 {
        self.control.undo_cwnd(&self.window)
    }

    fn lose(&mut self) {
        self.cut();
        self.window.cwnd = 1;
        let clock = self.clock;
        let ctx = self.context(&clock);
        self.control.enter_loss(&ctx);
    }
}

fn rounds(stack: &str, hz: u32, every: u32) -> Vec<u32> {
    let rtt = Duration::from_millis(100);
    let mut rig = Rig::new(stack, hz, 100);
    rig.cut();
    (0..20).map(|_| rig.round(rtt, every)).collect()
}

#[test]
fn the_curve_after_a_loss() {
    assert_eq!(
        rounds("linux-6.1", 250, 1),
        [72, 74, 76, 78, 80, 82, 83, 85, 86, 87, 88, 90, 91, 92, 93, 94, 95, 95, 96, 97]
    );
    assert_eq!(
        rounds("linux-3.10", 250, 1),
        [74, 76, 78, 80, 82, 83, 85, 86, 88, 89, 90, 91, 92, 93, 93, 94, 95, 96, 96, 97]
    );
    // An acknowledgement for every second segment makes up for it.
    assert_eq!(
        rounds("linux-3.10", 1000, 2),
        [73, 75, 77, 79, 81, 82, 84, 85, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 96, 97]
    );
}

/// Round trips that grow by 2 ms a round from 40 ms; the threshold after each round.
fn thresholds(stack: &str) -> Vec<u32> {
    let mut rig = Rig::new(stack, 250, 10);
    (0..8)
        .map(|round| {
            rig.round(Duration::from_millis(40 + 2 * round), 1);
            rig.window.ssthresh
        })
        .collect()
}

#[test]
fn hystart_ends_slow_start_when_round_trips_grow() {
    let expected = [Window::INFINITE, Window::INFINITE, 62, 62, 62, 62, 62, 62];
    assert_eq!(thresholds("linux-6.1"), expected);
    assert_eq!(thresholds("linux-3.10"), expected);
}

/// A train of acknowledgements half a millisecond apart: the window when slow start ends, and when.
fn train(stack: &str, hz: u32, pacing_rate: u64) -> (u32, u64) {
    let mut rig = Rig::new(stack, hz, 20);
    rig.pacing_rate = pacing_rate;
    let start = rig.now;
    while rig.window.ssthresh == Window::INFINITE {
        rig.ack(Duration::from_micros(500), 1, Duration::from_millis(30));
    }
    (
        rig.window.ssthresh,
        (rig.now - start).as_nanos() as u64 / 1_000,
    )
}

#[test]
fn in_the_first_five_minutes_after_boot_3_10_4_sees_no_round_trip_grow() {
    let window = |stack: &str, seconds: u64| {
        let mut rig = Rig::new(stack, 250, 30);
        rig.now = Time::from_nanos(seconds * 1_000_000_000);
        for round in 0..4 {
            for _ in 0..20 {
                let rtt = Duration::from_millis(50 + 30 * round);
                rig.ack(Duration::from_millis(5), 1, rtt);
            }
        }
        rig.window.ssthresh
    };
    // One that was up for long, and one whose time has just passed zero.
    assert!(window("linux-3.10", 400) < 100);
    assert_eq!(window("linux-3.10", 200), Window::INFINITE);
    assert!(window("linux-4.1", 200) < 100);
}

#[test]
fn hystart_ends_slow_start_at_a_long_train() {
    assert_eq!(train("linux-6.1", 250, 0), (72, 26_500));
    assert_eq!(train("linux-6.1", 250, 1_000_000), (73, 27_000));
    assert_eq!(train("linux-3.10", 250, 0), (73, 27_000));
    assert_eq!(train("linux-3.10", 1000, 0), (73, 27_000));
}

/// A long run of everything, drawn from a counter; a sum over all windows and thresholds shows a single wrong step.
fn everything(stack: &str, hz: u32) -> (u32, u32, u64) {
    let mut rig = Rig::new(stack, hz, 10);
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut sum = 0_u64;
    for _ in 0..20_000 {
        let gap = Duration::from_micros([50, 500, 1_999, 2_001, 12_000][draw(5) as usize]);
        let rtt = Duration::from_micros(40_000 + draw(6_000) as i64);
        match draw(1_000) {
            0..=994 => rig.ack(gap, 1 + draw(3) as u32, rtt),
            995..=997 => rig.cut(),
            998 => rig.lose(),
            _ => rig.window.cwnd = rig.undo(),
        }
        sum = sum
            .wrapping_mul(31)
            .wrapping_add(u64::from(rig.window.cwnd) << 32 | u64::from(rig.window.ssthresh));
    }
    (rig.window.cwnd, rig.window.ssthresh, sum)
}

#[test]
fn every_step_is_the_kernels() {
    assert_eq!(
        everything("linux-6.1", 250),
        (32, 28, 4_167_036_818_165_148_904)
    );
    assert_eq!(
        everything("linux-6.1", 1000),
        (31, 28, 588_085_059_694_661_607)
    );
    assert_eq!(
        everything("linux-3.10", 250),
        (32, 30, 10_522_920_365_526_408_127)
    );
    assert_eq!(
        everything("linux-3.10", 1000),
        (29, 25, 10_177_843_652_401_222_529)
    );
}

#[test]
fn idle_time_does_not_count_on_the_curve_of_6_1() {
    let windows = |idle: bool| {
        let rtt = Duration::from_millis(100);
        let mut rig = Rig::new("linux-6.1", 250, 100);
        rig.cut();
        rig.round(rtt, 1);
        if idle {
            let last_sent = rig.now;
            rig.now += Duration::from_secs(30);
            let clock = rig.clock;
            let ctx = rig.context(&clock);
            rig.control.tx_start(&ctx, last_sent);
        }
        (0..5).map(|_| rig.round(rtt, 1)).collect::<Vec<_>>()
    };
    assert_eq!(windows(true), windows(false));
}

/// A window of ten, acknowledged two at a time.
#[test]
fn slow_start_counts_acknowledgements_or_segments() {
    let after = |stack: &str, byte_counting| {
        let mut settings = stacks::page(stack).unwrap().settings;
        settings.congestion.byte_counting = byte_counting;
        let mut rig = Rig::with(&settings, 10);
        rig.round(Duration::from_millis(100), 2)
    };
    assert_eq!(after("linux-3.10", false), 15);
    assert_eq!(after("linux-3.10", true), 20);
    assert_eq!(after("linux-6.1", true), 20);
    assert_eq!(after("linux-6.1", false), 15);
}

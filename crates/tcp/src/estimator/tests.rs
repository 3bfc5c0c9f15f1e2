use proptest::prelude::*;
use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::{Batch, Form, Rfc6298, Rtt, Variant};
use crate::clock::{Clock, Wheel};
use crate::settings::Settings;
use crate::stacks;

fn settings(stack: &str, hz: u32) -> Settings {
    let mut settings = stacks::page(stack).unwrap().settings;
    settings.timers.hz = hz;
    settings
}

fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

fn in_ms(span: Duration) -> i64 {
    span.as_nanos() / 1_000_000
}

/// Samples `rtts`, in milliseconds, as many a window of data as `per_window`; the timeout after each.
fn timeouts(settings: &Settings, rtts: &[i64], per_window: u32) -> Vec<i64> {
    let mut rtt = Rtt::new(settings);
    let mut una = SeqNum::new(u32::MAX - 5);
    rtts.iter()
        .map(|sample| {
            una += 1;
            rtt.sample(ms(*sample), una, una + (per_window - 1));
            in_ms(rtt.rto())
        })
        .collect()
}

/// The timeouts of Linux in ticks of a millisecond, as the specification has them, and in microseconds, as the
/// kernel's own function gives them; they differ in what is rounded.
fn linux(rtts: &[i64], per_window: u32, in_ticks: &[i64], in_micros: &[i64]) {
    let timeouts = |stack| timeouts(&settings(stack, 1000), rtts, per_window);
    assert_eq!(timeouts("linux-3.10"), in_ticks);
    assert_eq!(timeouts("linux-6.1"), in_micros);
}

#[test]
fn linux_never_times_out_before_the_round_trip_and_200_ms() {
    linux(&[20; 3], 1, &[220; 3], &[220; 3]);
    linux(&[100; 10], 1, &[300; 10], &[300; 10]);
    // Half of a long first round trip is deviation, four of which make three round trips of it.
    linux(&[300], 1, &[900], &[900]);
}

#[test]
fn linux_lets_the_deviation_of_the_first_sample_decay_once_a_window() {
    linux(
        &[200; 8],
        1,
        &[600, 600, 557, 518, 489, 467, 451, 439],
        &[600, 600, 556, 517, 487, 465, 449, 437],
    );
}

#[test]
fn linux_follows_a_path_that_grows_longer() {
    linux(
        &[50, 50, 50, 50, 250, 250, 250, 250],
        1,
        &[250, 250, 250, 250, 308, 446, 533, 579],
        &[250, 250, 250, 250, 306, 445, 530, 577],
    );
}

#[test]
fn linux_hardly_raises_the_deviation_as_a_path_grows_shorter() {
    linux(
        &[250, 250, 250, 50, 50, 50, 50, 50, 50],
        1,
        &[750, 750, 696, 634, 588, 553, 525, 503, 485],
        &[750, 750, 695, 633, 586, 551, 524, 503, 486],
    );
}

#[test]
fn linux_keeps_the_largest_deviation_of_a_window() {
    linux(
        &[100, 300].repeat(6),
        4,
        &[300, 475, 471, 539, 533, 577, 569, 599, 590, 611, 602, 619],
        &[300, 475, 471, 537, 532, 574, 567, 596, 587, 609, 600, 617],
    );
}

#[test]
fn linux_takes_the_minimum_of_a_route() {
    for stack in ["linux-3.10", "linux-6.1"] {
        let mut rtt = Rtt::new(&settings(stack, 1000));
        let mut una = SeqNum::new(1);
        let mut sample = |rtt: &mut Rtt, millis| {
            una += 1;
            rtt.sample(ms(millis), una, una);
            in_ms(rtt.rto())
        };
        // The deviation of the first sample decays by a quarter in each window.
        for _ in 0..40 {
            sample(&mut rtt, 80);
        }
        assert_eq!(in_ms(rtt.rto()), 280);
        rtt.set_minimum(ms(30));
        assert_eq!(
            in_ms(rtt.rto()),
            110,
            "the deviation is long less than that"
        );
        assert_eq!(sample(&mut rtt, 80), 110);
        rtt.set_minimum(ms(700));
        assert_eq!(sample(&mut rtt, 80), 780);
    }
}

#[test]
fn linux_before_and_without_a_sample() {
    let clock = Clock::linux(250, Wheel::Levels);
    for stack in ["linux-3.10", "linux-6.1"] {
        let mut rtt = Rtt::new(&settings(stack, 250));
        assert_eq!(rtt.rto_ticks(&clock), 250);
        assert_eq!((rtt.srtt(), rtt.srtt_us8()), (None, 0));
        rtt.no_sample_after_handshake();
        assert_eq!(rtt.rto_ticks(&clock), 750);
        rtt.sample(ms(20), SeqNum::new(1), SeqNum::new(1));
        rtt.no_sample_after_handshake();
        assert_eq!(rtt.rto_ticks(&clock), 55);
        assert_eq!(rtt.srtt_us8(), 160_000);
    }
}

#[test]
fn linux_3_10_measures_in_ticks_and_6_1_in_microseconds() {
    let clock = Clock::linux(250, Wheel::Levels);
    let first = |stack: &str, micros| {
        let mut rtt = Rtt::new(&settings(stack, 250));
        rtt.sample(
            Duration::from_micros(micros),
            SeqNum::new(1),
            SeqNum::new(1),
        );
        rtt
    };
    // Nothing is a tick.
    assert_eq!(first("linux-3.10", 0).srtt(), Some(ms(4)));
    assert_eq!(first("linux-3.10", 23_999).srtt(), Some(ms(20)));
    assert_eq!(
        first("linux-6.1", 23_999).srtt(),
        Some(Duration::from_micros(23_999))
    );
    // 223.999 ms are 56 ticks of 4 ms, begun.
    assert_eq!(first("linux-6.1", 23_999).rto_ticks(&clock), 56);
    assert_eq!(first("linux-6.1", 24_001).rto_ticks(&clock), 57);
}

#[test]
fn the_minimum_of_6_12_is_in_ticks() {
    let mut settings = settings("linux-6.12", 250);
    settings.timers.min_rto = ms(50);
    assert_eq!(timeouts(&settings, &[10], 1), [62]);
}

#[test]
fn timeouts_have_an_upper_bound() {
    for page in stacks::all() {
        let mut rtt = Rtt::new(&page.settings);
        rtt.sample(Duration::from_secs(200), SeqNum::new(1), SeqNum::new(1));
        assert_eq!(rtt.rto(), page.settings.timers.max_rto, "{}", page.name);
    }
}

#[test]
fn bsd_adds_its_slop_to_every_timeout() {
    let freebsd = stacks::page("freebsd-5").unwrap().settings;
    // Eleven ticks, of which the first sample keeps the one too many: 11 + 4 * 5.5 + 20.
    assert_eq!(timeouts(&freebsd, &[100], 1), [530]);
    // The deviation dies away, to the mean and the slop.
    let settled = timeouts(&freebsd, &[100; 60], 1);
    assert_eq!(settled[59], 300);
    // 3 ticks and the slop, on the shortest paths.
    assert_eq!(*timeouts(&freebsd, &[0; 40], 1).last().unwrap(), 230);
    let unc = stacks::page("freebsd-5-unc2007").unwrap().settings;
    assert_eq!(*timeouts(&unc, &[100; 60], 1).last().unwrap(), 1_200);
}

#[test]
fn solaris_begins_with_an_assumed_round_trip() {
    let solaris = stacks::page("solaris-10").unwrap().settings;
    let mut rtt = Rtt::new(&solaris);
    assert_eq!(rtt.rto(), ms(3_375));
    rtt.sample(ms(100), SeqNum::new(1), SeqNum::new(1));
    // sa = 12000 - 1400, sd = 1500 + 1400 - 375: 1325 + 2525 + 331.
    assert_eq!(rtt.rto(), ms(4_181));
    // In the end 1.25 round trips and 400 ms.
    assert_eq!(*timeouts(&solaris, &[100; 200], 1).last().unwrap(), 525);
}

#[test]
fn windows_measures_in_tenths_of_a_second() {
    let xp = stacks::page("windows-xp").unwrap().settings;
    assert_eq!(timeouts(&xp, &[100], 1), [300]);
    assert_eq!(*timeouts(&xp, &[100; 40], 1).last().unwrap(), 300);
    let unc = stacks::page("windows-xp-unc2007").unwrap().settings;
    assert_eq!(*timeouts(&unc, &[100; 40], 1).last().unwrap(), 200);
}

/// RFC 6298 §2, to the letter, in seconds.
#[derive(Default)]
struct Rfc {
    state: Option<(f64, f64)>,
}

impl Rfc {
    fn measure(&mut self, r: f64, g: f64) -> f64 {
        let (alpha, beta, k) = (1.0 / 8.0, 1.0 / 4.0, 4.0);
        let (srtt, rttvar) = match self.state {
            // (2.2)
            None => (r, r / 2.0),
            // (2.3)
            Some((srtt, rttvar)) => {
                let rttvar = (1.0 - beta) * rttvar + beta * (srtt - r).abs();
                let srtt = (1.0 - alpha) * srtt + alpha * r;
                (srtt, rttvar)
            }
        };
        self.state = Some((srtt, rttvar));
        let rto = srtt + g.max(k * rttvar);
        // (2.4), (2.5)
        rto.clamp(1.0, 60.0)
    }
}

proptest! {
    #[test]
    fn rfc_6298_is_followed_to_the_letter(rtts in prop::collection::vec(0_i64..20_000_000, 1..100), hz in 1_u32..2_000) {
        let mut ours = Rtt::new(&settings("rfc", hz));
        let mut rfc = Rfc::default();
        for micros in rtts {
            let rtt = Duration::from_micros(micros);
            ours.sample(rtt, SeqNum::new(1), SeqNum::new(1));
            let expected = rfc.measure(rtt.as_secs_f64(), 1.0 / f64::from(hz));
            prop_assert!((ours.rto().as_secs_f64() - expected).abs() < 1e-8);
        }
    }

    /// A timeout before the acknowledgement of the shortest path there was would be sure to be wrong.
    #[test]
    fn no_stack_times_out_before_its_minimum(rtts in prop::collection::vec(0_i64..3_000, 1..200), per_window in 1_u32..40) {
        for page in stacks::all() {
            let settings = &page.settings;
            for (rto, rtt) in timeouts(settings, &rtts, per_window).iter().zip(&rtts) {
                prop_assert!(*rto >= in_ms(settings.timers.min_rto), "{} {rto} after {rtt}", page.name);
            }
        }
    }
}

/// The parameters of UNC 2007 give its own estimators: Table I's, and its Smart-Config with k = 2 and minRTO = 100 ms.
#[test]
fn the_general_form_takes_the_parameters_of_unc_2007() {
    let form = Form {
        a: 0.25,
        b: 0.125,
        m: 1.25,
        k: 4.0,
        min_rto: ms(400),
        granularity: ms(10),
    };
    let mut solaris = Rfc6298::with_form(form);
    solaris.sample(ms(200));
    assert_eq!(solaris.rto(), ms(250 + 400));
    let mut smart = Rfc6298::with_form(Form {
        m: 1.0,
        k: 2.0,
        min_rto: ms(100),
        ..form
    });
    smart.sample(ms(40));
    assert_eq!(smart.rto(), ms(100));
    smart.sample(ms(240));
    // srtt 65, rttvar 15 + 50.
    assert_eq!(smart.rto(), ms(195));
    assert_eq!((smart.srtt(), smart.rttvar()), (ms(65), ms(130)));
}

/// The grid of UNC 2007 varies the parameters on every system's own estimator, not only on the general form.
#[test]
fn every_estimator_heeds_its_gains_and_factors() {
    for name in ["linux-3.10", "linux-6.1", "freebsd-5", "solaris-10", "rfc"] {
        let own = stacks::page(name).unwrap().settings;
        let samples = [2_000, 3_000, 1_000, 2_000];
        let after = |change: fn(&mut Settings)| {
            let mut settings = own.clone();
            change(&mut settings);
            *timeouts(&settings, &samples, 1).last().unwrap()
        };
        let plain = after(|_| {});
        assert!(after(|s| s.timers.rttvar_factor = 2) < plain, "{name}: k");
        assert!(after(|s| s.timers.srtt_factor = 1.5) > plain, "{name}: m");
        assert_ne!(after(|s| s.timers.srtt_shift = 1), plain, "{name}: b");
        assert_ne!(after(|s| s.timers.rttvar_shift = 4), plain, "{name}: a");
    }
}

/// With a gain of 1 there is no memory, and with a factor of 0 no deviation: what is left is the sample and the minimum.
#[test]
fn without_memory_and_deviation_linux_waits_for_the_sample_and_the_minimum() {
    let mut settings = settings("linux-6.1", 1000);
    settings.timers.srtt_shift = 0;
    settings.timers.rttvar_factor = 0;
    assert_eq!(timeouts(&settings, &[100, 300, 50], 1), [300, 500, 250]);
}

fn variants() -> impl Strategy<Value = Vec<Variant>> {
    let one = (
        0_u32..6,
        0_u32..6,
        0..3_usize,
        0_u32..9,
        0_i64..1_200,
        (100_i64..5_000, 100_i64..5_000),
    )
        .prop_map(
            |(srtt_shift, rttvar_shift, m, rttvar_factor, min_rto, first)| Variant {
                srtt_shift,
                rttvar_shift,
                srtt_factor: [1.0, 1.25, 0.9][m],
                rttvar_factor,
                min_rto: ms(min_rto),
                initial_rto: ms(first.0),
                fallback_rto: ms(first.1),
            },
        );
    prop::collection::vec(one, 1..40)
}

proptest! {
    #[test]
    fn a_batch_gives_what_each_estimator_gives(
        variants in variants(),
        samples in prop::collection::vec((0_i64..2_000_000, 1_u32..5, 1_u32..20), 0..60),
    ) {
        for page in stacks::all() {
            let mut batch = Batch::new(&page.settings, &variants);
            let mut each: Vec<Rtt> = variants.iter().map(|v| Rtt::new(&v.over(&page.settings))).collect();
            let mut una = SeqNum::new(u32::MAX - 20);
            let mut all = Vec::new();
            for (micros, acked, out) in &samples {
                batch.rtos(&mut all);
                let one_by_one: Vec<Duration> = (0..variants.len()).map(|v| batch.rto(v)).collect();
                prop_assert_eq!(&all, &one_by_one);
                for (index, rtt) in each.iter().enumerate() {
                    prop_assert_eq!(batch.rto(index), rtt.rto(), "{} {:?}", page.name, variants[index]);
                    prop_assert!(batch.least() <= rtt.rto(), "{} {:?}", page.name, variants[index]);
                    prop_assert_eq!(batch.srtt(index), rtt.srtt());
                }
                if samples.len() % 2 == 1 {
                    batch.no_sample_after_handshake();
                    each.iter_mut().for_each(Rtt::no_sample_after_handshake);
                    batch.rtos(&mut all);
                    let fallbacks: Vec<Duration> = each.iter().map(Rtt::rto).collect();
                    prop_assert_eq!(&all, &fallbacks);
                    prop_assert!(all.iter().all(|rto| batch.least() <= *rto));
                }
                una += *acked;
                let rtt = Duration::from_micros(*micros);
                batch.sample(rtt, una, una + *out);
                each.iter_mut().for_each(|one| one.sample(rtt, una, una + *out));
            }
        }
    }
}

#[test]
fn a_leap_of_the_clock_breaks_no_stack_s_arithmetic() {
    for page in stacks::all() {
        let mut rtt = Rtt::new(&page.settings);
        let mut batch = Batch::new(&page.settings, &[Variant::of(&page.settings)]);
        for leap in [Duration::MAX, Duration::MIN, ms(20), Duration::MAX] {
            rtt.sample(leap, SeqNum::new(1), SeqNum::new(2));
            batch.sample(leap, SeqNum::new(1), SeqNum::new(2));
            assert!(rtt.rto() <= page.settings.timers.max_rto, "{}", page.name);
            assert_eq!(batch.rto(0), rtt.rto(), "{}", page.name);
        }
    }
}

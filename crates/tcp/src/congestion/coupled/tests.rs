//! Vectors were reckoned from the equations by hand, not from this code.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rexmit_time::Time;

use super::*;
use crate::clock::Clock;
use crate::stacks;

fn siblings(own: usize, all: &[(u32, f64)]) -> Siblings {
    let all = all.iter().map(|&(window, rtt_s)| Sibling {
        window,
        rtt_s,
        between_losses: 0,
    });
    Siblings {
        all: all.collect(),
        own,
    }
}

fn with_losses(own: usize, all: &[(u32, f64, u64)]) -> Siblings {
    let all = all.iter().map(|&(window, rtt_s, between_losses)| Sibling {
        window,
        rtt_s,
        between_losses,
    });
    Siblings {
        all: all.collect(),
        own,
    }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

fn control(form: Form) -> Coupled {
    let (settings, _) = stacks::build("linux-4.1", &BTreeMap::new(), &BTreeMap::new()).unwrap();
    let clock = settings.timers.clock();
    let ctx = Context {
        now: Time::from_nanos(0),
        clock: &clock,
        una: SeqNum::new(1),
        nxt: SeqNum::new(1),
        open: true,
        pacing_rate: 0,
    };
    Coupled::new(form, &settings, &ctx)
}

/// RFC 6356 §4: two equal paths of 10 segments and 40 ms: alpha = 20 · (10 / 0.0016) / (2 · 10 / 0.04)² = 0.5, so each grows
/// by 0.5 / 20 of a segment with a segment acknowledged: both together as one TCP with 20 would.
#[test]
fn lia_of_equal_paths() {
    let equal = siblings(0, &[(10, 0.04), (10, 0.04)]);
    close(increase(Form::Lia, &equal), 0.025);
}

/// 10 segments at 100 ms and 20 at 50 ms: Σ w/rtt = 100 + 400 = 500; max w/rtt² = 20 / 0.0025 = 8000;
/// 8000 / 500² = 0.032, less than 1/20 and 1/10: so much on either path.
#[test]
fn lia_of_unlike_paths() {
    let paths = [(10, 0.1), (20, 0.05)];
    close(increase(Form::Lia, &siblings(0, &paths)), 0.032);
    close(increase(Form::Lia, &siblings(1, &paths)), 0.032);
}

/// 40 segments at 200 ms beside 2 at 10 ms: Σ = 200 + 200 = 400; max w/rtt² = max(1000, 20000); 20000 / 160000 = 0.125, which
/// is more than the slow path's 1/40: that is what RFC 6356's minimum is for.
#[test]
fn lia_is_bounded_by_reno_on_the_path() {
    let paths = [(40, 0.2), (2, 0.01)];
    close(increase(Form::Lia, &siblings(0, &paths)), 0.025);
    close(increase(Form::Lia, &siblings(1, &paths)), 0.125);
}

/// 10 at 100 ms and 20 at 50 ms. Path 0 is the best, 800/0.01 being more than 100/0.0025, and has the smaller window:
/// 10/0.01 / 500² = 0.004 and 1/(2·1)/10 more; path 1: 20/0.0025 / 500² = 0.032, and 1/(2·1)/20 less.
#[test]
fn olia_moves_window_from_the_largest_to_the_best() {
    let quality = [(10, 0.1, 800), (20, 0.05, 100)];
    close(
        increase(Form::Olia, &with_losses(0, &quality)),
        0.004 + 0.05,
    );
    close(
        increase(Form::Olia, &with_losses(1, &quality)),
        0.032 - 0.025,
    );
    // The best has the largest window as well: nothing is moved.
    let settled = [(10, 0.1, 100), (20, 0.05, 400)];
    close(increase(Form::Olia, &with_losses(0, &settled)), 0.004);
    close(increase(Form::Olia, &with_losses(1, &settled)), 0.032);
}

/// x = 100 and 400; path 0: a = 4, 100 / (0.1 · 500²) · 5/2 · 8/5 = 0.016; path 1: a = 1, 400 / (0.05 · 500²) = 0.032.
#[test]
fn balia_of_unlike_paths() {
    let paths = [(10, 0.1), (20, 0.05)];
    close(increase(Form::Balia, &siblings(0, &paths)), 0.016);
    close(increase(Form::Balia, &siblings(1, &paths)), 0.032);
    // A loss costs the slower path three quarters, the faster half.
    let mut window = Window::new(40);
    assert_eq!(
        control(Form::Balia).ssthresh(&window, &siblings(0, &paths)),
        10
    );
    assert_eq!(
        control(Form::Balia).ssthresh(&window, &siblings(1, &paths)),
        20
    );
    window.cwnd = 1;
    assert_eq!(
        control(Form::Balia).ssthresh(&window, &siblings(0, &paths)),
        1
    );
}

#[test]
fn equal_paths_together_are_one_reno() {
    let equal = siblings(0, &[(10, 0.04), (10, 0.04)]);
    for form in [Form::Lia, Form::Balia] {
        let mut one = control(form);
        let mut window = Window::new(10);
        window.ssthresh = 5;
        // 40 segments on each of both: as a TCP with 20 segments two more in 40, which is one each in 80 of both.
        for _ in 0..39 {
            one.cong_avoid(&mut window, &equal, 1);
        }
        assert_eq!(window.cwnd, 10);
        one.cong_avoid(&mut window, &equal, 1);
        assert_eq!(window.cwnd, 11, "{form:?}");
    }
}

#[test]
fn alone_each_is_reno() {
    for form in [Form::Lia, Form::Olia, Form::Balia] {
        let mut window = Window::new(10);
        window.ssthresh = 5;
        let alone = siblings(0, &[(10, 0.04)]);
        let mut one = control(form);
        for _ in 0..10 {
            one.cong_avoid(&mut window, &alone, 1);
        }
        assert_eq!(window.cwnd, 11, "{form:?}");
        assert_eq!(one.ssthresh(&window, &alone), 5);
    }
}

#[test]
fn slow_start_is_renos() {
    let mut window = Window::new(10);
    window.ssthresh = 12;
    let equal = siblings(0, &[(10, 0.04), (10, 0.04)]);
    control(Form::Lia).cong_avoid(&mut window, &equal, 2);
    assert_eq!(window.cwnd, 12);
}

/// A window that shrinks keeps a segment.
#[test]
fn olia_may_shrink_a_window_to_one_segment() {
    let mut window = Window::new(2);
    window.ssthresh = 1;
    let mut one = control(Form::Olia);
    for _ in 0..1000 {
        // The other is far better and has the smaller window, by the count of what was lost.
        let paths = with_losses(0, &[(window.cwnd.max(2), 1.0, 1), (1, 0.1, 1 << 20)]);
        one.cong_avoid(&mut window, &paths, 1);
    }
    assert_eq!(window.cwnd, 1);
}

#[test]
fn distances_between_losses_are_remembered() {
    let mut one = control(Form::Olia);
    let clock = Clock::linux(250, crate::clock::Wheel::Exact);
    let at = |una| Context {
        now: Time::from_nanos(0),
        clock: &clock,
        una: SeqNum::new(una),
        nxt: SeqNum::new(una),
        open: true,
        pacing_rate: 0,
    };
    let (window, nobody) = (Window::new(10), Siblings::default());
    one.acked(&at(1001));
    assert_eq!(one.between_losses(), 1000);
    one.ssthresh(&window, &nobody);
    one.acked(&at(1501));
    // 1000 between the last two counts, until more was acknowledged since.
    assert_eq!(one.between_losses(), 1000);
    one.ssthresh(&window, &nobody);
    assert_eq!(one.between_losses(), 500);
    // A second loss without progress is the same.
    one.ssthresh(&window, &nobody);
    assert_eq!(one.between_losses(), 500);
}

fn paths() -> impl Strategy<Value = Vec<(u32, f64)>> {
    prop::collection::vec((1_u32..2_000, 0.001_f64..2.0), 2..6)
}

proptest! {
    /// RFC 6356 §2, goal 2: on no path is LIA more aggressive than a TCP there.
    #[test]
    fn lia_is_never_more_aggressive_than_reno_on_a_path(paths in paths()) {
        for own in 0..paths.len() {
            let siblings = siblings(own, &paths);
            let reno = 1.0 / f64::from(paths[own].0);
            prop_assert!(increase(Form::Lia, &siblings) <= reno * (1.0 + 1e-12));
        }
    }

    /// Goal 1: all subflows together gain no more in a round trip of the best than one TCP on the best path: per second,
    /// Σ (w_p / rtt_p) · increase ≤ max(1 / rtt_p) · max over paths of what one TCP there gains, 1 / rtt².
    #[test]
    fn lia_gains_no_more_than_the_best_single_path(paths in paths()) {
        let gain: f64 = (0..paths.len())
            .map(|own| {
                let (window, rtt) = paths[own];
                // Segments a second, each of which lets the rate grow by increase / rtt.
                f64::from(window) / rtt * increase(Form::Lia, &siblings(own, &paths)) / rtt
            })
            .sum();
        let best = paths.iter().map(|(_, rtt)| 1.0 / (rtt * rtt)).fold(0.0, f64::max);
        prop_assert!(gain <= best * (1.0 + 1e-9), "{} of {}", gain, best);
    }

    /// OLIA's second term only moves: weighed with the windows it adds up to nothing.
    #[test]
    fn olias_opportunities_add_up_to_nothing(
        paths in prop::collection::vec((1_u32..50, 0.001_f64..2.0, 0_u64..5), 2..6),
    ) {
        let sum: f64 = (0..paths.len())
            .map(|own| opportunity(&with_losses(own, &paths)))
            .sum();
        prop_assert!(sum.abs() < 1e-12);
    }

    /// No window leaves its bounds, whatever is acknowledged or lost.
    #[test]
    fn windows_stay_within_their_bounds(
        steps in prop::collection::vec((0_u32..40, any::<bool>(), 1_u32..100, 0.001_f64..1.0), 1..80),
        form in prop::sample::select(vec![Form::Lia, Form::Olia, Form::Balia]),
    ) {
        let mut one = control(form);
        let mut window = Window::new(10);
        window.clamp = 60;
        for (acked, lost, other, rtt) in steps {
            let now = siblings(1, &[(other, rtt), (window.cwnd, 0.05)]);
            if lost {
                window.ssthresh = one.ssthresh(&window, &now);
                window.cwnd = window.ssthresh.max(1);
            } else {
                one.cong_avoid(&mut window, &now, acked);
            }
            prop_assert!((1..=60).contains(&window.cwnd));
            prop_assert!(window.ssthresh >= 1);
        }
    }
}

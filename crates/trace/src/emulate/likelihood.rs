//! How likely it is that a packet left when it did, by what may have sent it: natural logarithms of densities per
//! millisecond.

use rexmit_time::{Duration, Time};

use super::pace::Late;

/// The least that a time counts: an explanation that is far off.
const FAR: f64 = 0.002;

fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}

/// How far a timer of `span` strays beyond its window: a constant a little off, rounding, a busy host, the monitor's `slack`.
fn stray(span: Duration, slack: Duration) -> f64 {
    // A timer that was due when it was set has no span.
    0.02 * ms(span).max(0.0) + 0.3 + ms(slack)
}

/// How likely a time is: as a density, and how well it fits whatever the width of what would fit, 0 at best.
#[derive(Clone, Copy, Debug, Default)]
pub struct Likely {
    pub weight: f64,
    pub fit: f64,
}

/// `exp(-x)`, for an `x` that is not negative, where a sum needs it: beyond this it is lost in whatever it is added to here.
fn exp_of_minus(x: f64) -> f64 {
    const LOST: f64 = 80.0;
    if x == 0.0 {
        1.0
    } else if x > LOST {
        0.0
    } else {
        (-x).exp()
    }
}

/// A timer that fires between `soon` and `late`, at `at`.
pub fn of_timer(at: Time, (soon, late): (Time, Time), span: Duration, slack: Duration) -> Likely {
    let stray = stray(span, slack);
    let width = ms(late - soon).max(0.0);
    let off = if at < soon {
        ms(soon - at)
    } else if at > late {
        ms(at - late)
    } else {
        0.0
    };
    let near = exp_of_minus(off / stray) / (width + 2.0 * stray);
    // Unseen events put a timer off; nothing makes it early.
    let far = if at < soon { FAR / 5.0 } else { FAR };
    let scale = ms(span).max(1.0);
    let tail = far / scale / (1.0 + off / scale);
    Likely {
        weight: (near * 0.97 + tail).ln(),
        fit: (-off / stray).max(-9.0),
    }
}

/// A timer with a smallest span that is not known, of which `some` hosts have one: `least`, if it was that. They spread over so
/// many orders of e.
pub fn of_any(least: Duration, some: f64, spread: f64) -> Likely {
    let weight = (some / spread / ms(least).max(1.0)).ln();
    Likely {
        weight,
        fit: some.ln(),
    }
}

/// Whether a timer that fires until `late` would have fired by `at` for certain.
pub fn is_overdue(at: Time, late: Time, span: Duration, slack: Duration) -> bool {
    at > late && ms(at - late) > 4.0 * stray(span, slack)
}

/// Whether a timer fired at the beginning of a tick.
pub fn is_in_phase(off: Duration, slack: Duration) -> bool {
    ms(off) <= 0.25 + ms(slack)
}

/// What it says that a timer fired `off` the beginning of a tick, where timers fire at it: as a natural logarithm.
pub fn of_phase(off: Duration, tick: Duration, slack: Duration) -> f64 {
    let near = 0.25 + ms(slack);
    if ms(tick) < 4.0 * near {
        return 0.0;
    }
    if is_in_phase(off, slack) {
        (0.7 * ms(tick) / (2.0 * near)).ln()
    } else {
        // A host may be built with other ticks.
        f64::ln(0.3)
    }
}

/// What an acknowledgement sends `gap` after it, by a sender of which this is known of its pace.
pub fn of_ack(gap: Duration, slack: Duration, pace: Option<Late>) -> Likely {
    let gap = ms(gap).max(0.0);
    let at_once = 0.05 + ms(slack);
    let near = 0.93 * (-gap / at_once).exp() / at_once;
    // A busy host; packets that wait in it.
    let later = 0.06 * (-gap / 2.0).exp() / 2.0;
    let late = 0.01 * (-gap / 50.0).exp() / 50.0;
    let prompt = near + later + late + 1e-9;
    let fit = (prompt.ln() - (0.93 / at_once).ln()).clamp(-9.0, 0.0);
    let Some(Late { share, wait }) = pace else {
        return Likely {
            weight: prompt.ln(),
            fit,
        };
    };
    let paced = (-gap / wait).exp() / wait;
    Likely {
        weight: ((1.0 - share) * prompt + share * paced).ln(),
        fit: fit.max(share.ln() - gap / wait),
    }
}

/// `ln(exp(a) + exp(b))`
pub fn either(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        return high;
    }
    high + (low - high).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_was_due_when_it_was_set_is_as_likely_as_any() {
        let (at, span) = (Time::from_nanos(2_000_000_000), Duration::from_millis(-60));
        for early in [0, 900] {
            let due = at - Duration::from_millis(early);
            let likely = of_timer(at, (due, due), span, Duration::ZERO);
            assert!(likely.weight.is_finite() && likely.fit <= 0.0, "{likely:?}");
        }
    }
}

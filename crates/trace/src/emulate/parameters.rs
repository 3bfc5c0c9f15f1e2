//! The six parameters of UNC 2007, Table I: those of the stacks that explain what was seen. Where several do, the interval
//! spans them all; the smallest timeout is moved by what timeouts proved.

use rexmit_time::Duration;

use super::sender::EmulatedSender;
use crate::rows::{Inferred, Parameters};

/// Widens the interval by `value`; the first counts.
fn span(place: &mut Option<Inferred>, value: f64) {
    *place = Some(match *place {
        None => Inferred {
            value,
            low: value,
            high: value,
        },
        Some(known) => Inferred {
            value: known.value,
            low: known.low.min(value),
            high: known.high.max(value),
        },
    });
}

/// The parameters of emulations, the likeliest first.
pub(super) fn infer<'a>(senders: impl Iterator<Item = &'a EmulatedSender>) -> Parameters {
    let mut all = Parameters::default();
    for sender in senders {
        let settings = &sender.profile.settings;
        let part = |shift: u32| 1.0 / f64::from(1_u32 << shift.min(31));
        span(&mut all.d, f64::from(sender.own_threshold()));
        span(&mut all.a, part(settings.timers.rttvar_shift));
        span(&mut all.b, part(settings.timers.srtt_shift));
        span(&mut all.m, settings.timers.srtt_factor);
        span(&mut all.k, f64::from(settings.timers.rttvar_factor));
        let (timing, shown) = (sender.timing(), sender.loss_at().is_some());
        let least = timing.least_timeout();
        let (low, high) = timing.bias_between(shown);
        span(&mut all.min_rto_s, (least + timing.bias()).as_secs_f64());
        span(&mut all.min_rto_s, (least + low).as_secs_f64());
        span(&mut all.min_rto_s, (least + high).as_secs_f64());
    }
    all
}

/// What a constant may be off before timeouts show it.
pub(super) fn unproved(least: Duration) -> Duration {
    least / 20
}

//! RFC 6298, and the general form of UNC 2007: `m * srtt + k * rttvar`, at least a minimum.

use rexmit_time::Duration;

use super::Variant;
use crate::settings::Settings;

/// The estimator of RFC 6298 §2 with its gains and factors as parameters.
#[derive(Clone, Debug)]
pub struct Rfc6298 {
    form: Form,
    /// Nanoseconds; none before the first sample.
    state: Option<State>,
}

/// The parameters of an estimator of the general form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Form {
    /// Gain of the deviation (a, RFC 6298's beta).
    pub a: f64,
    /// Gain of the smoothed round-trip time (b, RFC 6298's alpha).
    pub b: f64,
    /// Factor of the smoothed round-trip time (m, 1 in RFC 6298).
    pub m: f64,
    /// Factor of the deviation (k, K in RFC 6298).
    pub k: f64,
    /// Lower bound of the timeout.
    pub min_rto: Duration,
    /// Clock granularity (G): the deviation's term is at least this, and samples are multiples of it.
    pub granularity: Duration,
}

#[derive(Clone, Copy, Debug)]
struct State {
    srtt: f64,
    rttvar: f64,
}

impl Rfc6298 {
    pub(super) fn new(settings: &Settings) -> Self {
        Self::with_form(Form {
            a: 1.0 / f64::from(1_u32 << settings.timers.rttvar_shift),
            b: 1.0 / f64::from(1_u32 << settings.timers.srtt_shift),
            m: settings.timers.srtt_factor,
            k: f64::from(settings.timers.rttvar_factor),
            min_rto: settings.timers.min_rto,
            granularity: Duration::from_nanos(1_000_000_000 / i64::from(settings.timers.hz)),
        })
    }

    /// An estimator without samples.
    #[must_use]
    pub const fn with_form(form: Form) -> Self {
        Rfc6298 { form, state: None }
    }

    /// Takes a sample.
    pub fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos() as f64;
        self.state = Some(match self.state {
            // RFC 6298 §2.2
            None => State {
                srtt: rtt,
                rttvar: rtt / 2.0,
            },
            // RFC 6298 §2.3: the deviation first, with the old mean.
            Some(State { srtt, rttvar }) => State {
                rttvar: (1.0 - self.form.a) * rttvar + self.form.a * (srtt - rtt).abs(),
                srtt: (1.0 - self.form.b) * srtt + self.form.b * rtt,
            },
        });
    }

    /// The smoothed round-trip time; zero before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Duration {
        Duration::from_nanos(self.state.map_or(0.0, |state| state.srtt) as i64)
    }

    /// The deviation's term of the timeout: `max(G, k * rttvar)`.
    #[must_use]
    pub fn rttvar(&self) -> Duration {
        let rttvar = self.state.map_or(0.0, |state| state.rttvar);
        self.form
            .granularity
            .max(Duration::from_nanos((self.form.k * rttvar) as i64))
    }

    /// The timeout, at least the minimum (RFC 6298 §2.4).
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rto_of(self.form)
    }

    /// The timeout with other factors and another minimum, which the filter does not know of.
    pub(super) fn rto_with(&self, variant: &Variant) -> Duration {
        self.rto_of(Form {
            m: variant.srtt_factor,
            k: f64::from(variant.rttvar_factor),
            min_rto: variant.min_rto,
            ..self.form
        })
    }

    fn rto_of(&self, form: Form) -> Duration {
        let (srtt, rttvar) = self
            .state
            .map_or((0.0, 0.0), |state| (state.srtt, state.rttvar));
        let mean = Duration::from_nanos((form.m * srtt) as i64);
        let deviation = Duration::from_nanos((form.k * rttvar) as i64);
        (mean + form.granularity.max(deviation)).max(form.min_rto)
    }
}

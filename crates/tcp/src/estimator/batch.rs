//! Many estimators of one stack side by side, which differ in gains, factors, minimum and first timeouts only.

use std::sync::Arc;

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::{linux, Bsd, Rfc6298, Solaris, Stage};
use crate::settings::{Estimator, Settings, Timers};

/// What one estimator of a batch has for itself: the parameters of UNC 2007, section II.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variant {
    /// Gain of the smoothed round-trip time (b), as one part in two to this power.
    pub srtt_shift: u32,
    /// Gain of the deviation (a), as one part in two to this power.
    pub rttvar_shift: u32,
    /// Factor of the smoothed round-trip time (m).
    pub srtt_factor: f64,
    /// Factor of the deviation (k).
    pub rttvar_factor: u32,
    /// Lower bound: in Linux of the deviation's term, elsewhere of the timeout.
    pub min_rto: Duration,
    /// The timeout before the first sample.
    pub initial_rto: Duration,
    /// The timeout after a handshake that gave no sample.
    pub fallback_rto: Duration,
}

impl Variant {
    /// The parameters of a stack.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        Variant {
            srtt_shift: settings.timers.srtt_shift,
            rttvar_shift: settings.timers.rttvar_shift,
            srtt_factor: settings.timers.srtt_factor,
            rttvar_factor: settings.timers.rttvar_factor,
            min_rto: settings.timers.min_rto,
            initial_rto: settings.timers.initial_rto,
            fallback_rto: settings.timers.fallback_rto,
        }
    }

    /// The settings of a stack with these parameters.
    #[must_use]
    pub fn over(&self, settings: &Settings) -> Settings {
        let mut over = settings.clone();
        over.timers = Timers {
            srtt_shift: self.srtt_shift,
            rttvar_shift: self.rttvar_shift,
            srtt_factor: self.srtt_factor,
            rttvar_factor: self.rttvar_factor,
            min_rto: self.min_rto,
            initial_rto: self.initial_rto,
            fallback_rto: self.fallback_rto,
            ..over.timers
        };
        over
    }
}

/// One estimator for each variant, all fed with the same samples. Each gives what [`super::Rtt`] gives.
///
/// What variants share is kept once: means and deviations for each pair of gains, and Linux's decaying term for each of
/// them with a factor and a minimum. A sample costs the pairs only; the terms are worked on once a window. A clone
/// shares what does not change.
#[derive(Clone, Debug)]
pub struct Batch {
    shape: Arc<Shape>,
    filters: Filters,
    stage: Stage,
}

/// What does not change as samples come.
#[derive(Debug)]
struct Shape {
    variants: Vec<Variant>,
    /// Index of each variant's pair of gains.
    pair: Vec<usize>,
    max_rto: Duration,
    /// The smallest of all timeouts before the first sample, and after a handshake that gave none.
    least_initial: Duration,
    least_fallback: Duration,
    /// The smallest of all factors of the mean, and of all minima.
    least_factor: f64,
    least_min: Duration,
    /// What times are kept in at least.
    unit: Duration,
}

#[derive(Clone, Debug)]
enum Filters {
    Linux(Lanes),
    Rfc6298(Vec<Rfc6298>),
    Bsd(Vec<Bsd>),
    Solaris(Vec<Solaris>),
}

/// Linux's estimators, one array a quantity.
#[derive(Clone, Debug)]
struct Lanes {
    layout: Arc<Layout>,
    /// Of each pair of gains: the mean, the deviation, and the largest deviation in this window of data.
    srtt: Vec<i64>,
    mdev: Vec<i64>,
    peak: Vec<i64>,
    /// Of each term: the deviation that enters the timeout.
    rttvar: Vec<i64>,
    rtt_seq: SeqNum,
}

/// What does not change as samples come.
#[derive(Debug)]
struct Layout {
    unit_ns: i64,
    /// The pairs of gains.
    shifts: Vec<(u32, u32)>,
    /// The pairs with a factor and a minimum.
    terms: Vec<Term>,
    /// Index of each variant's term.
    term: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    pair: usize,
    factor: i64,
    min: i64,
}

/// The index of `item` in `list`, to which it is added if it is new.
fn index_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter()
        .position(|other| *other == item)
        .unwrap_or_else(|| {
            list.push(item);
            list.len() - 1
        })
}

impl Batch {
    /// Estimators without samples of a stack with `settings`, one for each variant.
    #[must_use]
    pub fn new(settings: &Settings, variants: &[Variant]) -> Self {
        // Solaris smooths from the first timeout on, which others forget with the first sample.
        let smoothed = |v: &Variant| match settings.timers.estimator {
            Estimator::Solaris => v.initial_rto,
            _ => settings.timers.initial_rto,
        };
        let mut pairs: Vec<(u32, u32, Duration)> = Vec::new();
        let pair: Vec<usize> = variants
            .iter()
            .map(|v| index_of(&mut pairs, (v.srtt_shift, v.rttvar_shift, smoothed(v))))
            .collect();
        let each = || {
            pairs.iter().map(|(srtt_shift, rttvar_shift, initial_rto)| {
                let mut each = settings.clone();
                each.timers.srtt_shift = *srtt_shift;
                each.timers.rttvar_shift = *rttvar_shift;
                each.timers.initial_rto = *initial_rto;
                each
            })
        };
        let filters = match settings.timers.estimator {
            Estimator::LinuxTicks | Estimator::LinuxMicros => {
                Filters::Linux(Lanes::new(settings, variants, &pairs, &pair))
            }
            Estimator::Rfc6298 => Filters::Rfc6298(each().map(|s| Rfc6298::new(&s)).collect()),
            Estimator::Bsd => Filters::Bsd(each().map(|s| Bsd::new(&s)).collect()),
            Estimator::Solaris => Filters::Solaris(each().map(|s| Solaris::new(&s)).collect()),
        };
        let least = |of: fn(&Variant) -> f64| variants.iter().map(of).fold(f64::INFINITY, f64::min);
        let shortest =
            |of: fn(&Variant) -> Duration| variants.iter().map(of).min().unwrap_or(Duration::ZERO);
        let shape = Shape {
            pair,
            max_rto: settings.timers.max_rto,
            least_initial: shortest(|v| v.initial_rto),
            least_fallback: shortest(|v| v.fallback_rto),
            least_factor: least(|v| v.srtt_factor),
            least_min: shortest(|v| v.min_rto),
            unit: Duration::from_nanos(1_000_000_000 / i64::from(settings.timers.hz))
                .max(Duration::from_millis(1)),
            variants: variants.to_vec(),
        };
        Batch {
            shape: Arc::new(shape),
            filters,
            stage: Stage::Initial,
        }
    }

    /// Takes a sample, as [`super::Rtt::sample`].
    pub fn sample(&mut self, rtt: Duration, una: SeqNum, nxt: SeqNum) {
        let rtt = super::plausible(rtt);
        match &mut self.filters {
            Filters::Linux(lanes) => lanes.sample(rtt, una, nxt),
            Filters::Rfc6298(filters) => filters.iter_mut().for_each(|f| f.sample(rtt)),
            Filters::Bsd(filters) => filters.iter_mut().for_each(|f| f.sample(rtt)),
            Filters::Solaris(filters) => filters.iter_mut().for_each(|f| f.sample(rtt)),
        }
        self.stage = Stage::Sampled;
    }

    /// As [`super::Rtt::no_sample_after_handshake`].
    pub fn no_sample_after_handshake(&mut self) {
        if self.stage == Stage::Initial {
            self.stage = Stage::Fallback;
        }
    }

    /// Whether the handshake is under way: no sample was taken, and it is not said to be over.
    #[must_use]
    pub fn is_initial(&self) -> bool {
        self.stage == Stage::Initial
    }

    /// The timeout of a variant, bounded, without back-off.
    #[must_use]
    pub fn rto(&self, variant: usize) -> Duration {
        let own = &self.shape.variants[variant];
        let pair = self.shape.pair[variant];
        let rto = match (self.stage, &self.filters) {
            (Stage::Initial, _) => own.initial_rto,
            (Stage::Fallback, _) => own.fallback_rto,
            (Stage::Sampled, Filters::Linux(lanes)) => lanes.rto(variant, pair, own.srtt_factor),
            (Stage::Sampled, Filters::Rfc6298(filters)) => filters[pair].rto_with(own),
            (Stage::Sampled, Filters::Bsd(filters)) => filters[pair].rto_with(own),
            (Stage::Sampled, Filters::Solaris(filters)) => filters[pair].rto_with(own),
        };
        rto.min(self.shape.max_rto)
    }

    /// The timeouts of all variants, as [`Batch::rto`] gives each.
    pub fn rtos(&self, out: &mut Vec<Duration>) {
        out.clear();
        let Filters::Linux(lanes) = &self.filters else {
            out.extend((0..self.shape.variants.len()).map(|variant| self.rto(variant)));
            return;
        };
        if self.stage != Stage::Sampled {
            out.extend((0..self.shape.variants.len()).map(|variant| self.rto(variant)));
            return;
        }
        let layout = &*lanes.layout;
        let variants = self.shape.variants.iter().zip(&self.shape.pair);
        out.extend(variants.zip(&layout.term).map(|((variant, &pair), &term)| {
            let (srtt_shift, rttvar_shift) = layout.shifts[pair];
            let factor = i64::from(variant.rttvar_factor);
            let peak = linux::term(lanes.peak[pair], rttvar_shift, factor);
            let rttvar = lanes.rttvar[term].max(peak);
            let units = linux::timeout(lanes.srtt[pair], srtt_shift, variant.srtt_factor, rttvar);
            Duration::from_nanos(units * layout.unit_ns).min(self.shape.max_rto)
        }));
    }

    /// The smoothed round-trip time of a variant; none before the first sample.
    #[must_use]
    pub fn srtt(&self, variant: usize) -> Option<Duration> {
        (self.stage == Stage::Sampled).then(|| self.mean(self.shape.pair[variant]))
    }

    /// A lower bound of the timeouts of all variants, cheap to have.
    #[must_use]
    pub fn least(&self) -> Duration {
        let bound = match self.stage {
            Stage::Initial => self.shape.least_initial,
            Stage::Fallback => self.shape.least_fallback,
            Stage::Sampled => {
                let pairs = match &self.filters {
                    Filters::Linux(lanes) => lanes.layout.shifts.len(),
                    Filters::Rfc6298(filters) => filters.len(),
                    Filters::Bsd(filters) => filters.len(),
                    Filters::Solaris(filters) => filters.len(),
                };
                let mean = (0..pairs)
                    .map(|pair| self.mean(pair))
                    .min()
                    .unwrap_or(Duration::ZERO);
                let mean =
                    Duration::from_nanos((mean.as_nanos() as f64 * self.shape.least_factor) as i64);
                match &self.filters {
                    // The minimum bounds the deviation's term, which is kept in ticks, rounded up.
                    Filters::Linux(lanes) => {
                        let units = mean.as_nanos() / lanes.layout.unit_ns;
                        Duration::from_nanos(units * lanes.layout.unit_ns) + self.shape.least_min
                    }
                    // Both are kept in whole ticks, or milliseconds, rounded down.
                    Filters::Bsd(_) | Filters::Solaris(_) => {
                        mean.max(self.shape.least_min) - self.shape.unit
                    }
                    Filters::Rfc6298(_) => mean.max(self.shape.least_min),
                }
            }
        };
        bound.min(self.shape.max_rto)
    }

    fn mean(&self, pair: usize) -> Duration {
        match &self.filters {
            Filters::Linux(lanes) => Duration::from_nanos(
                (lanes.srtt[pair] >> lanes.layout.shifts[pair].0) * lanes.layout.unit_ns,
            ),
            Filters::Rfc6298(filters) => filters[pair].srtt(),
            Filters::Bsd(filters) => filters[pair].srtt(),
            Filters::Solaris(filters) => filters[pair].srtt(),
        }
    }
}

impl Lanes {
    fn new(
        settings: &Settings,
        variants: &[Variant],
        pairs: &[(u32, u32, Duration)],
        pair: &[usize],
    ) -> Self {
        let mut terms = Vec::new();
        let term = variants
            .iter()
            .zip(pair)
            .map(|(variant, pair)| {
                let term = Term {
                    pair: *pair,
                    factor: i64::from(variant.rttvar_factor),
                    min: linux::minimum(settings, variant.min_rto),
                };
                index_of(&mut terms, term)
            })
            .collect();
        Lanes {
            srtt: vec![0; pairs.len()],
            mdev: vec![0; pairs.len()],
            peak: vec![0; pairs.len()],
            rttvar: terms.iter().map(|term| term.min).collect(),
            rtt_seq: SeqNum::default(),
            layout: Arc::new(Layout {
                unit_ns: linux::unit_ns(settings),
                shifts: pairs.iter().map(|(a, b, _)| (*a, *b)).collect(),
                terms,
                term,
            }),
        }
    }

    fn sample(&mut self, rtt: Duration, una: SeqNum, nxt: SeqNum) {
        let measured = (rtt.as_nanos() / self.layout.unit_ns).max(1);
        let begun = self.srtt.first().is_some_and(|srtt| *srtt > 0);
        for (pair, (srtt_shift, rttvar_shift)) in self.layout.shifts.iter().enumerate() {
            let state = (self.srtt[pair], self.mdev[pair]);
            let (srtt, mdev) = if begun {
                linux::smooth(state, measured, *srtt_shift, *rttvar_shift)
            } else {
                linux::first(measured, *srtt_shift, *rttvar_shift)
            };
            (self.srtt[pair], self.mdev[pair]) = (srtt, mdev);
            self.peak[pair] = self.peak[pair].max(mdev);
        }
        if !begun {
            self.rtt_seq = nxt;
        } else if una.is_after(self.rtt_seq) {
            self.rtt_seq = nxt;
            self.end_window();
        }
    }

    /// The largest deviations of the window enter the terms, or the terms decay towards them.
    fn end_window(&mut self) {
        let Layout { shifts, terms, .. } = &*self.layout;
        for (rttvar, term) in self.rttvar.iter_mut().zip(terms) {
            let shift = shifts[term.pair].1;
            let peak = linux::term(self.peak[term.pair], shift, term.factor).max(term.min);
            *rttvar = linux::decayed((*rttvar).max(peak), peak);
        }
        self.peak.fill(0);
    }

    fn rto(&self, variant: usize, pair: usize, srtt_factor: f64) -> Duration {
        let index = self.layout.term[variant];
        let (srtt_shift, rttvar_shift) = self.layout.shifts[pair];
        let factor = self.layout.terms[index].factor;
        let peak = linux::term(self.peak[pair], rttvar_shift, factor);
        let rttvar = self.rttvar[index].max(peak);
        let units = linux::timeout(self.srtt[pair], srtt_shift, srtt_factor, rttvar);
        Duration::from_nanos(units * self.layout.unit_ns)
    }
}

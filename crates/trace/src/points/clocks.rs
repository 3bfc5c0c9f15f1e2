//! The clocks of all points.

use std::collections::BTreeMap;

use super::alignment::MOST_DRIFT;
use super::passage::sightings;
use super::{Alignment, Sample};

/// How the clock of a point stands to that of the first point.
#[derive(Clone, Debug, Default)]
pub struct PointClock {
    /// From the first point's clock to this one's, over the points between. Empty for the first point.
    steps: Vec<Alignment>,
    /// Packets that came by here and at the point that it was aligned with.
    pub shared: usize,
    /// No packet of it came by at any other point.
    pub apart: bool,
}

impl PointClock {
    /// One of these steps.
    #[must_use]
    pub fn again(steps: Vec<Alignment>) -> Self {
        PointClock {
            steps,
            ..PointClock::default()
        }
    }

    /// From the first point's clock to this one's, over the points between.
    #[must_use]
    pub fn steps(&self) -> &[Alignment] {
        &self.steps
    }

    /// The first point's time, nanoseconds, when this point's clock shows `there`.
    #[must_use]
    pub fn time(&self, there: i64) -> i64 {
        self.steps
            .iter()
            .rev()
            .fold(there, |at, step| step.time(at))
    }

    /// What this clock shows more at a time of the first point's, nanoseconds.
    #[must_use]
    pub fn ahead(&self, at: i64) -> f64 {
        let mut place = at;
        let mut all = 0.0;
        for step in &self.steps {
            let ahead = step.ahead(place);
            all += ahead;
            place = place.saturating_add(ahead as i64);
        }
        all
    }

    /// The sum over its steps of a number of their longest stretch; none if one of them has none.
    pub fn sum(&self, of: impl Fn(&super::Passage) -> Option<f64>) -> Option<f64> {
        let each = self.steps.iter().map(|step| {
            let mut worst = step.passages().iter().map(&of);
            worst.try_fold(f64::NEG_INFINITY, |most, one| Some(most.max(one?)))
        });
        each.sum()
    }

    /// Stretches in each of which the clocks went evenly, of the step that has most, and whether there is one that no line
    /// describes.
    #[must_use]
    pub fn stretches(&self) -> (usize, bool) {
        let most = self.steps.iter().map(|step| step.passages().len()).max();
        let mut all = self.steps.iter().flat_map(Alignment::passages);
        (most.unwrap_or(0), all.any(|one| one.contradicted))
    }
}

/// The clocks of all points, in their order.
#[derive(Clone, Debug, Default)]
pub struct Clocks(pub Vec<PointClock>);

impl Clocks {
    /// What samples of the points tell: each clock is held against that of the point with which it has most packets in common,
    /// from the first point on.
    #[must_use]
    pub fn of(samples: &[Sample]) -> Self {
        let mut clocks = vec![PointClock::default(); samples.len()];
        let mut known = vec![0];
        while known.len() < samples.len() {
            let others = (0..samples.len()).filter(|point| !known.contains(point));
            let pairs = others.flat_map(|other| known.iter().map(move |&one| (one, other)));
            let shared =
                pairs.map(|(one, other)| (samples[one].shared(&samples[other]), one, other));
            // Of equals the first.
            let best = shared.reduce(|best, next| match next.0.len() > best.0.len() {
                true => next,
                false => best,
            });
            let Some((shared, one, other)) = best else {
                break;
            };
            known.push(other);
            clocks[other] = clocks[one].clone();
            clocks[other].shared = shared.len();
            match Alignment::of(&sightings(&shared)) {
                Some(alignment) => clocks[other].steps.push(alignment),
                None => clocks[other].apart = true,
            }
        }
        Clocks(clocks)
    }
}

/// Pairs of captures that cannot be of one point, as no clock could be both of theirs: held against that of a third capture, the
/// one is ahead by more than the other, and by more than any drift explains. `pairs` are of two points each, by their places
/// among the samples.
#[must_use]
pub fn of_unlike_clocks(samples: &[Sample], pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut held: BTreeMap<usize, Vec<(usize, Alignment)>> = BTreeMap::new();
    for &(one, other) in pairs {
        for (against, of) in [(one, other), (other, one)] {
            let (Some(known), Some(sample)) = (samples.get(against), samples.get(of)) else {
                continue;
            };
            if let Some(alignment) = Alignment::of(&sightings(&known.shared(sample))) {
                held.entry(against).or_default().push((of, alignment));
            }
        }
    }
    let mut unlike = Vec::new();
    for others in held.values() {
        for (place, (one, of_one)) in others.iter().enumerate() {
            for (other, of_other) in &others[place + 1..] {
                if !may_be_one(of_one, of_other) {
                    unlike.push((*one.min(other), *one.max(other)));
                }
            }
        }
    }
    unlike.sort_unstable();
    unlike.dedup();
    unlike
}

/// Whether two clocks, both held against a third, may be the same one. Where packets went one way only, nothing refutes it.
fn may_be_one(one: &Alignment, other: &Alignment) -> bool {
    let mut pairs = one
        .passages()
        .iter()
        .flat_map(|a| other.passages().iter().map(move |b| (a, b)));
    pairs.any(|(a, b)| {
        let (Some(of_one), Some(of_other)) = (a.uncertainty, b.uncertainty) else {
            return true;
        };
        let since = b.middle.abs_diff(a.middle) as f64;
        let apart = one.ahead(a.middle) - other.ahead(b.middle);
        apart.abs() <= of_one + of_other + MOST_DRIFT * since
    })
}

//! How the clock of one point stands to that of another.

use super::passage::Sighting;

/// Clocks drift less than this against each other, seconds a second: the most that NTP slews by is half of it.
pub(super) const MOST_DRIFT: f64 = 1e-3;
/// A time stamp is off by so much, nanoseconds: many captures count microseconds.
const RESOLUTION: f64 = 1_000.0;
/// Fewer packets than this are not divided further.
const LEAST: usize = 16;
/// A stretch of clocks that contradict each other is halved so often.
const MOST_HALVINGS: u32 = 16;
/// Steps of a search: each leaves two thirds.
const STEPS: u32 = 120;

/// A stretch in which one line describes the clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// From here on, nanoseconds of the first point's clock.
    pub from: i64,
    /// Where `ahead` holds.
    pub middle: i64,
    /// What the second clock shows more there, nanoseconds.
    pub ahead: f64,
    /// It may be off by so much; none where packets went one way only: then `ahead` has the least delay in it.
    pub uncertainty: Option<f64>,
    /// What the second clock gains, seconds a second.
    pub drift: f64,
    /// The least and the most that causality leaves.
    pub drifts: (f64, f64),
    /// No line leaves every packet arriving after it was sent.
    pub contradicted: bool,
}

/// How a second clock stands to a first: what it shows more, in stretches.
///
/// A packet arrives after it was sent. One that goes to the second point bounds from above what the second clock can be ahead
/// at that time, one that comes from there from below. The line in the middle of the widest room that the bounds leave is
/// taken, of several the one with the least drift; what lies within the bounds is the uncertainty: at most half of the least
/// time from the one point to the other and back, as no exchange of packets can tell more. Where no line fits, because a
/// clock was set or its drift changed, the time is cut in two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    base: i64,
    passages: Vec<Passage>,
}

impl Alignment {
    /// What packets seen at both points tell; none without packets.
    pub(super) fn of(sightings: &[Sighting]) -> Option<Self> {
        let base = sightings.first()?.ahead;
        let mut passages = Vec::new();
        fit(sightings, base, MOST_HALVINGS, &mut passages);
        if let Some(first) = passages.first_mut() {
            first.from = i64::MIN;
        }
        Some(Alignment { base, passages })
    }

    /// One that was [told](Alignment::told) before.
    #[must_use]
    pub fn again(base: i64, stretches: &[(i64, i64, f64, f64)]) -> Self {
        let passage = |&(from, middle, ahead, drift): &(i64, i64, f64, f64)| Passage {
            from,
            middle,
            ahead,
            uncertainty: None,
            drift,
            drifts: (drift, drift),
            contradicted: false,
        };
        Alignment {
            base,
            passages: stretches.iter().map(passage).collect(),
        }
    }

    /// What tells times: of each stretch from where on it counts, its middle, what the second clock shows more there than
    /// a number of nanoseconds that is the same for all, and its drift.
    #[must_use]
    pub fn told(&self) -> (i64, Vec<(i64, i64, f64, f64)>) {
        let told = |one: &Passage| (one.from, one.middle, one.ahead, one.drift);
        (self.base, self.passages.iter().map(told).collect())
    }

    /// The stretches, in order of time.
    #[must_use]
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// What the second clock shows more at a time of the first, nanoseconds.
    #[must_use]
    pub fn ahead(&self, at: i64) -> f64 {
        let after = self.passages.partition_point(|one| one.from <= at);
        let Some(one) = self.passages.get(after.saturating_sub(1)) else {
            return 0.0;
        };
        self.base as f64 + one.ahead + one.drift * at.saturating_sub(one.middle) as f64
    }

    /// The first clock's time when the second shows `there`.
    #[must_use]
    pub fn time(&self, there: i64) -> i64 {
        let near = there.saturating_sub(self.base);
        let after = self.passages.partition_point(|one| {
            one.from == i64::MIN || one.from.saturating_add(one.ahead as i64) <= near
        });
        let Some(one) = self.passages.get(after.saturating_sub(1)) else {
            return there;
        };
        let since = near.saturating_sub(one.middle) as f64;
        one.middle
            .saturating_add(((since - one.ahead) / (1.0 + one.drift)).round() as i64)
    }
}

/// Adds the stretches that describe some packets in their order of time.
fn fit(sightings: &[Sighting], base: i64, halvings: u32, into: &mut Vec<Passage>) {
    let (Some(first), Some(last)) = (sightings.first(), sightings.last()) else {
        return;
    };
    let bounds = Bounds::of(sightings, base, first.at + (last.at - first.at) / 2);
    let mut made = bounds.line();
    made.from = first.at;
    if made.contradicted && halvings > 0 && sightings.len() >= 2 * LEAST && first.at < last.at {
        let (early, late) = sightings.split_at(sightings.len() / 2);
        fit(early, base, halvings - 1, into);
        fit(late, base, halvings - 1, into);
        return;
    }
    into.push(made);
}

/// Points through which no line may go the wrong side, as (nanoseconds from the middle, nanoseconds ahead).
struct Bounds {
    middle: i64,
    /// Of packets that went onward: the second clock is ahead by less. Only the lower hull matters.
    above: Vec<(f64, f64)>,
    /// Of those that came from there: by more. The upper hull.
    below: Vec<(f64, f64)>,
}

impl Bounds {
    fn of(sightings: &[Sighting], base: i64, middle: i64) -> Self {
        let hull = |onward: bool, sign: f64| {
            let mut hull: Vec<(f64, f64)> = Vec::new();
            for one in sightings.iter().filter(|one| one.onward == onward) {
                let place = (one.at - middle) as f64;
                let next = (place, sign * one.ahead.saturating_sub(base) as f64);
                while let [.., before, last] = hull[..] {
                    if turns_up(before, last, next) {
                        break;
                    }
                    hull.pop();
                }
                hull.push(next);
            }
            hull
        };
        let mut below = hull(false, -1.0);
        below.iter_mut().for_each(|one| one.1 = -one.1);
        Bounds {
            middle,
            above: hull(true, 1.0),
            below,
        }
    }

    /// How far ahead the second clock is at most, in the middle, if it gains so much.
    fn most(&self, drift: f64) -> f64 {
        let room = self.above.iter().map(|&(x, y)| y - drift * x);
        room.fold(f64::INFINITY, f64::min)
    }

    /// How far ahead it is at least.
    fn least(&self, drift: f64) -> f64 {
        let room = self.below.iter().map(|&(x, y)| y - drift * x);
        room.fold(f64::NEG_INFINITY, f64::max)
    }

    fn room(&self, drift: f64) -> f64 {
        self.most(drift) - self.least(drift)
    }

    fn line(&self) -> Passage {
        let mut made = Passage {
            from: 0,
            middle: self.middle,
            ahead: 0.0,
            uncertainty: None,
            drift: 0.0,
            drifts: (-MOST_DRIFT, MOST_DRIFT),
            contradicted: false,
        };
        match (self.above.is_empty(), self.below.is_empty()) {
            (false, false) => self.between(&mut made),
            (false, true) => made.ahead = self.most(0.0),
            (true, false) => made.ahead = self.least(0.0),
            (true, true) => {}
        }
        made
    }

    fn between(&self, made: &mut Passage) {
        let room = |drift: f64| self.room(drift);
        let (widest, _) = highest(room, (-MOST_DRIFT, MOST_DRIFT));
        made.contradicted = room(widest) < -RESOLUTION;
        // Where several leave as much room, as far as the time stamps tell, the clocks are taken to go alike.
        let wide = |drift: f64| room(drift) >= room(widest) - RESOLUTION;
        let straight = if wide(0.0) {
            0.0
        } else {
            edge(wide, widest, 0.0)
        };
        made.drift = straight;
        made.ahead = (self.most(straight) + self.least(straight)) / 2.0;
        let holds = |drift: f64| room(drift) >= -RESOLUTION;
        if made.contradicted {
            made.drifts = (straight, straight);
            made.uncertainty = Some(room(straight).abs());
            return;
        }
        let drifts = (
            edge(holds, widest, -MOST_DRIFT),
            edge(holds, widest, MOST_DRIFT),
        );
        made.drifts = drifts;
        let (_, most) = highest(|drift| self.most(drift), drifts);
        let (_, least) = highest(|drift| -self.least(drift), drifts);
        let off = (most - made.ahead).max(made.ahead + least);
        made.uncertainty = Some(off.max(0.0));
    }
}

/// Whether the path over three points turns to greater values.
fn turns_up(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> bool {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0) > 0.0
}

/// Where a concave function is highest between two numbers, and how high.
fn highest(of: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> (f64, f64) {
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        let (left, right) = (low + third, high - third);
        if of(left) < of(right) {
            low = left;
        } else {
            high = right;
        }
    }
    let place = low + (high - low) / 2.0;
    (place, of(place))
}

/// The last number on the way from one at which something holds to another at which it may not.
fn edge(holds: impl Fn(f64) -> bool, inside: f64, outside: f64) -> f64 {
    if holds(outside) {
        return outside;
    }
    let (mut inside, mut outside) = (inside, outside);
    for _ in 0..STEPS {
        let middle = inside + (outside - inside) / 2.0;
        if holds(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

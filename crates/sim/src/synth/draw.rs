//! Numbers drawn for connections.

use rexmit_time::{Duration, Stream};
use serde::Deserialize;

/// A lognormal distribution, cut off at both ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LogNormal {
    /// Median.
    pub median: f64,
    /// Standard deviation of the natural logarithm.
    pub sigma: f64,
    /// Nothing is less.
    pub least: f64,
    /// Nothing is more.
    pub most: f64,
}

impl LogNormal {
    /// Draws a number.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        (self.median * (self.sigma * normal(stream)).exp()).clamp(self.least, self.most)
    }

    fn check(&self) -> Result<(), String> {
        let finite = [self.median, self.sigma, self.least, self.most];
        if finite.iter().any(|n| !n.is_finite() || *n < 0.0) {
            return Err("median, sigma, least and most must be 0 or more".into());
        }
        if self.least > self.most {
            return Err("least must not be more than most".into());
        }
        Ok(())
    }
}

/// A number between two, its logarithm drawn evenly.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LogUniform {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl LogUniform {
    /// Draws a number.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.least * (self.most / self.least).powf(stream.uniform())
    }

    fn check(&self) -> Result<(), String> {
        if self.least.is_finite() && self.most.is_finite() && 0.0 < self.least {
            if self.least <= self.most {
                return Ok(());
            }
            return Err("least must not be more than most".into());
        }
        Err("least and most must be more than 0".into())
    }
}

/// Sizes: most lognormal, some from a Pareto distribution, whose tail is heavy.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// The many.
    pub body: LogNormal,
    /// How many are of the tail, 0 to 1.
    pub tail_share: f64,
    /// The smallest of the tail.
    pub tail_from: f64,
    /// The tail's exponent: the less, the heavier.
    pub tail_alpha: f64,
    /// The largest of the tail.
    pub tail_most: f64,
}

impl Sizes {
    /// Draws a size, bytes.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let size = if stream.uniform() < self.tail_share {
            let rest = 1.0 - stream.uniform();
            (self.tail_from * rest.powf(-1.0 / self.tail_alpha)).min(self.tail_most)
        } else {
            self.body.draw(stream)
        };
        (size as u64).max(1)
    }

    fn check(&self) -> Result<(), String> {
        self.body.check()?;
        check_share(self.tail_share)?;
        let tail = [self.tail_from, self.tail_alpha, self.tail_most];
        if tail.iter().any(|n| !n.is_finite() || *n <= 0.0) {
            return Err("tail_from, tail_alpha and tail_most must be more than 0".into());
        }
        Ok(())
    }
}

/// One of several values, each as often as its weight says.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(transparent)]
pub struct Choice(pub Vec<Weighted>);

/// A value and its weight.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// The value.
    pub value: u64,
    /// How often it is drawn, beside the others' weights.
    pub weight: f64,
}

impl Choice {
    /// Draws a value.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let total: f64 = self.0.iter().map(|choice| choice.weight).sum();
        let mut left = stream.uniform() * total;
        for choice in &self.0 {
            left -= choice.weight;
            if left < 0.0 {
                return choice.value;
            }
        }
        self.0.last().map_or(0, |choice| choice.value)
    }

    fn check(&self) -> Result<(), String> {
        let valid = |choice: &Weighted| choice.weight.is_finite() && choice.weight > 0.0;
        if self.0.is_empty() || !self.0.iter().all(valid) {
            return Err("values with weights of more than 0 are needed".into());
        }
        Ok(())
    }
}

/// What can be checked before anything is drawn from it.
pub(super) trait Check {
    /// What is wrong with it.
    fn fault(&self) -> Result<(), String>;
}

macro_rules! checks {
    ($($type:ty),+) => { $(impl Check for $type {
        fn fault(&self) -> Result<(), String> {
            self.check()
        }
    })+ };
}
checks!(LogNormal, LogUniform, Sizes, Choice);

/// A share of connections.
pub(super) fn check_share(share: f64) -> Result<(), String> {
    if (0.0..=1.0).contains(&share) {
        Ok(())
    } else {
        Err("a share must be 0 to 1".into())
    }
}

/// A standard normal deviate (Box and Muller 1958).
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.uniform()).cos()
}

/// An exponential deviate with this mean.
pub(super) fn exponential(stream: &mut Stream, mean: f64) -> f64 {
    -mean * (1.0 - stream.uniform()).ln()
}

/// How many there are when each but the first comes with the same probability (geometric), with this mean and bound.
pub(super) fn geometric(stream: &mut Stream, mean: f64, most: u64) -> u64 {
    if mean <= 1.0 {
        return 1;
    }
    let goes_on = 1.0 - 1.0 / mean;
    let more = (1.0 - stream.uniform()).ln() / goes_on.ln();
    (1 + more as u64).min(most)
}

/// A number between two.
pub(super) fn between(stream: &mut Stream, least: f64, most: f64) -> f64 {
    least + (most - least) * stream.uniform()
}

/// Whether it is one of this share.
pub(super) fn chance(stream: &mut Stream, share: f64) -> bool {
    stream.uniform() < share
}

/// Seconds as a duration.
pub(super) fn seconds(length: f64) -> Duration {
    Duration::from_nanos((length * 1e9) as i64)
}

#[cfg(test)]
mod tests {
    use rexmit_time::Streams;

    use super::*;

    fn draws(draw: impl Fn(&mut Stream) -> f64) -> Vec<f64> {
        let mut stream = Streams::new(3).stream("draw", 0);
        let mut all: Vec<f64> = (0..20_000).map(|_| draw(&mut stream)).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn a_lognormal_has_its_median_and_its_ends() {
        let of = LogNormal {
            median: 0.1,
            sigma: 1.0,
            least: 0.01,
            most: 1.0,
        };
        let all = draws(|stream| of.draw(stream));
        assert!((all[10_000] / 0.1 - 1.0).abs() < 0.03, "{}", all[10_000]);
        // One standard deviation up.
        assert!((all[16_827] / 0.2718 - 1.0).abs() < 0.05, "{}", all[16_827]);
        assert_eq!((all[0], all[19_999]), (0.01, 1.0));
    }

    #[test]
    fn a_tail_is_heavy() {
        let of = Sizes {
            body: LogNormal {
                median: 1_000.0,
                sigma: 0.1,
                least: 1.0,
                most: 5_000.0,
            },
            tail_share: 0.1,
            tail_from: 10_000.0,
            tail_alpha: 1.0,
            tail_most: 1e7,
        };
        let all = draws(|stream| of.draw(stream) as f64);
        let over = |size: f64| all.iter().filter(|n| **n >= size).count() as f64 / 20_000.0;
        assert!((over(10_000.0) - 0.1).abs() < 0.01);
        assert!((over(100_000.0) - 0.01).abs() < 0.002);
        assert!(all[19_999] <= 1e7);
    }

    #[test]
    fn counts_and_waits_have_their_means() {
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        let counts = draws(|stream| geometric(stream, 3.0, 1_000) as f64);
        assert!((mean(&counts) - 3.0).abs() < 0.1 && counts[0] == 1.0);
        let waits = draws(|stream| exponential(stream, 2.0));
        assert!((mean(&waits) - 2.0).abs() < 0.1);
        assert_eq!(
            draws(|stream| geometric(stream, 1.0, 9) as f64)[19_999],
            1.0
        );
    }

    #[test]
    fn choices_are_drawn_by_weight() {
        let of = Choice(vec![
            Weighted {
                value: 1,
                weight: 3.0,
            },
            Weighted {
                value: 2,
                weight: 1.0,
            },
        ]);
        let twos = draws(|stream| of.draw(stream) as f64)
            .iter()
            .filter(|n| **n == 2.0)
            .count();
        assert!((4_700..5_300).contains(&twos), "{twos}");
        assert!(Choice(Vec::new()).check().is_err());
    }
}

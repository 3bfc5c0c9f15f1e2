//! A rate that changes with time: when how many packets may leave, as files of mahimahi say it (Netravali et al. 2015).

use std::sync::Arc;

use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;

/// Bytes of IP that each opportunity carries.
pub const OPPORTUNITY_BYTES: u64 = 1500;

/// Moments at which packets may leave; after the last the first comes again, counted from it.
///
/// Its text is a word for each moment, its milliseconds since the one before, and behind an `x` how many opportunities there
/// are, if not one: `0x3 2 5x2` are three at the start, one at 2 ms and two at 7 ms.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RateTrace(Arc<Vec<Moment>>);

/// Opportunities at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds after the beginning.
    pub at_ms: u64,
    /// How many.
    pub opportunities: u32,
}

impl RateTrace {
    /// In the order of time; there is one at least, and the last is not at the beginning.
    #[must_use]
    pub fn moments(&self) -> &[Moment] {
        &self.0
    }

    /// Milliseconds after which it begins again.
    #[must_use]
    pub fn period_ms(&self) -> u64 {
        self.0.last().map_or(1, |last| last.at_ms)
    }

    /// The longest time without an opportunity, nanoseconds.
    pub(crate) fn longest_gap_ns(&self) -> u64 {
        let first = self.0.first().map_or(0, |first| first.at_ms);
        let gaps = self.0.windows(2).map(|two| two[1].at_ms - two[0].at_ms);
        1_000_000 * gaps.fold(first, u64::max)
    }
}

impl TryFrom<String> for RateTrace {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        let mut moments: Vec<Moment> = Vec::new();
        let mut at_ms = 0;
        for word in text.split_ascii_whitespace() {
            let (gap, count) = word.split_once('x').unwrap_or((word, "1"));
            let wrong = || format!("rate_trace: {word:?} is no moment");
            let gap: u32 = gap.parse().with_context(wrong)?;
            let opportunities: u32 = count.parse().with_context(wrong)?;
            if opportunities == 0 || (gap == 0 && !moments.is_empty()) {
                bail!(wrong());
            }
            at_ms += u64::from(gap);
            moments.push(Moment {
                at_ms,
                opportunities,
            });
        }
        ensure!(at_ms > 0, "rate_trace: lasts no time");
        Ok(Self(moments.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RateTrace> {
        RateTrace::try_from(text.to_owned())
    }

    #[test]
    fn a_text_is_read() {
        let trace = read("0x3 2 5x2").unwrap();
        let moments = trace.moments().iter();
        let moments: Vec<_> = moments.map(|one| (one.at_ms, one.opportunities)).collect();
        assert_eq!(moments, [(0, 3), (2, 1), (7, 2)]);
        assert_eq!((trace.period_ms(), trace.longest_gap_ns()), (7, 5_000_000));
        assert_eq!(read("9 1").unwrap().longest_gap_ns(), 9_000_000);
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            "0",
            "0x2",
            "1 0",
            "1x0",
            "x2",
            "1x",
            "-1",
            "1 a",
            "4294967296",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}

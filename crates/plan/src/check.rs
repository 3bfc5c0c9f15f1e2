//! What the numbers of a cell may be, so that sums of them stay in range.

use anyhow::{bail, Result};

use crate::plan::{Link, Loss, Start};
use crate::Cell;

/// No time of a network or a transfer is longer: a day.
pub(crate) const LONGEST_NS: u64 = 86_400_000_000_000;
/// No transfer starts later: some 73 years, half of what a clock of nanoseconds holds.
pub(crate) const LATEST_NS: u64 = 1 << 61;

impl Cell {
    /// Whether every number is one that can be reckoned with.
    ///
    /// # Errors
    /// With the first that is not.
    pub fn check(&self) -> Result<()> {
        if let Loss::Pattern(loss) = &self.loss {
            if loss.parse()?.has_scopes() {
                bail!(
                    "the loss pattern {:?} names a path or a burst: a page has none",
                    loss.pattern
                );
            }
        }
        check_limits(
            &self.network.links,
            &self.starts,
            &[
                ("transfer_timeout_ns", self.transfer_timeout_ns, LONGEST_NS),
                ("phase_period_ns", self.phase_period_ns, LONGEST_NS),
                ("warm_up", u64::from(self.warm_up), 1_000_000),
            ],
        )
    }
}

/// Whether no number of these is larger than it may be; `others` are a name, a value and the largest each.
pub(crate) fn check_limits(
    links: &[Link],
    starts: &[Start],
    others: &[(&str, u64, u64)],
) -> Result<()> {
    let lengths = links
        .iter()
        .flat_map(|link| [("delay_ns", link.delay_ns), ("jitter_ns", link.jitter_ns)])
        .map(|(what, value)| (what, value, LONGEST_NS));
    let starts = starts.iter().flat_map(|start| {
        [
            ("phase_ns", start.phase_ns, LONGEST_NS),
            ("boundary_ns", start.boundary_ns.unwrap_or(0), LATEST_NS),
        ]
    });
    for (what, value, most) in lengths.chain(others.iter().copied()).chain(starts) {
        if value > most {
            bail!("{what} = {value}: must be at most {most}");
        }
    }
    for link in links {
        if !(0.0..=1.0).contains(&link.loss) {
            bail!("loss = {}: must be 0 to 1", link.loss);
        }
    }
    Ok(())
}

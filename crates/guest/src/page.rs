//! The page that makes a transfer as long as the scenario wants it.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail, Result};
use rexmit_loss::Totals;
use rexmit_plan::{not_as_asked, Cell};

/// A page and the response head that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its length.
    pub bytes: usize,
    /// The length of the head.
    pub head_bytes: u64,
}

/// What a transfer without loss has shown of its response.
pub struct Shown {
    /// Largest segment.
    pub mss_bytes: u32,
    /// Bytes of the head.
    pub head_bytes: u64,
    /// Packets of new data.
    pub packets: Totals,
}

/// The lengths of heads and segments, as far as they were found out on a bench.
#[derive(Debug, Default)]
pub struct Lengths {
    /// Bytes of a head beside the page's length, which it states twice: in decimals (Content-Length), in hexadecimals
    /// (ETag).
    rest: Option<u64>,
    /// The largest segment, by whether TCP sends timestamps.
    mss: BTreeMap<bool, u64>,
}

impl Lengths {
    /// The page for `cell`, where everything about it is known.
    pub fn page(&self, cell: &Cell) -> Option<Page> {
        let rest = self.rest?;
        let plan = cell.workload.page()?;
        let want = plan.bytes_wanted(*self.mss.get(&timestamps(cell))?).ok()?;
        // A longer page may have a longer head: one length or two fit, or none.
        let longest = want.checked_sub(rest)?;
        let bytes = (longest.saturating_sub(40)..=longest)
            .find(|bytes| bytes + rest + digits(*bytes) == want)?;
        Some(Page {
            bytes: usize::try_from(bytes).ok()?,
            head_bytes: want - bytes,
        })
    }

    /// Finds the length of the page by transfers without loss: the head's length and the segments' size are taken
    /// from the wire, and a last transfer shows that the result is what the scenario wants.
    pub fn fit(
        &mut self,
        cell: &Cell,
        warnings: &mut Vec<String>,
        mut rehearse: impl FnMut(Page) -> Result<Shown>,
    ) -> Result<Page> {
        let plan = cell.workload.page().ok_or_else(|| anyhow!("no page"))?;
        let mtu = cell.network.mtu as usize;
        // Long enough that a segment is full.
        let mut page = Page {
            bytes: 4 * mtu,
            head_bytes: 0,
        };
        let mut mss = 0;
        for _ in 0..5 {
            let seen = rehearse(page)?;
            // A page of one segment shows less than a full one.
            mss = mss.max(seen.mss_bytes);
            page.head_bytes = seen.head_bytes;
            let want = plan.bytes_wanted(u64::from(mss))?;
            let bytes = want.checked_sub(seen.head_bytes).ok_or_else(|| {
                anyhow!(
                    "a transfer of {want} bytes cannot hold the response head of {} bytes",
                    seen.head_bytes
                )
            })?;
            if bytes == page.bytes as u64 {
                warnings.extend(not_as_asked(cell, &seen.packets, mss));
                self.mss.insert(timestamps(cell), u64::from(mss));
                self.rest = seen.head_bytes.checked_sub(digits(bytes));
                return Ok(page);
            }
            page.bytes = usize::try_from(bytes)?;
        }
        bail!("no length of the page gives the wanted transfer: the response head changes with each request")
    }
}

fn timestamps(cell: &Cell) -> bool {
    let value = cell.sysctls.get("net.ipv4.tcp_timestamps");
    value.is_none_or(|value| value.trim() != "0")
}

/// Digits of a number in decimals and in hexadecimals together.
fn digits(number: u64) -> u64 {
    let decimals = number.checked_ilog10().unwrap_or(0) + 1;
    let hexadecimals = number.checked_ilog(16).unwrap_or(0) + 1;
    u64::from(decimals + hexadecimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_in_both_bases() {
        assert_eq!(digits(0), 2);
        assert_eq!(digits(9), 2);
        assert_eq!(digits(10), 3);
        assert_eq!(digits(16), 4);
        assert_eq!(digits(65_536), 10);
    }
}

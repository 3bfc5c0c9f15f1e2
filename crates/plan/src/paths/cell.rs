//! A cell of bursts over paths.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail, Result};
use rexmit_loss::paths::{self, PathRule, Totals};
use rexmit_loss::pattern::Pattern;
use serde::{Deserialize, Serialize};

use crate::check::{check_limits, LATEST_NS, LONGEST_NS};
use crate::plan::{Link, PatternLoss, Stack, Start};

/// Most paths of a cell; their addresses are numbered in a byte.
const MOST_PATHS: usize = 32;
/// Most bursts of a connection.
const MOST_BURSTS: u32 = 1_000;
/// Most bytes of all bursts of a connection.
const MOST_BYTES: u64 = 1 << 32;

/// One point of a campaign's grid whose server writes bursts to a client with an address on each of several paths: the
/// same connection several times, at different phases of the kernel's timers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathCell {
    /// The cell's number in the grid.
    pub id: u64,
    /// For messages.
    pub label: String,
    /// 4 or 6.
    pub family: u8,
    /// Bytes of an IP packet.
    pub mtu: u32,
    /// The paths; the delay of each is that of all of it, one way.
    pub paths: Vec<Link>,
    /// What the connection speaks.
    pub protocol: Protocol,
    /// The path on which the connection is opened, from 1; plain TCP has no other.
    #[serde(default = "first")]
    pub first_path: u32,
    /// Set on both hosts and read back.
    pub sysctls: BTreeMap<String, String>,
    /// Set on both hosts and read back.
    pub congestion_control: String,
    /// What the server writes.
    pub bursts: Bursts,
    /// What is dropped.
    pub loss: PatternLoss,
    /// The connections. A start's phase is that of the server's first write of the last burst.
    pub starts: Vec<Start>,
    /// The last burst's first write is at a multiple of this on CLOCK_MONOTONIC, plus its start's phase.
    pub phase_period_ns: u64,
    /// Keep pcapng of both hosts.
    pub capture: bool,
    /// Log every packet of both hosts in a `packets` event.
    #[serde(default)]
    pub packets: bool,
    /// A connection whose last burst takes longer has failed.
    pub transfer_timeout_ns: u64,
    /// The TCP of both hosts, where the engine has more than one.
    #[serde(default)]
    pub stack: Option<Stack>,
    /// Where all chance comes from, in an engine that is not given it otherwise (a kernel is, as it boots).
    #[serde(default)]
    pub seed: Option<u64>,
}

const fn first() -> u32 {
    1
}

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP (RFC 9293), on one path.
    Tcp,
    /// Multipath TCP (RFC 8684), with a subflow on each path.
    Mptcp,
}

impl Protocol {
    /// As tables have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Mptcp => "mptcp",
        }
    }
}

/// What the server writes; all bursts alike.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// How many.
    pub count: u32,
    /// Full segments of each.
    #[serde(default)]
    pub segments: Option<u32>,
    /// Bytes of each, instead of segments.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// From the first write of one to the first write of the next.
    pub gap_ns: u64,
}

impl Bursts {
    /// Bytes of each burst where a full segment has `segment_bytes` of payload.
    #[must_use]
    pub fn bytes_each(&self, segment_bytes: u32) -> u64 {
        let segments = self
            .segments
            .map(|n| u64::from(n) * u64::from(segment_bytes));
        self.bytes.or(segments).unwrap_or(0)
    }
}

impl PathCell {
    /// The rule of the cell, for bursts of `burst_bytes` to a client with these addresses, one a path. Without `totals`
    /// it drops nothing and counts.
    ///
    /// # Errors
    /// When the pattern's text is none, or names a packet that `totals` does not have.
    pub fn rule(
        &self,
        burst_bytes: u64,
        clients: &[std::net::IpAddr],
        totals: Option<&Totals>,
    ) -> Result<PathRule> {
        let pattern = self.loss.parse()?;
        if let Some(totals) = totals {
            totals.check(&pattern)?;
        }
        Ok(PathRule::new(paths::Settings {
            pattern,
            bursts: vec![burst_bytes; self.bursts.count as usize],
            clients: clients.to_vec(),
            totals: totals.cloned(),
        }))
    }

    /// Whether the rule must see the client's packets too.
    #[must_use]
    pub fn needs_client(&self) -> bool {
        self.loss
            .parse()
            .is_ok_and(|pattern| pattern.needs_client())
    }

    /// Whether packets may be lost otherwise than by the rule: by chance, or in a queue that a burst can fill.
    #[must_use]
    pub fn lossy(&self) -> bool {
        /// Least payload of a full segment that is reckoned with: MTU 1500 leaves as much with IPv6, timestamps and a
        /// mapping.
        const SEGMENT: u64 = 1_400;
        const BESIDES: u64 = 20;
        let bytes = self.bursts.bytes.map(|bytes| bytes.div_ceil(SEGMENT));
        let burst = self.bursts.segments.map(u64::from).or(bytes).unwrap_or(0);
        // What was sent of one burst may still be under way when the next is written.
        let segments = burst * u64::from(self.bursts.count);
        self.paths
            .iter()
            .any(|link| link.loss > 0.0 || u64::from(link.queue_packets) < segments + BESIDES)
    }

    /// Nanoseconds without anything to read after which the client gives up: those between two bursts are no reason to.
    #[must_use]
    pub fn patience_ns(&self) -> u64 {
        self.transfer_timeout_ns.max(self.bursts.gap_ns)
    }

    /// Nanoseconds in which, after the last burst, a last acknowledgement crosses the network, and retransmissions that
    /// were under way with it.
    #[must_use]
    pub fn settling_ns(&self) -> u64 {
        const FRAME_BITS: u64 = 8 * 1514;
        let one_way = |link: &Link| link.delay_ns + link.jitter_ns;
        let slowest = self.paths.iter().map(one_way).max().unwrap_or(0);
        let frame = |link: &Link| FRAME_BITS * 1_000_000_000 / link.rate_bps.max(1);
        let frames = self.paths.iter().map(frame).max().unwrap_or(0);
        2 * slowest + 40 * frames + 1_000_000
    }

    /// Whether every number is one that can be reckoned with, and the pattern one of these paths and bursts.
    ///
    /// # Errors
    /// With the first that is not.
    pub fn check(&self) -> Result<()> {
        let paths = self.paths.len();
        let least = match self.protocol {
            Protocol::Tcp => 1,
            Protocol::Mptcp => 2,
        };
        if paths < least || paths > MOST_PATHS {
            let protocol = self.protocol.as_str();
            bail!("{paths} paths: {protocol} needs {least} to {MOST_PATHS}");
        }
        if self.first_path == 0 || self.first_path as usize > paths {
            bail!("first_path = {}: must be 1 to {paths}", self.first_path);
        }
        check_limits(
            &self.paths,
            &self.starts,
            &[
                ("phase_period_ns", self.phase_period_ns, LONGEST_NS),
                ("transfer_timeout_ns", self.transfer_timeout_ns, LONGEST_NS),
                ("bursts.gap_ns", self.bursts.gap_ns, LONGEST_NS),
                (
                    "bursts.count",
                    u64::from(self.bursts.count),
                    u64::from(MOST_BURSTS),
                ),
            ],
        )?;
        self.check_bursts()?;
        self.check_pattern(&self.loss.parse()?)
    }

    fn check_bursts(&self) -> Result<()> {
        let Bursts {
            count,
            segments,
            bytes,
            gap_ns,
        } = self.bursts;
        if count == 0 {
            bail!("bursts.count = 0: must be 1 or more");
        }
        let each = match (segments, bytes) {
            (Some(segments), None) => u64::from(segments) * u64::from(self.mtu),
            (None, Some(bytes)) => bytes,
            _ => bail!("the plan names either a burst's segments or its bytes"),
        };
        let all = each.saturating_mul(u64::from(count));
        if all == 0 || all > MOST_BYTES {
            bail!("{count} bursts of {each} bytes: must be 1 to {MOST_BYTES} bytes in all");
        }
        if gap_ns.saturating_mul(u64::from(count)) > LATEST_NS {
            bail!("{count} bursts every {gap_ns} ns take too long");
        }
        Ok(())
    }

    fn check_pattern(&self, pattern: &Pattern) -> Result<()> {
        let wrong = |what: String| anyhow!("the loss pattern {:?}: {what}", self.loss.pattern);
        if pattern.names_fin() {
            return Err(wrong("bursts have no FIN".into()));
        }
        for scope in pattern.scopes() {
            let of = [
                ("path", scope.path, self.paths.len() as u32),
                ("burst", scope.burst, self.bursts.count),
            ];
            for (what, named, there) in of {
                if named.is_some_and(|named| named > there) {
                    let named = named.unwrap_or(0);
                    return Err(wrong(format!("{what} {named} of {there}")));
                }
            }
            let path = scope.path.unwrap_or(self.first_path);
            if self.protocol == Protocol::Tcp && path != self.first_path {
                let own = self.first_path;
                return Err(wrong(format!("path {path}, TCP goes on path {own} alone")));
            }
        }
        Ok(())
    }
}

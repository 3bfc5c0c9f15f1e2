//! What the numbers of a cell may be, so that sums of them stay in range, and which of its parts go together.

use anyhow::{anyhow, bail, Result};
use rexmit_loss::pattern::Pattern;
use rexmit_loss::Mode;

use crate::loss::Loss;
use crate::workload::{ClientKind, Workload, MOST_BURSTS};
use crate::{Cell, Link, Place};

/// No time of a network or a transfer is longer: a day.
pub(crate) const LONGEST_NS: u64 = 86_400_000_000_000;
/// No transfer starts later: some 73 years, half of what a clock of nanoseconds holds.
pub(crate) const LATEST_NS: u64 = 1 << 61;

impl Cell {
    /// Whether every number is one that can be reckoned with, and the pattern one of these paths and bursts.
    ///
    /// # Errors
    /// With the first that is not.
    pub fn check(&self) -> Result<()> {
        self.check_limits()?;
        let paths = self.network.paths();
        if self.is_multipath() && paths < 2 {
            bail!("{paths} paths: mptcp needs 2");
        }
        if self.first_path == 0 || self.first_path as usize > paths {
            bail!("first_path = {}: must be 1 to {paths}", self.first_path);
        }
        if self.qdisc.is_some() && self.network.at == Place::Host {
            bail!("qdisc: links in the hosts are their queueing disciplines");
        }
        if !self.offload.go_together() {
            bail!("offload: segmentation needs checksum and scatter_gather");
        }
        match &self.workload {
            Workload::Burst(bursts) => bursts.check(self.network.mtu)?,
            Workload::Nginx(page) if page.http.is_encrypted() => {
                if page.client != ClientKind::Curl {
                    bail!("only curl speaks TLS");
                }
                if self.is_multipath() {
                    bail!("TLS goes over TCP alone");
                }
            }
            Workload::Nginx(page) if self.is_multipath() => {
                if page.client != ClientKind::Builtin {
                    bail!("only the built-in client speaks Multipath TCP");
                }
            }
            Workload::Nginx(_) => {}
        }
        match &self.loss {
            Loss::Tail(tail) if tail.mode == Mode::Hold && self.is_rehearsed() => {
                bail!("only a page over TCP that can be read is held back")
            }
            Loss::Tail(_) => Ok(()),
            Loss::Pattern(loss) => {
                let wrong = |what| anyhow!("the loss pattern {:?}: {what}", loss.pattern);
                self.check_pattern(&loss.parse()?).map_err(wrong)
            }
        }
    }

    /// Whether no number is larger than it may be.
    fn check_limits(&self) -> Result<()> {
        let bursts = self.workload.bursts();
        let (gap_ns, count) = bursts.map_or((0, 0), |bursts| (bursts.gap_ns, bursts.count));
        let request = bursts.and_then(|bursts| bursts.request);
        let server_think_ns = request.map_or(0, |request| request.server_think_ns);
        let last_byte_after_ns = bursts.map_or(0, |bursts| bursts.last_byte_after_ns);
        let others = [
            ("phase_period_ns", self.phase_period_ns, LONGEST_NS),
            ("transfer_timeout_ns", self.transfer_timeout_ns, LONGEST_NS),
            ("warm_up", u64::from(self.warm_up), 1_000_000),
            ("bursts.gap_ns", gap_ns, LONGEST_NS),
            ("request.server_think_ns", server_think_ns, LONGEST_NS),
            ("bursts.last_byte_after_ns", last_byte_after_ns, LONGEST_NS),
            ("bursts.count", u64::from(count), u64::from(MOST_BURSTS)),
        ];
        let starts = self.starts.iter().flat_map(|start| {
            [
                ("phase_ns", start.phase_ns, LONGEST_NS),
                ("boundary_ns", start.boundary_ns.unwrap_or(0), LATEST_NS),
            ]
        });
        for (what, value, most) in others.into_iter().chain(starts) {
            if value > most {
                bail!("{what} = {value}: must be at most {most}");
            }
        }
        let mut ways = self.network.links().iter().flat_map(Link::ways);
        ways.try_for_each(Link::check)
    }

    /// What is wrong with the pattern, if it names what there is not.
    fn check_pattern(&self, pattern: &Pattern) -> Result<(), String> {
        if pattern.names_fin() && !self.by_response() {
            return Err(match &self.workload {
                Workload::Burst(_) => "bursts have no FIN".into(),
                Workload::Nginx(_) => "data of Multipath TCP have no FIN of their own".into(),
            });
        }
        for scope in pattern.scopes() {
            let of = [
                ("path", scope.path, self.network.paths()),
                ("burst", scope.burst, self.burst_count()),
            ];
            for (what, named, there) in of {
                if let Some(named) = named.filter(|named| *named as usize > there) {
                    return Err(format!("{what} {named} of {there}"));
                }
            }
            let path = scope.path.unwrap_or(self.first_path);
            if !self.is_multipath() && path != self.first_path {
                let own = self.first_path;
                return Err(format!("path {path}, TCP goes on path {own} alone"));
            }
        }
        Ok(())
    }
}

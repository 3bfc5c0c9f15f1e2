//! A cell: one point of a campaign's grid.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anyhow::Result;
use rexmit_loss::pattern::{Pattern, Scope};
use rexmit_loss::{Difference, Drops, LossRule, Settings, Stretches, Told, Totals, Whole};
use rexmit_tcp::words;
use rexmit_time::Duration;
use serde::Deserialize;

use crate::link::Link;
use crate::loss::Loss;
use crate::network::NetworkPlan;
use crate::rate_trace::RateTrace;
use crate::workload::Workload;

/// One point of a campaign's grid: the same transfer several times, at different phases of the kernel's timers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The cell's number in the grid.
    pub id: u64,
    /// For messages.
    pub label: String,
    /// Hosts, links, addresses.
    pub network: NetworkPlan,
    /// What a connection speaks.
    #[serde(default)]
    pub protocol: Protocol,
    /// The path on which a connection is opened, from 1; plain TCP has no other.
    #[serde(default = "first")]
    pub first_path: u32,
    /// Set on both hosts and read back.
    pub sysctls: BTreeMap<String, String>,
    /// Set on both hosts and read back.
    pub congestion_control: String,
    /// What both hosts' interfaces do in the host's stead.
    #[serde(default)]
    pub offload: Offloads,
    /// What the routes of both hosts say of connections over them.
    #[serde(default)]
    pub route: RouteMetrics,
    /// The queueing discipline of both hosts' interfaces; none of them queue where nothing is said.
    #[serde(default)]
    pub qdisc: Option<Qdisc>,
    /// What is transferred, by whom.
    pub workload: Workload,
    /// What is dropped.
    pub loss: Loss,
    /// Transfers without loss before the first that counts.
    #[serde(default)]
    pub warm_up: u32,
    /// The transfers. A start's phase is that of the client's call for a page, and of the server's first write of the last
    /// burst.
    pub starts: Vec<Start>,
    /// A transfer starts at a multiple of this on CLOCK_MONOTONIC, plus its phase.
    pub phase_period_ns: u64,
    /// Keep pcapng of both hosts.
    pub capture: bool,
    /// Log every packet of both hosts in a `packets` event.
    #[serde(default)]
    pub packets: bool,
    /// A page, or a last burst, that takes longer has failed.
    pub transfer_timeout_ns: u64,
    /// The TCP of both hosts, where the engine has more than one.
    #[serde(default)]
    pub stack: Option<Stack>,
    /// Where all chance comes from, in an engine that is not given it otherwise (a kernel is, as it boots).
    #[serde(default)]
    pub seed: Option<u64>,
}

/// What an interface does to packets in its host's stead. Segments that came are never joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Offloads {
    /// Checksums of what is sent.
    pub checksum: bool,
    /// Packets whose bytes lie in several places. Before Linux 4.17 TCP makes such only where checksums are the interface's,
    /// too.
    pub scatter_gather: bool,
    /// Super-segments, cut behind TCP; needs both of the others.
    pub segmentation: bool,
}

impl Offloads {
    /// All that there is.
    pub const ALL: Self = Self {
        checksum: true,
        scatter_gather: true,
        segmentation: true,
    };

    /// Whether each has what it rests on; a kernel leaves it off otherwise (`netdev_fix_features`).
    #[must_use]
    pub const fn go_together(self) -> bool {
        !self.segmentation || self.checksum && self.scatter_gather
    }
}

words! {
    /// What queues packets at an interface, as tc(8) names it.
    pub enum Qdisc ("queueing discipline") {
        /// Fair queueing, which paces each flow (tc-fq(8)).
        Fq = "fq",
        /// Fair queueing with CoDel (tc-fq_codel(8), RFC 8290).
        FqCodel = "fq_codel",
        /// First come, first served, as many packets as the interface's queue is long (tc-pfifo(8)).
        Pfifo = "pfifo",
    }
}

/// Metrics of a route, as ip-route(8) names them; none for the host's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RouteMetrics {
    /// First congestion window, segments.
    pub initcwnd: Option<u32>,
    /// First receive window, segments.
    pub initrwnd: Option<u32>,
    /// Shortest timeout, locked.
    pub rto_min_ms: Option<u32>,
    /// Whether every segment is acknowledged at once.
    pub quickack: Option<bool>,
}

/// Every packet is one segment, with its checksum.
impl Default for Offloads {
    fn default() -> Self {
        Self {
            checksum: false,
            scatter_gather: true,
            segmentation: false,
        }
    }
}

const fn first() -> u32 {
    1
}

words! {
    /// What a connection speaks.
    #[derive(Default)]
    pub enum Protocol ("protocol") {
        /// TCP (RFC 9293), on one path.
        #[default]
        Tcp = "tcp",
        /// Multipath TCP (RFC 8684), with a subflow on each path.
        Mptcp = "mptcp",
    }
}

/// A TCP stack by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// As `rexmit stacks` lists it.
    pub name: String,
    /// Timer ticks a second, instead of the stack's own.
    #[serde(default)]
    pub hz: Option<u32>,
    /// Settings other than the stack's own, by name.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// How long its host works.
    #[serde(default)]
    pub work: Work,
}

/// How long hosts work where that takes time, as it does not on the lab's own kernels; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Work {
    /// On a packet that comes.
    pub receive_ns: u64,
    /// Of a server that is asked, until it writes.
    pub answer_ns: u64,
    /// To wake a server that waits for room, or the filter.
    pub wake_ns: u64,
    /// On a packet that such a program takes in itself.
    pub take_ns: u64,
    /// Of such a program on its way out of `recv`.
    pub leave_ns: u64,
    /// Of a program that writes as much as a packet holds.
    pub write_ns: u64,
    /// On a packet that a TCP makes.
    pub make_ns: u64,
    /// Of the filter that fetches a packet with data.
    pub fetch_ns: u64,
    /// On a packet in the filter.
    pub judge_ns: u64,
    /// On a retransmission in the filter besides.
    pub retransmission_ns: u64,
}

/// One transfer of a cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Its number.
    pub repetition: u32,
    /// Offset of its start in the phase period.
    pub phase_ns: u64,
    /// The multiple of the phase period that it starts after, where the engine's clock can be set. Timers of 16 s and more
    /// depend on it, the shorter ones on the phase alone.
    #[serde(default)]
    pub boundary_ns: Option<u64>,
}

/// How long, at least, a client waits in a transfer without loss that shows what a cell's transfers are made of:
/// the longest timeout that a scenario may name, an hour.
pub const REHEARSAL_NS: u64 = 3_600_000_000_000;

impl Cell {
    /// Whether its connections speak Multipath TCP.
    #[must_use]
    pub fn is_multipath(&self) -> bool {
        self.protocol == Protocol::Mptcp
    }

    /// Whether the loss rule finds a response in one flow: by its head, which says how long it is, or as all that its
    /// connection sends, where only the ends can read it. Otherwise it is told the lengths of bursts, or of the one
    /// response, on all paths together. Positions are found by a rehearsal but where a head is read.
    #[must_use]
    pub fn by_response(&self) -> bool {
        self.workload.page().is_some() && !self.is_multipath()
    }

    /// Whether the rule counts packets, of which a rehearsal has shown how many there are.
    #[must_use]
    pub fn is_rehearsed(&self) -> bool {
        !self.by_response() || self.workload.is_encrypted()
    }

    /// Whether the rule must see the client's packets too.
    #[must_use]
    pub fn needs_client(&self) -> bool {
        self.loss.needs_client()
    }

    /// How many bursts a connection has that the rule of bursts knows; a response is one.
    #[must_use]
    pub fn burst_count(&self) -> usize {
        self.workload
            .bursts()
            .map_or(1, |bursts| bursts.count as usize)
    }

    /// What is dropped, as a pattern of bursts of which `totals` were sent without loss. The tail is that of the last.
    ///
    /// # Errors
    /// When the pattern's text is none.
    pub fn pattern(&self, totals: &Totals) -> Result<Pattern> {
        match &self.loss {
            Loss::Pattern(loss) => loss.parse(),
            Loss::Tail(tail) => {
                let burst = Some(self.burst_count() as u32);
                let sent = totals.within(Scope { path: None, burst });
                Ok(match sent.min(u64::from(tail.segments)) {
                    0 => Pattern::default(),
                    lost => format!("burst {} data -{lost}..-1", self.burst_count()).parse()?,
                })
            }
        }
    }

    /// The rule of a transfer whose bursts, or whose response, have `bytes` each, to a client with these addresses, one a
    /// path; it measures until it is told that the transfer is over. Without `lossless`, what was sent of it without loss,
    /// it drops nothing and counts.
    ///
    /// # Errors
    /// When the pattern's text is none, or names a packet that `lossless` does not have, or a limit is longer than 292
    /// years.
    pub fn rule(
        &self,
        bytes: u64,
        clients: &[IpAddr],
        lossless: Option<&Totals>,
    ) -> Result<LossRule> {
        let mut settings = Settings {
            linger: Duration::MAX,
            ..Settings::default()
        };
        if let Some(lossless) = lossless {
            self.check_lossless(lossless)?;
            settings.drops = if self.by_response() {
                self.loss.of_response()?
            } else {
                Drops::Pattern(self.pattern(lossless)?)
            };
        }
        if !self.by_response() {
            settings.stretches = Stretches::Told(Told {
                bytes: vec![bytes; self.burst_count()],
                clients: clients.to_vec(),
                lossless: lossless.cloned(),
            });
        } else if self.workload.is_encrypted() {
            settings.stretches = Stretches::Whole(Whole {
                lossless: lossless.map(|sent| sent.within(Scope::ALL)),
            });
        }
        Ok(LossRule::new(settings))
    }

    /// Whether every packet that is to be dropped was sent without loss, where the rule counts packets.
    ///
    /// # Errors
    /// When the pattern's text is none, or with the first packet that was not.
    pub fn check_lossless(&self, lossless: &Totals) -> Result<()> {
        if self.is_rehearsed() {
            lossless.check(&self.pattern(lossless)?)?;
        }
        Ok(())
    }

    /// Where the packets `sent` are not those that the pattern reckons with, which are those that were sent without loss.
    #[must_use]
    pub fn differences(&self, sent: &Totals, lossless: &Totals) -> Vec<Difference> {
        let pattern = self.pattern(lossless).ok();
        let pattern = pattern.filter(|_| self.is_rehearsed());
        pattern.map_or_else(Vec::new, |pattern| sent.differences(&pattern, lossless))
    }

    /// Whether packets may be lost otherwise than by the rule: by chance, or in a queue that a transfer can fill. What was
    /// sent of one burst may still be under way when the next is written.
    #[must_use]
    pub fn lossy(&self) -> bool {
        /// Least payload of a full segment that is reckoned with: MTU 1500 leaves as much with IPv6, timestamps and a
        /// mapping.
        const SEGMENT: u64 = 1_400;
        /// The handshake and a few acknowledgements.
        const BESIDES: u64 = 20;
        let segments = self.workload.segments(SEGMENT);
        let mut ways = self.network.links().iter().flat_map(Link::ways);
        ways.any(|way| way.loses() || u64::from(way.queue_packets) < segments + BESIDES)
    }

    /// Nanoseconds without anything to read after which the client gives up: those between two bursts are no reason to,
    /// nor those for which the server thinks.
    #[must_use]
    pub fn patience_ns(&self) -> u64 {
        let bursts = self.workload.bursts();
        let (gap_ns, pause_ns) = bursts.map_or((0, 0), |one| (one.gap_ns, one.pause_ns()));
        self.transfer_timeout_ns.max(gap_ns) + pause_ns
    }

    /// Nanoseconds in which, after a transfer, a last acknowledgement crosses the network, and retransmissions that were
    /// under way with it. Where every packet of a page is logged the log is to end with nothing under way: spurious
    /// retransmissions may fill the network's queues.
    #[must_use]
    pub fn settling_ns(&self) -> u64 {
        const FRAME_BITS: u64 = 8 * 1514;
        /// Frames of a connection over paths that wait before one.
        const WAITING: u64 = 40;
        let one_way = |path: &[Link]| -> u64 {
            let held = |way: &Link| way.rate_trace.as_ref().map_or(0, RateTrace::longest_gap_ns);
            let longer = |link: &Link| {
                link.ways()
                    .map(|way| way.delay_ns + way.jitter_ns + held(way))
            };
            path.iter()
                .map(|link| longer(link).into_iter().max().unwrap_or(0))
                .sum()
        };
        let longest = self.network.each_path().map(one_way).max().unwrap_or(0);
        let frame = |way: &Link| FRAME_BITS * 1_000_000_000 / way.rate_bps.max(1);
        let ways = self.network.links().iter().flat_map(Link::ways);
        let frame = ways.map(frame).max().unwrap_or(0);
        let frames = match &self.workload {
            Workload::Nginx(page) if self.by_response() => {
                let all = u64::from(page.segments.unwrap_or(1_000) + 20);
                if self.packets {
                    2 * all
                } else {
                    0
                }
            }
            _ => WAITING,
        };
        2 * longest + frames * frame + 1_000_000
    }
}

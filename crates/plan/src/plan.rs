//! The plan: all that an engine is to do, in one versioned file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::pattern::{self, Pattern, PatternRule};
use rexmit_loss::tail::{self, TailRule};
use rexmit_loss::Rule;
use rexmit_time::Duration;
use serde::Deserialize;

use crate::{Part, PathCell};

/// The version of the plan that is read here, and of the events that answer it.
pub const VERSION: u32 = 1;

/// A plan: either cells to run or one command to execute.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`VERSION`].
    pub version: u32,
    /// Virtual seconds between heartbeats.
    #[serde(default = "default_heartbeat_s")]
    pub heartbeat_s: f64,
    /// The programs of the host that the guest uses.
    #[serde(default)]
    pub programs: Programs,
    /// Cells, in the order they run.
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Cells of bursts over paths, after the others.
    #[serde(default)]
    pub path_cells: Vec<PathCell>,
    /// Parts of a corpus instead of cells.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// One command instead of cells.
    pub exec: Option<Exec>,
}

fn default_heartbeat_s() -> f64 {
    5.0
}

/// Where the programs are that the guest runs; `null` for one that is not installed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    ip: Option<PathBuf>,
    tc: Option<PathBuf>,
    nft: Option<PathBuf>,
    nginx: Option<PathBuf>,
    curl: Option<PathBuf>,
    lynx: Option<PathBuf>,
}

macro_rules! program {
    ($($name:ident)+) => {
        impl Programs {
            $(
                #[doc = concat!("Where `", stringify!($name), "` is.")]
                ///
                /// # Errors
                /// When it is not installed.
                pub fn $name(&self) -> Result<&Path> {
                    self.$name.as_deref().ok_or_else(|| anyhow!("{} is not installed", stringify!($name)))
                }
            )+
        }
    };
}

program!(ip tc nft nginx curl lynx);

/// One point of a campaign's grid: the same transfer several times, at different phases of the kernel's timers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The cell's number in the grid.
    pub id: u64,
    /// For messages.
    pub label: String,
    /// Hosts, links, addresses.
    pub network: NetworkPlan,
    /// Set on both hosts and read back.
    pub sysctls: BTreeMap<String, String>,
    /// Set on both hosts and read back.
    pub congestion_control: String,
    /// What is transferred, by whom.
    pub workload: Workload,
    /// What is dropped.
    pub loss: Loss,
    /// Transfers without loss before the first that counts.
    #[serde(default)]
    pub warm_up: u32,
    /// The transfers.
    pub starts: Vec<Start>,
    /// A transfer starts at a multiple of this on CLOCK_MONOTONIC, plus its phase.
    pub phase_period_ns: u64,
    /// Keep pcapng of both hosts.
    pub capture: bool,
    /// Log every packet of both hosts in a `packets` event.
    #[serde(default)]
    pub packets: bool,
    /// A transfer that takes longer has failed.
    pub transfer_timeout_ns: u64,
    /// The TCP of both hosts, where the engine has more than one.
    #[serde(default)]
    pub stack: Option<Stack>,
    /// Where all chance comes from, in an engine that is not given it otherwise (a kernel is, as it boots).
    #[serde(default)]
    pub seed: Option<u64>,
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
}

/// How long, at least, a client waits in a transfer without loss that shows what a cell's transfers are made of:
/// the longest timeout that a scenario may name, an hour.
pub const REHEARSAL_NS: u64 = 3_600_000_000_000;

impl Cell {
    /// Nanoseconds in which, after a transfer, a last acknowledgement crosses the network, and retransmissions that were
    /// under way with it. Where every packet is logged the log is to end with nothing under way: spurious retransmissions
    /// may fill the network's queues.
    #[must_use]
    pub fn settling_ns(&self) -> u64 {
        const FRAME_BITS: u64 = 8 * 1514;
        let links = &self.network.links;
        let one_way: u64 = links
            .iter()
            .map(|link| link.delay_ns + link.jitter_ns)
            .sum();
        let mut wait = 2 * one_way + 1_000_000;
        if self.packets {
            let slowest = links.iter().map(|link| link.rate_bps).min().unwrap_or(1);
            let frame = FRAME_BITS * 1_000_000_000 / slowest.max(1);
            wait += 2 * frame * u64::from(self.workload.segments.unwrap_or(1_000) + 20);
        }
        wait
    }

    /// Whether packets may be lost otherwise than by the rule: by chance, or in a queue that a transfer can fill.
    #[must_use]
    pub fn lossy(&self) -> bool {
        /// Longest payload that MTU 1500 leaves with IPv6 and timestamps; the handshake and a few acknowledgements
        /// besides.
        const SEGMENT: u64 = 1428;
        const BESIDES: u64 = 20;
        let workload = &self.workload;
        let by_bytes = workload.bytes.map(|bytes| bytes.div_ceil(SEGMENT));
        let segments = workload.segments.map(u64::from).or(by_bytes).unwrap_or(0);
        self.network
            .links
            .iter()
            .any(|link| link.loss > 0.0 || u64::from(link.queue_packets) < segments + BESIDES)
    }
}

/// Hosts h1 and h2 with a switch between them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkPlan {
    /// 4 or 6.
    pub family: u8,
    /// Where rate and delay act.
    pub at: Place,
    /// Bytes of an IP packet.
    pub mtu: u32,
    /// h1 to switch, switch to h2.
    pub links: [Link; 2],
}

/// Where a link's rate and delay act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// After the packet has left its host.
    Wire,
    /// In the sending host's own queueing discipline, as mininet does it.
    Host,
}

/// A link; both directions alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bits per second of Ethernet frames.
    pub rate_bps: u64,
    /// One way.
    pub delay_ns: u64,
    /// Uniform deviation of the delay (netem).
    pub jitter_ns: u64,
    /// Probability of random loss, 0 to 1.
    pub loss: f64,
    /// Packets in the queue and under way.
    pub queue_packets: u32,
}

/// What is transferred, by whom.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The server; nginx.
    pub server: Server,
    /// The client.
    pub client: ClientKind,
    /// Full segments of head and body together.
    pub segments: Option<u32>,
    /// Bytes of head and body together, instead of segments.
    pub bytes: Option<u64>,
    /// What the client's host offers at most.
    pub receive_window_bytes: Option<u32>,
    /// The server's `tcp_nopush`: head and body leave together, in full segments.
    #[serde(default = "yes")]
    pub tcp_nopush: bool,
    /// Bits a second that the client works through; none for a client that takes no time.
    #[serde(default)]
    pub read_bps: Option<u64>,
}

const fn yes() -> bool {
    true
}

/// The servers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Server {
    /// nginx of the host machine.
    Nginx,
}

/// The clients there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientKind {
    /// This program.
    Builtin,
    /// `curl`.
    Curl,
    /// `lynx -dump`, as in Ryll 2013.
    Lynx,
}

/// What is dropped; the tag is `rule`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "rule", rename_all = "lowercase")]
pub enum Loss {
    /// The last segments of each transfer.
    Tail(TailLoss),
    /// Packets by their position.
    Pattern(PatternLoss),
}

/// The last segments of each transfer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TailLoss {
    /// Segments of data dropped at the tail.
    pub segments: u32,
    /// How the tail is found.
    pub mode: Mode,
    /// Longest time that `hold` keeps packets without any new one.
    pub hold_limit_ns: u64,
}

/// Packets by their position.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternLoss {
    /// Which.
    pub pattern: String,
}

/// How the tail-loss rule finds the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By sequence number.
    Sequence,
    /// By holding candidates until the FIN.
    Hold,
}

impl Loss {
    /// The rule, measuring until it is told that the transfer is over.
    ///
    /// # Errors
    /// When a limit is longer than 292 years or a pattern's text is none.
    pub fn rule(&self) -> Result<Box<dyn Rule + Send>> {
        Ok(match self {
            Loss::Tail(tail) => Box::new(TailRule::new(tail.settings()?)),
            Loss::Pattern(loss) => Box::new(PatternRule::new(pattern::Settings {
                linger: Duration::MAX,
                ..pattern::Settings::new(loss.parse()?)
            })),
        })
    }

    /// Whether the rule must see the client's packets too.
    #[must_use]
    pub fn needs_client(&self) -> bool {
        match self {
            Loss::Tail(_) => false,
            Loss::Pattern(loss) => loss.parse().is_ok_and(|pattern| pattern.needs_client()),
        }
    }
}

impl PatternLoss {
    /// What its text says.
    /// The pattern.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(&self) -> Result<Pattern> {
        let parsed: Result<Pattern, _> = self.pattern.parse();
        parsed.map_err(|error| anyhow!("the loss pattern {:?}: {error}", self.pattern))
    }
}

impl TailLoss {
    /// The rule, measuring until it is told that the transfer is over.
    ///
    /// # Errors
    /// When the limit is longer than 292 years.
    pub fn settings(&self) -> Result<tail::Settings> {
        Ok(tail::Settings {
            segments: self.segments,
            mode: match self.mode {
                Mode::Sequence => tail::Mode::Sequence,
                Mode::Hold => tail::Mode::Hold,
            },
            hold_limit: Duration::from_nanos(i64::try_from(self.hold_limit_ns)?),
            linger: Duration::MAX,
            ..tail::Settings::default()
        })
    }
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

/// One command of the host, run inside the guest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working folder.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// A network to set up first.
    pub network: Option<NetworkPlan>,
    /// On which host of that network the command runs.
    pub host: Option<String>,
}

impl Plan {
    /// Reads a plan from its text.
    ///
    /// # Errors
    /// When the text is no plan, or one of another version.
    pub fn parse(text: &str) -> Result<Self> {
        let plan: Self = serde_json::from_str(text).context("the plan cannot be read")?;
        if plan.version != VERSION {
            bail!(
                "the plan has version {}, this program reads version {VERSION}",
                plan.version
            );
        }
        for cell in &plan.cells {
            cell.check()
                .with_context(|| format!("the plan's cell {} ({})", cell.id, cell.label))?;
        }
        for cell in &plan.path_cells {
            cell.check()
                .with_context(|| format!("the plan's cell {} ({})", cell.id, cell.label))?;
        }
        for part in &plan.parts {
            part.check()
                .with_context(|| format!("the plan's part {}", part.name))?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests;

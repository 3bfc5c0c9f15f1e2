//! What a link does to packets.

use core::slice;

use anyhow::{bail, Result};
use serde::Deserialize;

use crate::aqm::Aqm;
use crate::check::LONGEST_NS;
use crate::rate_trace::RateTrace;

/// A link, or a path: what it does on the way to the client, and on the way back unless `up` says otherwise.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bits per second of Ethernet frames; of a `rate_trace` its mean.
    pub rate_bps: u64,
    /// One way.
    pub delay_ns: u64,
    /// Uniform deviation of the delay (netem).
    pub jitter_ns: u64,
    /// Probability of random loss, 0 to 1.
    pub loss: f64,
    /// Packets in the queue and under way; where there is a `rate_trace` or an `aqm` those that wait.
    pub queue_packets: u32,
    /// When packets may leave, in place of the rate.
    #[serde(default)]
    pub rate_trace: Option<RateTrace>,
    /// How the queue is managed.
    #[serde(default)]
    pub aqm: Option<Box<Aqm>>,
    /// Probability that a packet that may be is marked (RFC 3168).
    #[serde(default)]
    pub ecn_mark: f64,
    /// Loss in bursts, in place of `loss`.
    #[serde(default)]
    pub loss_bursts: Option<LossBursts>,
    /// Probability that a packet goes on without the delay, past those that wait.
    #[serde(default)]
    pub reorder: f64,
    /// Probability that a packet goes on twice.
    #[serde(default)]
    pub duplicate: f64,
    /// Times after a transfer's start in which every packet is lost: from, until; ascending.
    #[serde(default)]
    pub outages_ns: Vec<[u64; 2]>,
    /// Delay spikes at random.
    #[serde(default)]
    pub stalls: Option<Box<Stalls>>,
    /// What comes faster than this is lost on entry.
    #[serde(default)]
    pub policer: Option<Policer>,
    /// A link further on that takes smaller packets.
    #[serde(default)]
    pub path_mtu: Option<PathMtu>,
    /// The way from the client to the server, where it is not the same.
    #[serde(default)]
    pub up: Option<Box<Link>>,
}

/// The model of Gilbert and Elliott: a good and a bad state, each with its own loss.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossBursts {
    /// Probability a packet that the link turns bad.
    pub to_bad: f64,
    /// Probability a packet that it turns good again.
    pub to_good: f64,
    /// Loss in the bad state.
    pub when_bad: f64,
    /// Loss in the good state.
    pub when_good: f64,
}

/// Times in which a link stands still; what would leave then leaves at their end.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// Mean time from the end of one to the next.
    pub every_ns: u64,
    /// Shortest.
    pub least_ns: u64,
    /// Longest.
    pub most_ns: u64,
}

/// A token bucket without a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// Bits per second of Ethernet frames.
    pub rate_bps: u64,
    /// Bytes that the bucket holds.
    pub burst_bytes: u64,
}

/// A link that takes no larger packets, and fragments none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathMtu {
    /// Bytes of an IP packet.
    pub bytes: u32,
    /// Whether a router tells their sender so (RFC 1191, RFC 8201).
    pub icmp: bool,
}

impl Link {
    /// What it does to packets that go to the client.
    #[must_use]
    pub fn down(&self) -> &Link {
        self
    }

    /// What it does to packets that come from the client.
    #[must_use]
    pub fn up(&self) -> &Link {
        self.up.as_deref().unwrap_or(self)
    }

    /// Both directions.
    #[must_use]
    pub fn ways(&self) -> [&Link; 2] {
        [self.down(), self.up()]
    }

    /// Takes away what loses packets by chance or by rate.
    pub fn lose_nothing(&mut self) {
        self.loss = 0.0;
        self.loss_bursts = None;
        self.policer = None;
        self.aqm = None;
        if let Some(up) = &mut self.up {
            up.lose_nothing();
        }
    }

    /// Whether it does what no queueing discipline of Linux does below another: then it has to be a program.
    #[must_use]
    pub(crate) fn is_beyond_netem(&self) -> bool {
        self.duplicate > 0.0
            || self.stalls.is_some()
            || self.policer.is_some()
            || self.path_mtu.is_some()
            || self.rate_trace.is_some()
            || self.aqm.is_some()
            || self.ecn_mark > 0.0
    }

    /// Whether packets may be lost outside its queue.
    #[must_use]
    pub(crate) fn loses(&self) -> bool {
        self.loss > 0.0
            || self.loss_bursts.is_some()
            || self.policer.is_some()
            || self.path_mtu.is_some()
            || self.aqm.is_some()
            || !self.outages_ns.is_empty()
    }

    /// Whether every number of this direction is in bounds.
    pub(crate) fn check(&self) -> Result<()> {
        let stalls = self
            .stalls
            .as_deref()
            .map_or([0; 3], |one| [one.every_ns, one.least_ns, one.most_ns]);
        let spans = self.outages_ns.as_flattened();
        let named = [
            ("delay_ns", slice::from_ref(&self.delay_ns)),
            ("jitter_ns", slice::from_ref(&self.jitter_ns)),
            ("stalls", &stalls),
            ("outages_ns", spans),
        ];
        for (what, values) in named {
            if let Some(value) = values.iter().find(|value| **value > LONGEST_NS) {
                bail!("{what} = {value}: must be at most {LONGEST_NS}");
            }
        }
        if !spans.is_sorted_by(|one, next| one < next) {
            bail!("outages_ns = {:?}: must be ascending", self.outages_ns);
        }
        let bursts = self.loss_bursts.map_or([0.0; 4], |one| {
            [one.to_bad, one.to_good, one.when_bad, one.when_good]
        });
        let shares = [
            ("loss", slice::from_ref(&self.loss)),
            ("loss_bursts", &bursts),
            ("reorder", slice::from_ref(&self.reorder)),
            ("duplicate", slice::from_ref(&self.duplicate)),
            ("ecn_mark", slice::from_ref(&self.ecn_mark)),
        ];
        for (what, values) in shares {
            if let Some(value) = values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
                bail!("{what} = {value}: must be 0 to 1");
            }
        }
        self.aqm.as_deref().map_or(Ok(()), Aqm::check)
    }
}

//! What the connections of a corpus are drawn from.

use serde::Deserialize;

use super::behaviour::{CutsMix, DefersMix, StopsMix};
use super::draw::{check_share, Check, Choice, LogNormal, LogUniform, Sizes};

/// A mix of networks and workloads. Shares are of connections, 0 to 1.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// What it stands for, in a sentence.
    pub about: String,
    /// Connections that begin in a second, mean (Poisson).
    pub arrivals_per_s: f64,
    /// The network.
    pub network: NetworkMix,
    /// The workload.
    pub workload: WorkloadMix,
}

/// What networks are drawn from.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NetworkMix {
    /// Round-trip time of an empty network, seconds.
    pub rtt_s: LogNormal,
    /// The bottleneck's rate, bits a second.
    pub rate_bps: Choice,
    /// The way of acknowledgements has the bottleneck's rate divided by one of these.
    pub asymmetry: Choice,
    /// Packets that the bottleneck's queue holds.
    pub queue_packets: LogUniform,
    /// Largest IP packet, bytes.
    pub mtu_bytes: Choice,
    /// Connections whose delay varies.
    pub jitter_share: f64,
    /// By so much, as a share of the round-trip time.
    pub jitter: LogUniform,
    /// Connections whose data packets are lost by chance, each by itself.
    pub loss_share: f64,
    /// With this probability.
    pub loss: LogUniform,
    /// Connections whose data packets are lost in bursts: all of a short time.
    pub burst_share: f64,
    /// Mean time from burst to burst, seconds.
    pub burst_every_s: LogUniform,
    /// How long a burst is, seconds.
    pub burst_s: LogUniform,
    /// Connections whose acknowledgements are lost.
    pub ack_loss_share: f64,
    /// With this probability.
    pub ack_loss: LogUniform,
    /// Connections whose packets are reordered.
    pub reorder_share: f64,
    /// With this probability a packet is early.
    pub reorder: LogUniform,
    /// By so much, as a share of the round-trip time.
    pub reorder_extent: LogUniform,
    /// Connections whose packets the network doubles.
    pub duplicate_share: f64,
    /// With this probability.
    pub duplicate: LogUniform,
    /// Connections whose way stands still now and then.
    pub stall_share: f64,
    /// Mean time from stall to stall, seconds.
    pub stall_every_s: LogUniform,
    /// How long a stall is, seconds.
    pub stall_s: LogUniform,
}

/// What workloads are drawn from.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WorkloadMix {
    /// Requests on one connection, mean (geometric).
    pub requests: f64,
    /// A request, bytes.
    pub request_bytes: LogNormal,
    /// A response, bytes.
    pub response_bytes: Sizes,
    /// From a response to the next request, seconds.
    pub think_s: LogNormal,
    /// How long the server works on a response, seconds.
    pub work_s: LogNormal,
    /// Connections on which the client sends and the server answers briefly.
    pub upload_share: f64,
    /// Connections that the server closes.
    pub server_closes_share: f64,
    /// Connections that the client gives up in the middle.
    pub abort_share: f64,
    /// Connections whose addresses and ports serve for another one after them.
    pub reuse_share: f64,
    /// How long a server that closes waits before it does, seconds; not at all where nothing is said.
    #[serde(default)]
    pub linger_s: Option<LogNormal>,
    /// Receivers that stop reading.
    #[serde(default)]
    pub stops: Option<StopsMix>,
    /// Servers that defer accepting.
    #[serde(default)]
    pub defers: Option<DefersMix>,
    /// Connections that are cut.
    #[serde(default)]
    pub cuts: Option<CutsMix>,
}

impl Mix {
    /// Reads a mix written as JSON, and checks it.
    ///
    /// # Errors
    /// With what is wrong and where.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let mix: Mix = serde_json::from_str(text).map_err(|error| error.to_string())?;
        mix.check()?;
        Ok(mix)
    }

    fn check(&self) -> Result<(), String> {
        let NetworkMix {
            rtt_s,
            rate_bps,
            asymmetry,
            queue_packets,
            mtu_bytes,
            jitter_share,
            jitter,
            loss_share,
            loss,
            burst_share,
            burst_every_s,
            burst_s,
            ack_loss_share,
            ack_loss,
            reorder_share,
            reorder,
            reorder_extent,
            duplicate_share,
            duplicate,
            stall_share,
            stall_every_s,
            stall_s,
        } = &self.network;
        let WorkloadMix {
            requests,
            request_bytes,
            response_bytes,
            think_s,
            work_s,
            upload_share,
            server_closes_share,
            abort_share,
            reuse_share,
            linger_s,
            stops,
            defers,
            cuts,
        } = &self.workload;
        let parts: [(&str, &dyn Check); 19] = [
            ("network.rtt_s", rtt_s),
            ("network.rate_bps", rate_bps),
            ("network.asymmetry", asymmetry),
            ("network.queue_packets", queue_packets),
            ("network.mtu_bytes", mtu_bytes),
            ("network.jitter", jitter),
            ("network.loss", loss),
            ("network.burst_every_s", burst_every_s),
            ("network.burst_s", burst_s),
            ("network.ack_loss", ack_loss),
            ("network.reorder", reorder),
            ("network.reorder_extent", reorder_extent),
            ("network.duplicate", duplicate),
            ("network.stall_every_s", stall_every_s),
            ("network.stall_s", stall_s),
            ("workload.request_bytes", request_bytes),
            ("workload.response_bytes", response_bytes),
            ("workload.think_s", think_s),
            ("workload.work_s", work_s),
        ];
        for (name, part) in parts {
            part.fault().map_err(|reason| format!("{name}: {reason}"))?;
        }
        let optional: [(&str, Option<&dyn Check>); 4] = [
            ("workload.linger_s", linger_s.as_ref().map(|mix| mix as _)),
            ("workload.stops", stops.as_ref().map(|mix| mix as _)),
            ("workload.defers", defers.as_ref().map(|mix| mix as _)),
            ("workload.cuts", cuts.as_ref().map(|mix| mix as _)),
        ];
        for (name, part) in optional {
            part.map_or(Ok(()), Check::fault)
                .map_err(|reason| format!("{name}: {reason}"))?;
        }
        let shares = [
            ("network.jitter_share", jitter_share),
            ("network.loss_share", loss_share),
            ("network.burst_share", burst_share),
            ("network.ack_loss_share", ack_loss_share),
            ("network.reorder_share", reorder_share),
            ("network.duplicate_share", duplicate_share),
            ("network.stall_share", stall_share),
            ("workload.upload_share", upload_share),
            ("workload.server_closes_share", server_closes_share),
            ("workload.abort_share", abort_share),
            ("workload.reuse_share", reuse_share),
        ];
        for (name, share) in shares {
            check_share(*share).map_err(|reason| format!("{name}: {reason}"))?;
        }
        let probabilities = [
            ("network.loss", loss),
            ("network.ack_loss", ack_loss),
            ("network.reorder", reorder),
            ("network.duplicate", duplicate),
            ("network.jitter", jitter),
            ("network.reorder_extent", reorder_extent),
        ];
        for (name, range) in probabilities {
            if range.most > 1.0 {
                return Err(format!("{name}: most must be at most 1"));
            }
        }
        let mtus = mtu_bytes.0.iter().map(|choice| choice.value);
        if mtus.clone().any(|mtu| !(296..=9_000).contains(&mtu)) {
            return Err("network.mtu_bytes: values must be 296 to 9000".into());
        }
        if asymmetry.0.iter().any(|choice| choice.value == 0) {
            return Err("network.asymmetry: values must be 1 or more".into());
        }
        if rate_bps.0.iter().any(|choice| choice.value < 1_000) {
            return Err("network.rate_bps: values must be 1000 or more".into());
        }
        if queue_packets.least < 1.0 {
            return Err("network.queue_packets: least must be 1 or more".into());
        }
        if !(rtt_s.least >= 1e-5 && rtt_s.most <= 60.0) {
            return Err("network.rtt_s: least must be 1e-5 or more, most 60 or less".into());
        }
        if !(self.arrivals_per_s > 0.0 && self.arrivals_per_s.is_finite()) {
            return Err("arrivals_per_s must be more than 0".into());
        }
        if !(*requests >= 1.0 && requests.is_finite()) {
            return Err("workload.requests must be 1 or more".into());
        }
        Ok(())
    }
}

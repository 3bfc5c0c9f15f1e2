//! The network of one connection.

use rexmit_time::{Duration, Stream, Streams};
use serde_json::json;

use super::draw::{between, chance, seconds};
use super::mix::NetworkMix;
use crate::link::{Loss, Settings, Spells};
use crate::world::{Host, Network, NodeId};

/// A way from the host that sends most to the other, with a tap on it:
///
/// ```text
/// sender — near — tap — far — receiver
/// ```
///
/// The outer wires have the delay and, one of them, the bottleneck; on the inner ones packets are lost, reordered, doubled
/// and held up.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// Round-trip time without queues, seconds.
    rtt_s: f64,
    /// How much of it lies before the tap.
    tap: f64,
    rate_bps: u64,
    back_rate_bps: u64,
    queue_packets: u64,
    /// The bottleneck lies before the tap.
    near_bottleneck: bool,
    /// Bytes of an IP packet.
    pub mtu: u32,
    /// Routers on the way, and those before the tap.
    pub hops: u8,
    pub hops_to_tap: u8,
    data: Trouble,
    acks: Trouble,
}

/// What befalls packets one way.
#[derive(Clone, Debug, Default)]
struct Trouble {
    /// Before the tap.
    near: bool,
    loss: Loss,
    jitter: Duration,
    reorder: f64,
    reorder_by: Duration,
    duplicate: f64,
    stalls: Option<Spells>,
}

/// The hosts and the tap.
pub(super) struct Nodes {
    pub sender: NodeId,
    pub tap: NodeId,
    pub receiver: NodeId,
}

impl Path {
    /// Draws a network.
    pub fn draw(mix: &NetworkMix, stream: &mut Stream) -> Self {
        let rtt_s = mix.rtt_s.draw(stream);
        let tap = between(stream, 0.02, 0.98);
        let rate_bps = mix.rate_bps.draw(stream);
        // The longer the way, the more routers, roughly.
        let hops = 3 + (rtt_s * 60.0).min(12.0) as u64 + stream.below(6);
        let hops_to_tap = (tap * hops as f64) as u64;
        let mut path = Path {
            rtt_s,
            tap,
            rate_bps,
            back_rate_bps: (rate_bps / mix.asymmetry.draw(stream)).max(1_000),
            queue_packets: mix.queue_packets.draw(stream) as u64,
            near_bottleneck: chance(stream, tap),
            mtu: mix.mtu_bytes.draw(stream) as u32,
            hops: hops as u8,
            hops_to_tap: hops_to_tap as u8,
            data: Trouble::default(),
            acks: Trouble::default(),
        };
        path.data.near = chance(stream, tap);
        path.acks.near = chance(stream, tap);
        path.data.loss = losses(mix, stream);
        if chance(stream, mix.ack_loss_share) {
            path.acks.loss = Loss::Random(mix.ack_loss.draw(stream));
        }
        if chance(stream, mix.jitter_share) {
            let jitter = seconds(rtt_s / 2.0 * mix.jitter.draw(stream));
            path.data.jitter = jitter;
            path.acks.jitter = jitter;
        }
        if chance(stream, mix.reorder_share) {
            path.data.reorder = mix.reorder.draw(stream);
            path.data.reorder_by = seconds(rtt_s / 2.0 * mix.reorder_extent.draw(stream));
        }
        if chance(stream, mix.duplicate_share) {
            let back = chance(stream, 0.3);
            let way = if back { &mut path.acks } else { &mut path.data };
            way.duplicate = mix.duplicate.draw(stream);
        }
        if chance(stream, mix.stall_share) {
            let longest = mix.stall_s.draw(stream);
            let stalls = Some(spells(mix.stall_every_s.draw(stream), longest));
            let back = chance(stream, 0.3);
            let way = if back { &mut path.acks } else { &mut path.data };
            way.stalls = stalls;
        }
        path
    }

    /// Builds it between two hosts.
    pub fn build(&self, sender: Host, receiver: Host, streams: &Streams) -> (Network, Nodes) {
        let mut network = Network::new();
        let sender = network.add_host(sender);
        let near = network.add_switch();
        let tap = network.add_switch();
        let far = network.add_switch();
        let receiver = network.add_host(receiver);
        let there = |network: &mut Network, from, to, settings| {
            network.add_one_way(from, to, settings, streams);
        };
        there(
            &mut network,
            sender,
            near,
            self.outer(true, &self.data, self.rate_bps),
        );
        there(&mut network, near, tap, self.data.wire(true));
        there(&mut network, tap, far, self.data.wire(false));
        there(
            &mut network,
            far,
            receiver,
            self.outer(false, &self.data, self.rate_bps),
        );
        there(
            &mut network,
            receiver,
            far,
            self.outer(false, &self.acks, self.back_rate_bps),
        );
        there(&mut network, far, tap, self.acks.wire(false));
        there(&mut network, tap, near, self.acks.wire(true));
        there(
            &mut network,
            near,
            sender,
            self.outer(true, &self.acks, self.back_rate_bps),
        );
        let nodes = Nodes {
            sender,
            tap,
            receiver,
        };
        (network, nodes)
    }

    /// A wire beside a host: most of the delay, and the bottleneck if it is here.
    fn outer(&self, near: bool, trouble: &Trouble, rate_bps: u64) -> Settings {
        let share = if near { self.tap } else { 1.0 - self.tap };
        let mut delay = seconds(self.rtt_s / 2.0 * share);
        if trouble.near == near {
            delay = delay - trouble.base_delay();
        }
        let (rate_bps, queue_packets) = if near == self.near_bottleneck {
            (rate_bps, self.queue_packets as usize)
        } else {
            (FAST_BPS.max(rate_bps), LONG_QUEUE)
        };
        Settings {
            rate_bps,
            queue_packets,
            delay: delay.max(Duration::ZERO),
            ..Settings::default()
        }
    }

    /// What is told of it.
    pub fn told(&self) -> serde_json::Value {
        let way = |trouble: &Trouble| {
            let mut told = serde_json::Map::new();
            match trouble.loss {
                Loss::None => {}
                Loss::Random(share) => {
                    told.insert("loss".into(), share.into());
                }
                Loss::Fades(fades) => {
                    told.insert("burst_every_s".into(), fades.every.as_secs_f64().into());
                    told.insert("burst_most_s".into(), fades.most.as_secs_f64().into());
                }
                Loss::Bursts(_) => {}
            }
            let numbers = [
                ("jitter_s", trouble.jitter.as_secs_f64()),
                ("reorder", trouble.reorder),
                ("reorder_by_s", trouble.reorder_by.as_secs_f64()),
                ("duplicate", trouble.duplicate),
            ];
            for (name, number) in numbers {
                if number > 0.0 {
                    told.insert(name.into(), number.into());
                }
            }
            if let Some(stalls) = trouble.stalls {
                told.insert("stall_every_s".into(), stalls.every.as_secs_f64().into());
                told.insert("stall_most_s".into(), stalls.most.as_secs_f64().into());
            }
            if !told.is_empty() {
                told.insert("before_tap".into(), trouble.near.into());
            }
            told
        };
        json!({
            "rtt_s": self.rtt_s,
            "tap": self.tap,
            "rate_bps": self.rate_bps,
            "back_rate_bps": self.back_rate_bps,
            "queue_packets": self.queue_packets,
            "bottleneck_before_tap": self.near_bottleneck,
            "mtu_bytes": self.mtu,
            "data": way(&self.data),
            "acks": way(&self.acks),
        })
    }
}

/// A wire that is no bottleneck, unless that is faster.
const FAST_BPS: u64 = 1_000_000_000;
const LONG_QUEUE: usize = 100_000;

impl Trouble {
    /// The delay of the wire on which packets can be early or late.
    fn base_delay(&self) -> Duration {
        self.reorder_by.max(self.jitter)
    }

    fn wire(&self, near: bool) -> Settings {
        if self.near != near {
            return Settings {
                queue_packets: LONG_QUEUE,
                ..Settings::default()
            };
        }
        Settings {
            // With a rate, packets whose delay varies stay in order.
            rate_bps: 10 * FAST_BPS,
            delay: self.base_delay(),
            jitter: self.jitter,
            queue_packets: LONG_QUEUE,
            loss: self.loss,
            reorder: self.reorder,
            duplicate: self.duplicate,
            stalls: self.stalls,
            ..Settings::default()
        }
    }
}

fn spells(every_s: f64, most_s: f64) -> Spells {
    Spells {
        every: seconds(every_s),
        least: seconds(most_s * 0.3),
        most: seconds(most_s),
    }
}

fn losses(mix: &NetworkMix, stream: &mut Stream) -> Loss {
    let draw = stream.uniform();
    if draw < mix.loss_share {
        Loss::Random(mix.loss.draw(stream))
    } else if draw < mix.loss_share + mix.burst_share {
        let longest = mix.burst_s.draw(stream);
        Loss::Fades(spells(mix.burst_every_s.draw(stream), longest))
    } else {
        Loss::None
    }
}

//! What else the hosts of a part send: packets of other protocols, to other hosts.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use rexmit_time::{Stream, Streams, Time};

use super::follow;
use super::packet::{chance, ip_at, log_between, seconds, sort, CapturedPacket};
use super::Captures;
use crate::bytes::fill_in_ip_checksum;

/// Packets of cross traffic for each of a host's own, and packets of a burst of it.
const RATIO: (f64, f64) = (0.02, 3.0);
const BURST: f64 = 3.0;

/// Adds cross traffic of every host to the capture that stands beside it.
pub(super) fn add(captures: &mut Captures, streams: &Streams) {
    let mut hosts: BTreeMap<Ipv4Addr, Vec<(Time, usize)>> = BTreeMap::new();
    for sent in follow::sent(captures) {
        let own = hosts.entry(sent.head.src).or_default();
        own.push((sent.time, sent.sights[0].0));
    }
    for (host, own) in hosts {
        let mut stream = streams.stream("cross traffic", u64::from(host.to_bits()));
        let (begin, end) = (own[0].0, own[own.len() - 1].0);
        let ratio = log_between(&mut stream, RATIO.0, RATIO.1);
        let bursts = (own.len() as f64 * ratio / BURST).max(0.2);
        let mean_s = end.since(begin).as_nanos() as f64 / 1e9 / bursts;
        let mut at = begin;
        loop {
            at += seconds(-mean_s.max(1e-6) * (1.0 - stream.uniform()).ln());
            if at >= end {
                break;
            }
            let next = own.partition_point(|(time, _)| *time < at);
            let seen = &mut captures[own[next.min(own.len() - 1)].1];
            let (ip, other) = (ip_at(seen.link), Other::draw(&mut stream));
            let mut time = at;
            loop {
                seen.packets.push(other.packet(&mut stream, host, ip, time));
                if chance(&mut stream, 1.0 / BURST) {
                    break;
                }
                time += seconds(log_between(&mut stream, 1e-6, 1e-3));
            }
        }
    }
    for seen in captures {
        sort(&mut seen.packets);
    }
}

/// Takes it out again, as a capture filter does: the hosts' counters have moved on by it.
pub(super) fn remove(captures: &mut Captures) {
    for seen in captures {
        seen.packets.retain(|packet| !packet.is_cross);
    }
}

/// Whom a burst goes to.
struct Other {
    address: Ipv4Addr,
    port: u16,
    /// An echo request; otherwise UDP.
    is_echo: bool,
}

impl Other {
    fn draw(stream: &mut Stream) -> Self {
        Other {
            // 203.0.113.0/24 (RFC 5737).
            address: Ipv4Addr::from_bits(0xcb00_7101 + stream.below(254) as u32),
            port: 49_152 + stream.below(16_384) as u16,
            is_echo: chance(stream, 0.2),
        }
    }

    fn packet(&self, stream: &mut Stream, host: Ipv4Addr, ip: usize, time: Time) -> CapturedPacket {
        let payload = 16 + stream.below(1_200) as u16;
        let total = 28 + payload;
        let mut bytes = Vec::with_capacity(ip + 44);
        if ip > 0 {
            bytes.extend([2, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 4, 0x08, 0x00]);
        }
        let [high, low] = total.to_be_bytes();
        let protocol = if self.is_echo { 1 } else { 17 };
        bytes.extend([0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0]);
        bytes.extend(host.octets());
        bytes.extend(self.address.octets());
        fill_in_ip_checksum(&mut bytes[ip..]);
        let [high, low] = (payload + 8).to_be_bytes();
        let [a, b] = self.port.to_be_bytes();
        // What is no length or port is drawn, so that no two packets are alike.
        let [c, d, e, f] = (stream.next_u64() as u32).to_be_bytes();
        if self.is_echo {
            bytes.extend([8, 0, c, d, a, b, e, f]);
        } else {
            bytes.extend([a, b, 0, 53, high, low, c, d]);
        }
        // Some of the payload, which nobody reads.
        bytes.extend([e, f, a, b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        CapturedPacket {
            is_cross: true,
            ..CapturedPacket::new(time, bytes, ip as u32 + u32::from(total))
        }
    }
}

//! Packets that a capture has twice. No host sent them twice: the identification is the same, the copy is microseconds
//! behind, and the truth keeps the first.

use rexmit_time::{Stream, Streams};

use super::packet::{chance, ip_at, log_between, seconds, sort, IpHead};
use super::{Captures, PointCapture};

/// The capture is of both interfaces of a router: the copy has passed it, and lives one hop less.
pub(super) fn router(captures: &mut Captures, streams: &Streams) {
    for seen in captures {
        let mut stream = streams.stream("router", seen.point as u64);
        // What the router needs for a packet, and how much that varies.
        let usual_s = log_between(&mut stream, 3e-6, 300e-6);
        double(seen, &mut stream, usual_s, 1, Share::ALL);
    }
}

/// The capture is of a mirror port that gives both directions of its ports, for packets between two of them twice: all
/// packets, those of one direction, or some.
pub(super) fn mirror(captures: &mut Captures, streams: &Streams) {
    for seen in captures {
        let mut stream = streams.stream("mirror", seen.point as u64);
        let usual_s = log_between(&mut stream, 0.3e-6, 20e-6);
        let share = match stream.below(4) {
            0 => Share { up: 1.0, down: 0.0 },
            1 => {
                let part = log_between(&mut stream, 0.01, 0.5);
                Share {
                    up: part,
                    down: part,
                }
            }
            _ => Share::ALL,
        };
        double(seen, &mut stream, usual_s, 0, share);
    }
}

/// How many packets are doubled, of those to the greater address and of the others.
#[derive(Clone, Copy)]
struct Share {
    up: f64,
    down: f64,
}

impl Share {
    const ALL: Share = Share { up: 1.0, down: 1.0 };
}

fn double(seen: &mut PointCapture, stream: &mut Stream, usual_s: f64, hops: u8, share: Share) {
    let ip = ip_at(seen.link);
    let mut copies = Vec::new();
    for packet in &seen.packets {
        let Some(head) = IpHead::read(&packet.bytes, ip) else {
            continue;
        };
        let is_up = head.tcp.is_some_and(|tcp| tcp.ends.0 < tcp.ends.2);
        if !chance(stream, if is_up { share.up } else { share.down }) {
            continue;
        }
        let mut copy = packet.clone();
        copy.rows.clear();
        copy.time += seconds(usual_s * (0.5 + stream.uniform()));
        copy.set_ttl(ip, head.ttl.saturating_sub(hops).max(1));
        copies.push(copy);
    }
    seen.packets.extend(copies);
    sort(&mut seen.packets);
}

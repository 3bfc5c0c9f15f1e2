//! Captures that keep little of a packet: 60 bytes have no time stamp, 68 were tcpdump's default until 4.0, 96 keep all
//! options but the last.

use rexmit_time::Streams;

use super::packet::ip_at;
use super::Captures;

/// Cuts every packet of a point to as many bytes, an Ethernet header counted.
pub(super) fn cut(captures: &mut Captures, streams: &Streams) {
    for seen in captures {
        let mut stream = streams.stream("snap length", seen.point as u64);
        let kept = match stream.below(4) {
            0 => 68,
            1 => 96,
            _ => 60 + stream.below(61) as usize,
        };
        let kept = kept + ip_at(seen.link) - 14;
        for packet in &mut seen.packets {
            packet.bytes.truncate(kept);
        }
    }
}

//! How hosts number their packets (IP identification, RFC 6864): each connection's apart, or those of all together.
//!
//! A gap in the numbers of one connection tells of packets that never came by only where no other packet of the host can have
//! taken the numbers. Linux counts for each connection, from a random start; Windows, old systems and embedded hosts count all
//! packets of the host, or all to one destination, in either byte order. Packets of other connections and protocols tell: where
//! the host counts together, the next one goes on where the last one was.

use core::net::{IpAddr, Ipv4Addr};

use rexmit_wire::headers::Notes;
use rexmit_wire::{Headers, LinkType, Numbered};

/// Hosts that are remembered, by a hash: two of the same take turns.
const HOSTS: usize = 4_096;
/// The next packet of a host that counts all together has one of so many next numbers.
const NEXT: u16 = 64;
/// Numbers further apart than this are of different counts: no host sends so much unseen between two of its packets here.
const APART: u16 = 1 << 14;
/// Steps that prove a way of counting: by chance one of about five hundred looks like the next number.
const PROOF: u8 = 3;

/// How one host numbered two packets of different connections that came one after the other, how often.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    next: u8,
    apart: u8,
}

impl Steps {
    fn add(&mut self, step: u16, swapped: u16) {
        let is_next = |step: u16| (1..=NEXT).contains(&step);
        let is_apart = |step: u16| (step as i16).unsigned_abs() > APART;
        if is_next(step) || is_next(swapped) {
            self.next = self.next.saturating_add(1);
        } else if is_apart(step) && is_apart(swapped) {
            self.apart = self.apart.saturating_add(1);
        }
        if self.next == u8::MAX || self.apart == u8::MAX {
            // What a host did lately weighs more.
            self.next /= 2;
            self.apart /= 2;
        }
    }

    const fn together(self) -> bool {
        self.next >= PROOF && self.next >= self.apart
    }

    const fn separate(self) -> bool {
        self.apart >= PROOF && self.next as u32 * 8 <= self.apart as u32
    }
}

/// What is known of a host.
#[derive(Clone, Copy, Debug)]
struct Host {
    address: Ipv4Addr,
    /// Where its last packet went, of which connection or protocol it was, and its number.
    peer: Ipv4Addr,
    stream: u32,
    id: u16,
    /// From one connection to another with the same peer, and to one with another.
    same_peer: Steps,
    other_peer: Steps,
}

/// What is known of the hosts of a capture.
#[derive(Debug)]
pub(super) struct Numbering {
    hosts: Box<[Option<Host>]>,
}

impl Numbering {
    /// Nothing is known.
    pub fn new() -> Self {
        Numbering {
            hosts: vec![None; HOSTS].into_boxed_slice(),
        }
    }

    /// A TCP packet: says in its notes what is known of its host.
    #[inline]
    pub fn packet(&mut self, headers: &mut Headers) {
        let flow = &headers.flow;
        let (IpAddr::V4(src), IpAddr::V4(dst), Some(id)) = (flow.src, flow.dst, headers.ip_id)
        else {
            return;
        };
        let stream = u32::from(flow.src_port) << 16 | u32::from(flow.dst_port);
        let slot = self.slot(src);
        // A packet without a socket has 0 in Linux (SYN-ACK, RST).
        if id != 0 {
            see(slot, src, dst, stream, id);
        }
        let Some(host) = slot.as_ref().filter(|host| host.address == src) else {
            return;
        };
        if host.same_peer.together() || host.other_peer.together() {
            headers.notes.insert(Notes::NUMBERED_TOGETHER);
        } else if host.same_peer.separate() {
            headers.notes.insert(Notes::NUMBERED_APART);
        }
    }

    /// A frame that bears no TCP packet.
    #[cold]
    pub fn other(&mut self, link: LinkType, data: &[u8], original_len: u32) {
        let Some(packet) = Numbered::in_frame(link, data, original_len) else {
            return;
        };
        if packet.id != 0 {
            let protocol = u32::from(packet.protocol);
            let slot = self.slot(packet.src);
            see(slot, packet.src, packet.dst, protocol, packet.id);
        }
    }

    #[inline]
    fn slot(&mut self, address: Ipv4Addr) -> &mut Option<Host> {
        // Fibonacci hashing: addresses of one network differ in their last bits.
        let hash = address.to_bits().wrapping_mul(0x9e37_79b9) >> 16;
        &mut self.hosts[hash as usize % HOSTS]
    }
}

/// A packet of the host at `src`, whose place is `slot`.
#[inline]
fn see(slot: &mut Option<Host>, src: Ipv4Addr, dst: Ipv4Addr, stream: u32, id: u16) {
    match slot {
        Some(host) if host.address == src => {
            if (host.peer, host.stream) != (dst, stream) {
                let step = id.wrapping_sub(host.id);
                let swapped = id.swap_bytes().wrapping_sub(host.id.swap_bytes());
                if host.peer == dst {
                    host.same_peer.add(step, swapped);
                } else {
                    host.other_peer.add(step, swapped);
                }
                host.peer = dst;
                host.stream = stream;
            }
            host.id = id;
        }
        _ => {
            *slot = Some(Host {
                address: src,
                peer: dst,
                stream,
                id,
                same_peer: Steps::default(),
                other_peer: Steps::default(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::headers::Sack;
    use rexmit_wire::{Flags, FlowKey, SeqNum};

    use super::*;

    fn notes(ids: impl IntoIterator<Item = (u16, u16)>) -> Notes {
        let mut numbering = Numbering::new();
        let mut notes = Notes::default();
        for (src_port, id) in ids {
            let mut headers = Headers {
                flow: FlowKey {
                    src: "10.0.0.1".parse().unwrap(),
                    dst: "10.0.0.2".parse().unwrap(),
                    src_port,
                    dst_port: 80,
                },
                seq: SeqNum::new(0),
                ack: SeqNum::new(0),
                payload_len: 0,
                window: 0,
                flags: Flags::ACK,
                ttl: 64,
                ip_id: Some(id),
                dont_fragment: true,
                ecn: 0,
                notes: Notes::default(),
                timestamps: None,
                sack: Sack::default(),
                syn: None,
            };
            numbering.packet(&mut headers);
            notes = headers.notes;
        }
        notes
    }

    #[test]
    fn one_count_for_all_connections_is_told_in_either_byte_order() {
        for order in [u16::from_be, u16::swap_bytes] {
            let ids = (0..10).map(|i| (1000 + i % 3, order(250 + i)));
            assert_eq!(notes(ids), Notes::NUMBERED_TOGETHER);
        }
    }

    #[test]
    fn a_count_for_each_connection_is_told() {
        let ids = (0..10).map(|i| (1000 + i % 2, 100 + i / 2 + (i % 2) * 0x8080));
        assert_eq!(notes(ids), Notes::NUMBERED_APART);
    }

    #[test]
    fn a_single_connection_and_a_busy_host_tell_nothing() {
        assert_eq!(notes((0..10).map(|i| (1000, i))), Notes::default());
        let busy = (0..10).map(|i| (1000 + i % 2, i * 700));
        assert_eq!(notes(busy), Notes::default());
    }
}

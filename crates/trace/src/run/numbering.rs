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
    /// How it numbers, as a packet's notes say it.
    verdict: Notes,
}

/// What the packets of one file say of its hosts.
#[derive(Debug)]
pub(crate) struct Numbering {
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
        headers.notes.insert(host.verdict);
    }

    /// What is known of each host now, by its address, in a fixed order; nothing of those that have shown nothing.
    pub fn verdicts(&self) -> impl Iterator<Item = (Ipv4Addr, Notes)> + '_ {
        let known = self.hosts.iter().flatten();
        let known = known.map(|host| (host.address, host.verdict));
        known.filter(|(_, verdict)| *verdict != Notes::default())
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
        &mut self.hosts[place(address)]
    }
}

impl Host {
    /// What its steps show.
    fn judge(&self) -> Notes {
        if self.same_peer.together() || self.other_peer.together() {
            Notes::NUMBERED_TOGETHER
        } else if self.same_peer.separate() {
            Notes::NUMBERED_APART
        } else {
            Notes::default()
        }
    }
}

/// Where what is known of a host stands.
#[inline]
fn place(address: Ipv4Addr) -> usize {
    // Fibonacci hashing: addresses of one network differ in their last bits.
    let hash = address.to_bits().wrapping_mul(0x9e37_79b9) >> 16;
    hash as usize % HOSTS
}

/// How hosts numbered their packets in files that have ended: of each host the last that was known. A file's own packets say
/// more than these, once they say anything.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// None before the first: most captures are one file.
    hosts: Vec<Option<(Ipv4Addr, Notes)>>,
}

impl Verdicts {
    /// Adds what a file showed when it ended.
    pub fn add(&mut self, verdicts: impl IntoIterator<Item = (Ipv4Addr, Notes)>) {
        self.hosts.resize(HOSTS, None);
        for (address, verdict) in verdicts {
            self.hosts[place(address)] = Some((address, verdict));
        }
    }

    /// Says in a packet's notes what is known of its host, where its own file has not said it.
    #[inline]
    pub fn note(&self, headers: &mut Headers) {
        const SAID: Notes = Notes::NUMBERED_APART.and(Notes::NUMBERED_TOGETHER);
        if self.hosts.is_empty() || headers.notes.common(SAID) != Notes::default() {
            return;
        }
        let (IpAddr::V4(src), Some(_)) = (headers.flow.src, headers.ip_id) else {
            return;
        };
        if let Some((_, verdict)) = self.hosts[place(src)].filter(|(host, _)| *host == src) {
            headers.notes.insert(verdict);
        }
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
                host.verdict = host.judge();
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
                verdict: Notes::default(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bare, flow};

    fn headers(src_port: u16, id: u16) -> Headers {
        Headers {
            ip_id: Some(id),
            ..bare(flow(src_port))
        }
    }

    fn file(ids: impl IntoIterator<Item = (u16, u16)>) -> (Notes, Numbering) {
        let mut numbering = Numbering::new();
        let mut notes = Notes::default();
        for (src_port, id) in ids {
            let mut headers = headers(src_port, id);
            numbering.packet(&mut headers);
            notes = headers.notes;
        }
        (notes, numbering)
    }

    fn notes(ids: impl IntoIterator<Item = (u16, u16)>) -> Notes {
        file(ids).0
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
    #[test]
    fn what_a_file_showed_holds_until_the_next_shows_something() {
        let mut verdicts = Verdicts::default();
        let told = |verdicts: &Verdicts, own: Notes| {
            let mut headers = headers(1000, 7);
            headers.notes = own;
            verdicts.note(&mut headers);
            headers.notes
        };
        assert_eq!(told(&verdicts, Notes::default()), Notes::default());
        let (_, together) = file((0..10).map(|i| (1000 + i % 3, 250 + i)));
        verdicts.add(together.verdicts());
        assert_eq!(told(&verdicts, Notes::default()), Notes::NUMBERED_TOGETHER);
        assert_eq!(
            told(&verdicts, Notes::NUMBERED_APART),
            Notes::NUMBERED_APART
        );
        // A file that shows nothing changes nothing.
        let (_, nothing) = file([(1000, 1)]);
        verdicts.add(nothing.verdicts());
        assert_eq!(told(&verdicts, Notes::default()), Notes::NUMBERED_TOGETHER);
        let (_, apart) = file((0..10).map(|i| (1000 + i % 2, 100 + i / 2 + (i % 2) * 0x8080)));
        verdicts.add(apart.verdicts());
        assert_eq!(told(&verdicts, Notes::default()), Notes::NUMBERED_APART);
    }
}

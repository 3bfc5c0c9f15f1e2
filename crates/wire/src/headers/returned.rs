//! What an ICMP message quotes of a packet that a router returned.

use core::ops::Range;
use std::collections::VecDeque;

use super::{Headers, Notes, Record, Sack};
use crate::ip::{self, protocol};
use crate::link::{self, LinkType};
use crate::{Flags, FlowKey, SeqNum};

/// Bytes of an ICMP message before the packet that it quotes.
const ICMP_HEADER: usize = 8;
/// Bytes of a packet that a message quotes at least: an IPv4 header and half a TCP header's least (RFC 792).
const QUOTED: usize = 28;
/// Of them, those before the destination's last half, without which no packet is told from another.
const TELLING: usize = 18;
/// Of them, the addresses and ports.
const FLOW: Range<usize> = 12..24;
/// Packets that are remembered.
const MOST_HEADS: usize = 64;

/// The heads of the newest packets that messages may quote, of a capture that cuts packets off: the quotation is cut off, too.
#[derive(Clone, Debug, Default)]
pub struct Heads(VecDeque<[u8; QUOTED]>);

impl Heads {
    /// Another TCP packet over IPv4.
    pub fn remember(&mut self, link: LinkType, data: &[u8]) {
        let packet = link::strip(link, data).map_or(&[][..], |packet| packet.bytes);
        let head = packet
            .first_chunk()
            .filter(|head: &&[u8; QUOTED]| head[0] == 0x45);
        if let Some(head) = head {
            self.0.truncate(MOST_HEADS - 1);
            self.0.push_front(*head);
        }
    }

    /// The newest packet that this is the beginning of, but for what routers change (class, TTL, checksum); none if packets of two
    /// flows begin like that.
    fn completed(&self, quoted: &[u8]) -> Option<&[u8]> {
        let begins = |head: &&[u8; QUOTED]| {
            let mut known = quoted.iter().zip(head.iter()).enumerate();
            known.all(|(at, (one, other))| matches!(at, 1 | 8 | 10 | 11) || one == other)
        };
        (TELLING..QUOTED).contains(&quoted.len()).then_some(())?;
        let mut all = self.0.iter().filter(begins);
        let newest = all.next()?;
        all.all(|other| other[FLOW] == newest[FLOW])
            .then_some(newest)
    }
}

impl Headers {
    /// What a captured frame quotes of a TCP packet, where it is ICMP's "fragmentation needed" (RFC 1191 §4) or ICMPv6's "packet too
    /// big" (RFC 4443 §3.2): its flow and its sequence number, with [`Notes::RETURNED`]; `window` is the MTU of the next link, 0 where
    /// the message does not tell it. Where it is "destination unreachable" (RFC 792, RFC 4443 §3.1) `flags` has RST: as that, it says
    /// that there will be no connection. It may quote no more of the TCP header than its first eight bytes (RFC 792); what the
    /// capture cut off of them is taken from the packet of `heads` that it quotes. None of other frames; never panics.
    #[must_use]
    pub fn returned(
        link: LinkType,
        data: &[u8],
        original_len: u32,
        heads: &Heads,
    ) -> Option<Headers> {
        let packet = link::strip(link, data).ok()?.bytes;
        let outer = ip::locate(packet, original_len as usize).ok()?;
        let message = packet.get(outer.offset..)?;
        let &[kind, code, _, _, mtu @ ..] = message.first_chunk::<ICMP_HEADER>()?;
        let too_large = Flags::default();
        let (flags, mtu) = match (outer.protocol, kind, code) {
            (protocol::ICMP, 3, 4) => (too_large, u32::from(u16::from_be_bytes([mtu[2], mtu[3]]))),
            (protocol::ICMP6, 2, 0) => (too_large, u32::from_be_bytes(mtu)),
            (protocol::ICMP, 3, _) | (protocol::ICMP6, 1, _) => (Flags::RST, 0),
            _ => return None,
        };
        let quoted = message.get(ICMP_HEADER..)?;
        let cut = (data.len() < original_len as usize).then(|| heads.completed(quoted));
        let quoted = cut.flatten().unwrap_or(quoted);
        let located = ip::locate(quoted, quoted.len()).ok()?;
        if located.protocol != protocol::TCP {
            return None;
        }
        let tcp = quoted.get(located.offset..)?;
        let &[a, b, c, d, e, f, g, h] = tcp.first_chunk::<8>()?;
        Some(Headers {
            flow: FlowKey {
                src: located.src,
                dst: located.dst,
                src_port: u16::from_be_bytes([a, b]),
                dst_port: u16::from_be_bytes([c, d]),
            },
            seq: SeqNum::new(u32::from_be_bytes([e, f, g, h])),
            ack: SeqNum::default(),
            payload_len: 0,
            window: u16::try_from(mtu).unwrap_or(u16::MAX),
            flags,
            ttl: located.ttl,
            ip_id: located.id,
            dont_fragment: located.dont_fragment,
            ecn: located.ecn,
            record: Record::None,
            notes: Notes::RETURNED,
            timestamps: None,
            sack: Sack::default(),
            syn: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Fragmentation needed" about a packet of 1,500 bytes, of whose TCP header so much is quoted.
    fn message(kind: [u8; 2], quoted: usize) -> Vec<u8> {
        let ip = |total: u16, protocol: u8, src: u8, dst: u8| {
            let [high, low] = total.to_be_bytes();
            let head = [
                0x45, 0, high, low, 0, 7, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, src, 10, 0, 0, dst,
            ];
            head.to_vec()
        };
        let mut tcp = vec![
            0, 80, 0xc0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0x80, 16, 0, 0, 0, 0, 0, 0,
        ];
        tcp.truncate(quoted);
        let mut frame = ip(48 + quoted as u16, protocol::ICMP, 9, 1);
        frame.extend([kind[0], kind[1], 0, 0, 0, 0, 5, 0x14]);
        frame.extend(ip(1500, protocol::TCP, 1, 2));
        frame.extend(tcp);
        frame
    }

    fn read(frame: &[u8], original_len: usize, heads: &Heads) -> Option<Headers> {
        Headers::returned(LinkType::RAW, frame, original_len as u32, heads)
    }

    #[test]
    fn what_the_capture_cut_off_is_taken_from_the_packet_that_is_quoted() {
        let frame = message([3, 1], 8);
        let [mut sent, mut other] = [0x01, 0x02].map(|identification| {
            let mut sent = frame[28..].to_vec();
            (sent[5], sent[8]) = (identification, 60);
            sent
        });
        sent[5] = frame[28 + 5];
        other[21] = 81;
        let mut twin = sent.clone();
        twin[19] = 3;
        let mut heads = Heads::default();
        for head in [&sent, &other] {
            heads.remember(LinkType::RAW, head);
        }
        let whole = read(&frame, frame.len(), &heads).unwrap();
        for len in 28 + TELLING..frame.len() {
            let cut = read(&frame[..len], frame.len(), &heads).unwrap();
            assert_eq!((cut.flow, cut.seq), (whole.flow, whole.seq), "{len}");
            assert_eq!(read(&frame[..len], frame.len(), &Heads::default()), None);
        }
        assert_eq!(read(&frame[..27 + TELLING], frame.len(), &heads), None);
        heads.remember(LinkType::RAW, &twin);
        assert_eq!(read(&frame[..28 + TELLING], frame.len(), &heads), None);
        assert!(read(&frame[..28 + 20], frame.len(), &heads).is_some());
        // A message that quotes less than it must is not completed.
        assert_eq!(read(&frame[..50], 50, &heads), None);
    }

    #[test]
    fn a_message_that_a_packet_is_too_large_quotes_it() {
        let returned = |frame: &[u8]| read(frame, frame.len(), &Heads::default());
        let whole = returned(&message([3, 4], 20)).unwrap();
        assert_eq!((whole.flow.src_port, whole.seq.get()), (80, 0x0102_0304));
        assert_eq!(whole.window, 1300);
        assert!(whole.notes.contains(Notes::RETURNED));
        assert_eq!(returned(&message([3, 4], 8)).unwrap().seq, whole.seq);
        assert_eq!(returned(&message([3, 4], 7)), None);
        assert_eq!(returned(&message([11, 0], 20)), None);
    }

    #[test]
    fn a_message_that_a_host_is_unreachable_quotes_the_packet_as_refused() {
        let frame = message([3, 1], 8);
        let refused = read(&frame, frame.len(), &Heads::default()).unwrap();
        assert!(refused.flags.rst() && refused.notes.contains(Notes::RETURNED));
        assert_eq!(refused.window, 0);
    }
}

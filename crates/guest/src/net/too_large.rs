//! What a router answers to a packet that its next link does not take (RFC 1191 §4, RFC 8201 §4).

use rexmit_sim::bytes::{fill_in_ip_checksum, internet_checksum};

/// Whose answers they are: 10.0.0.254, fd00::fe.
const ROUTER: [u8; 4] = [10, 0, 0, 254];
const ROUTER_6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe];
/// Bytes of an answer at most, with which it is not too large itself (RFC 1812 §4.3.2.3, RFC 4443 §2.4).
const MOST: usize = 576;
const MOST_6: usize = 1280;
const HEADER: usize = 20;
const HEADER_6: usize = 40;
/// Bytes of ICMP before what it quotes.
const ICMP: usize = 8;
const HOPS: u8 = 64;

/// The answer to `packet` of a router whose next link takes `mtu` bytes of IP; `None` to what is no packet of IP.
pub fn answer(packet: &[u8], mtu: u32) -> Option<Vec<u8>> {
    match packet.first()? >> 4 {
        4 if packet.len() >= HEADER => {
            let mut message = message([3, 4], packet, MOST - HEADER);
            let next_hop = u16::try_from(mtu).unwrap_or(u16::MAX);
            message[6..8].copy_from_slice(&next_hop.to_be_bytes());
            let checksum = internet_checksum(&[&message]);
            message[2..4].copy_from_slice(&checksum);
            let length = ((HEADER + message.len()) as u16).to_be_bytes();
            let mut header = vec![0x45, 0, length[0], length[1], 0, 0, 0, 0, HOPS, 1, 0, 0];
            header.extend(ROUTER);
            header.extend(&packet[12..16]);
            fill_in_ip_checksum(&mut header);
            Some([header, message].concat())
        }
        6 if packet.len() >= HEADER_6 => {
            let mut message = message([2, 0], packet, MOST_6 - HEADER_6);
            message[4..8].copy_from_slice(&mtu.to_be_bytes());
            let length = (message.len() as u16).to_be_bytes();
            let addresses = [&ROUTER_6, &packet[8..24]].concat();
            let rest = [0, 0, length[0], length[1], 0, 0, 0, 58];
            let checksum = internet_checksum(&[&addresses, &rest, &message]);
            message[2..4].copy_from_slice(&checksum);
            let header = vec![0x60, 0, 0, 0, length[0], length[1], 58, HOPS];
            Some([header, addresses, message].concat())
        }
        _ => None,
    }
}

/// A message that quotes of `packet` what fits into `most` bytes, without its checksum.
fn message(kind: [u8; 2], packet: &[u8], most: usize) -> Vec<u8> {
    let quoted = &packet[..packet.len().min(most - ICMP)];
    let mut message = vec![0; ICMP];
    message[..2].copy_from_slice(&kind);
    message.extend(quoted);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sender_is_told_what_fits() {
        let mut large = vec![0; 1500];
        large[0] = 0x45;
        large[12..16].copy_from_slice(&[10, 0, 0, 1]);
        let refusal = answer(&large, 1400).unwrap();
        assert_eq!(refusal.len(), MOST);
        assert_eq!(refusal[16..20], [10, 0, 0, 1]);
        assert_eq!((refusal[20], refusal[21]), (3, 4));
        assert_eq!(refusal[26..28], 1400_u16.to_be_bytes());
        assert_eq!(refusal[28..], large[..MOST - HEADER - ICMP]);
        // What is summed up with its checksum is all ones.
        assert_eq!(internet_checksum(&[&refusal[..HEADER]]), [0, 0]);
        assert_eq!(internet_checksum(&[&refusal[HEADER..]]), [0, 0]);
    }

    #[test]
    fn and_by_ipv6() {
        let mut large = vec![0x60; 1500];
        large[8..24].copy_from_slice(&[7; 16]);
        let refusal = answer(&large, 1300).unwrap();
        assert_eq!(refusal.len(), MOST_6);
        assert_eq!((refusal[40], refusal[41]), (2, 0));
        assert_eq!(refusal[44..48], 1300_u32.to_be_bytes());
        assert_eq!(answer(&[0; 40], 1300), None);
        assert_eq!(answer(&[], 1300), None);
    }
}

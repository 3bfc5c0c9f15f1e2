//! What a packet of IP says of congestion (RFC 3168), and which flow it is of.

/// Whether it may be marked in place of dropped: its ends take marks (ECT), or it has one.
pub fn is_capable(packet: &[u8]) -> bool {
    match (version(packet), packet.get(1)) {
        (4, Some(tos)) => tos & 0b11 != 0,
        (6, Some(class)) => class & 0b11_0000 != 0,
        _ => false,
    }
}

/// Marks it: congestion was experienced (CE). The checksum of an IPv4 header goes along (RFC 1624 §3).
pub fn mark(packet: &mut [u8]) {
    match version(packet) {
        4 if packet.len() >= 20 => {
            let word = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            let (before, checksum) = (word(packet, 0), word(packet, 10));
            packet[1] |= 0b11;
            let sum = u32::from(!checksum) + u32::from(!before) + u32::from(word(packet, 0));
            // Two carries at most: three words.
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = (sum & 0xffff) + (sum >> 16);
            packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        }
        6 if packet.len() >= 2 => packet[1] |= 0b11_0000,
        _ => {}
    }
}

/// A number of its flow, by its addresses, protocol and ports; 0 of what is no packet of IP.
pub fn flow(packet: &[u8]) -> u64 {
    let (addresses, protocol, header) = match version(packet) {
        4 => (12..20, 9, usize::from(packet[0] & 15) * 4),
        6 => (8..40, 6, 40),
        _ => return 0,
    };
    let parts = [addresses, protocol..protocol + 1, header..header + 4];
    let bytes = parts.into_iter().filter_map(|part| packet.get(part));
    // FNV-1a (draft-eastlake-fnv, section 5).
    bytes
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        })
}

fn version(packet: &[u8]) -> u8 {
    packet.first().map_or(0, |first| first >> 4)
}

#[cfg(test)]
mod tests {
    use rexmit_sim::bytes::{fill_in_ip_checksum, internet_checksum};

    use super::*;

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for tos in [0, 1, 2, 3, 0xb8 | 2] {
            for id in 0..2000_u16 {
                let mut packet = [0; 40];
                packet[0] = 0x45;
                packet[1] = tos;
                packet[4..6].copy_from_slice(&(id * 32).to_be_bytes());
                packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
                fill_in_ip_checksum(&mut packet[..20]);
                assert_eq!(is_capable(&packet), tos & 3 != 0);
                mark(&mut packet);
                assert_eq!(packet[1], tos | 3);
                assert_eq!(internet_checksum(&[&packet[..20]]), [0, 0]);
            }
        }
    }

    #[test]
    fn and_of_ipv6_touches_no_more_than_the_traffic_class() {
        let mut packet = [0; 60];
        packet[..4].copy_from_slice(&[0x6f, 0xef, 0xff, 0xff]);
        assert!(is_capable(&packet));
        mark(&mut packet);
        assert_eq!(packet[..4], [0x6f, 0xff, 0xff, 0xff]);
        packet[1] = 0xcf;
        assert!(!is_capable(&packet));
    }

    #[test]
    fn flows_differ_by_addresses_and_ports() {
        let packet = |port: u8, host: u8, flags: u8| {
            let mut packet = [0; 40];
            packet[0] = 0x45;
            packet[9] = 6;
            packet[19] = host;
            packet[23] = port;
            packet[33] = flags;
            flow(&packet)
        };
        assert_eq!(packet(1, 1, 2), packet(1, 1, 16));
        assert_ne!(packet(1, 1, 2), packet(2, 1, 2));
        assert_ne!(packet(1, 1, 2), packet(1, 2, 2));
        for cut in 0..24 {
            let _ = (flow(&[0x45; 24][..cut]), flow(&[0x60; 24][..cut]));
            mark(&mut [0x45; 24][..cut]);
        }
    }
}

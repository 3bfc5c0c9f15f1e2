use proptest::prelude::*;

use super::*;
use crate::options::TcpOption;

/// A TCP segment with timestamps and `payload`, ports 80 → 40000, seq 1000, ack 77.
fn segment(payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 80, 156, 64, 0, 0, 3, 232, 0, 0, 0, 77];
    bytes.extend([0x80, 0x18, 1, 2, 0, 0, 0, 0]);
    bytes.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
    bytes.extend(payload);
    bytes
}

fn v4(next: &[u8]) -> Vec<u8> {
    let total = u16::try_from(20 + next.len()).unwrap().to_be_bytes();
    let mut bytes = vec![
        0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    bytes.extend(next);
    bytes
}

fn v6(next_header: u8, next: &[u8]) -> Vec<u8> {
    let payload = u16::try_from(next.len()).unwrap().to_be_bytes();
    let mut bytes = vec![0x60, 0, 0, 0, payload[0], payload[1], next_header, 64];
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    bytes.extend(next);
    bytes
}

fn check(bytes: &[u8], payload: &[u8], src: &str) {
    let p = TcpPacket::parse(bytes).unwrap();
    assert_eq!(
        (p.flow().src, p.flow().src_port, p.flow().dst_port),
        (src.parse().unwrap(), 80, 40_000)
    );
    assert_eq!((p.seq().get(), p.ack().get(), p.window()), (1000, 77, 258));
    assert_eq!(p.flags().to_string(), "PA");
    assert_eq!(
        (p.payload(), p.payload_len()),
        (payload, payload.len() as u32)
    );
    assert_eq!(
        p.options().collect::<Vec<_>>(),
        [TcpOption::Timestamps { value: 5, echo: 6 }]
    );
}

#[test]
fn reads_both_versions_of_ip() {
    check(&v4(&segment(b"hello")), b"hello", "10.0.0.1");
    check(&v6(6, &segment(b"hello")), b"hello", "fd00::1");
}

#[test]
fn walks_extension_headers() {
    let mut chain = vec![60, 0, 0, 0, 0, 0, 0, 0]; // hop by hop, then destination options of 16 bytes,
    chain.extend([51, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chain.extend([44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // authentication of 12, an atomic fragment
    chain.extend([6, 0, 0, 0, 0, 0, 0, 9]);
    chain.extend(segment(b"x"));
    check(&v6(0, &chain), b"x", "fd00::1");
}

#[test]
fn leaves_out_padding() {
    let mut bytes = v4(&segment(b"ab"));
    bytes.extend([0; 14]);
    check(&bytes, b"ab", "10.0.0.1");
}

#[test]
fn a_cut_packet_keeps_its_length() {
    let whole = v4(&segment(&[7; 1000]));
    let p = TcpPacket::parse(&whole[..60]).unwrap();
    assert_eq!(
        (p.payload().len(), p.payload_len(), p.seq_len()),
        (8, 1000, 1000)
    );
    let p = TcpPacket::parse(&whole[..44]).unwrap();
    assert_eq!(
        (p.payload().len(), p.payload_len(), p.options().count()),
        (0, 1000, 0)
    );
    assert_eq!(TcpPacket::parse(&whole[..35]).unwrap_err(), Skip::CutShort);
    assert_eq!(TcpPacket::parse(&whole[..20]).unwrap_err(), Skip::CutShort);
    assert_eq!(TcpPacket::parse(&whole[..19]).unwrap_err(), Skip::CutShort);
    assert_eq!(TcpPacket::parse(&[]).unwrap_err(), Skip::Empty);
}

#[test]
fn a_length_of_zero_means_what_was_on_the_wire() {
    let mut bytes = v4(&segment(&[7; 100]));
    bytes[2..4].fill(0);
    assert_eq!(TcpPacket::parse(&bytes).unwrap().payload_len(), 100);
    assert_eq!(
        TcpPacket::parse_captured(&bytes[..60], bytes.len())
            .unwrap()
            .payload_len(),
        100
    );
}

#[test]
fn says_why_it_skips() {
    let good = v4(&segment(b"x"));
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        TcpPacket::parse(&bytes).map(|p| p.seq()).unwrap_err()
    };
    for (at, value, skip, why) in [
        (0, 0x55, Skip::NotIp { version: 5 }, ""),
        (0, 0x44, Skip::Malformed, "a header of 16 bytes"),
        (9, 17, Skip::NotTcp { protocol: 17 }, ""),
        (6, 0x20, Skip::Fragment, "more fragments"),
        (7, 1, Skip::Fragment, "a later fragment"),
        (
            3,
            39,
            Skip::Malformed,
            "total length ends in the TCP header",
        ),
        (3, 50, Skip::Malformed, "total length ends in the options"),
        (32, 0x40, Skip::Malformed, "a data offset of 16 bytes"),
        (32, 0xf0, Skip::Malformed, "a data offset behind the end"),
    ] {
        assert_eq!(with(at, value), skip, "{why}");
    }
    for (packet, skip) in [
        (v6(44, &[6, 0, 0, 1, 0, 0, 0, 9]), Skip::Fragment),
        (v6(59, &[]), Skip::NotTcp { protocol: 59 }),
        (v6(0, &[6]), Skip::CutShort),
        (v6(0, &[6, 200, 0, 0, 0, 0, 0, 0]), Skip::Malformed),
    ] {
        assert_eq!(TcpPacket::parse(&packet).unwrap_err(), skip);
    }
}

proptest! {
    #[test]
    fn never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), first in 0x40u8..0x70, tcp: bool) {
        if let Some(byte) = bytes.first_mut() {
            *byte = first;
        }
        if tcp && bytes.len() > 9 {
            bytes[6] = 6;
            bytes[9] = 6;
        }
        if let Ok(p) = TcpPacket::parse(&bytes) {
            prop_assert!(p.payload().len() <= p.payload_len() as usize);
            let _ = (p.seq(), p.ack(), p.window(), p.seq_len(), p.flags().to_string(), p.options().count());
        }
    }

    #[test]
    fn every_cut_of_a_packet_tells_the_same_or_skips(len in 0usize..300, six: bool, cut in 0usize..400) {
        let payload = vec![9; len];
        let whole = if six { v6(6, &segment(&payload)) } else { v4(&segment(&payload)) };
        let cut = cut.min(whole.len());
        match TcpPacket::parse(&whole[..cut]) {
            Ok(p) => prop_assert_eq!((p.payload_len(), p.seq().get()), (len as u32, 1000)),
            Err(skip) => {
                let needed = if six { 60 } else { 40 };
                prop_assert!(cut < needed);
                prop_assert_eq!(skip, if cut == 0 { Skip::Empty } else { Skip::CutShort });
            }
        }
    }
}

//! Copies of captures, with comments on packets.

mod common;

use common::files::{block, enhanced, erf, interface, option, pcap, pcapng, section, snoop, Order};
use common::files::{Packet, SAMPLE};
use rexmit_wire::capture::{Copy, End, Error, Reader};

const OURS: &str = "ours: ";

/// A copy with these comments, packets counted from 0; and how many found no room.
fn copied(capture: &[u8], comments: &[(usize, &[&str])]) -> (Vec<u8>, usize, End) {
    let mut out = Vec::new();
    let mut copy = Copy::new(capture, &mut out, OURS).unwrap();
    let (mut packet, mut unplaced) = (0, 0);
    while copy.advance().unwrap() {
        let mine = comments.iter().find(|(of, _)| *of == packet);
        let mine = mine.map_or(&[][..], |(_, comments)| comments);
        unplaced += usize::from(!copy.write(mine).unwrap());
        packet += 1;
    }
    let end = copy.end();
    drop(copy);
    (out, unplaced, end)
}

/// A packet as a reader gives it: time, link type, interface, length on the wire, bytes, first comment.
type Read = (u64, u16, u16, u32, Vec<u8>, Option<String>);

fn read(capture: &[u8]) -> Vec<Read> {
    let mut reader = Reader::new(capture).unwrap();
    let mut packets = Vec::new();
    while reader.advance().unwrap() {
        let frame = reader.frame().unwrap();
        let (time, data) = (frame.time.as_nanos(), frame.data.to_vec());
        let (link, length) = (frame.link.0, frame.original_len);
        packets.push((time, link, frame.interface, length, data, reader.comment()));
    }
    packets
}

fn without_comments(packets: Vec<Read>) -> Vec<Read> {
    let bare = packets.into_iter();
    bare.map(|(a, b, c, d, e, _)| (a, b, c, d, e, None))
        .collect()
}

/// All that a section can have, with a packet in the middle and one at the end.
fn everything(order: Order, comment: &[u8]) -> Vec<u8> {
    let mut bytes = section(order);
    bytes.extend(interface(order, 1, 0, &option(order, 9, &[9])));
    bytes.extend(block(order, 4, b"names"));
    bytes.extend(enhanced(order, 0, 5, b"abc", comment));
    bytes.extend(block(order, 10, &[7; 600_000]));
    bytes.extend(interface(order, 101, 9, &option(order, 9, &[12])));
    bytes.extend(block(order, 0x0bad, b"nobody knows"));
    bytes.extend(enhanced(order, 1, 7_999, b"abcd", &[]));
    bytes.extend(block(order, 5, &[0; 12]));
    bytes
}

#[test]
fn without_comments_pcapng_is_copied_byte_for_byte() {
    for order in [Order::Little, Order::Big] {
        let mut capture = everything(order, &option(order, 1, b"theirs"));
        capture.extend(everything(
            Order::Little,
            &option(Order::Little, 2, &[1, 2, 3, 4]),
        ));
        let (copy, unplaced, end) = copied(&capture, &[]);
        assert_eq!(copy, capture);
        assert_eq!((unplaced, end), (0, End::Complete));
    }
}

#[test]
fn comments_come_behind_what_is_said_already() {
    for order in [Order::Little, Order::Big] {
        let end = option(order, 0, &[]);
        let theirs = option(order, 1, b"theirs");
        let flags = option(order, 2, &[1, 0, 0, 0]);
        // With the end of options and without it.
        for options in [
            [&theirs[..], &flags, &end].concat(),
            [&theirs[..], &flags].concat(),
        ] {
            let capture = everything(order, &options);
            let (copy, _, _) = copied(
                &capture,
                &[(0, &["ours: a", "ours: bü"]), (1, &["ours: c"])],
            );
            let first = option(order, 1, b"ours: a");
            let second = option(order, 1, "ours: bü".as_bytes());
            let expected = [&theirs[..], &flags, &first, &second, &end].concat();
            let third = [option(order, 1, b"ours: c"), end.clone()].concat();
            let mut all = everything(order, &expected);
            let last = enhanced(order, 1, 7_999, b"abcd", &[]);
            let at = all
                .windows(last.len())
                .position(|here| here == last)
                .unwrap();
            let commented = enhanced(order, 1, 7_999, b"abcd", &third);
            all.splice(at..at + last.len(), commented);
            assert_eq!(copy, all);
        }
    }
}

#[test]
fn comments_of_an_earlier_copy_are_replaced() {
    let capture = everything(Order::Little, &[]);
    let (once, _, _) = copied(&capture, &[(0, &["ours: a", "ours: b"]), (1, &["ours: c"])]);
    let (twice, _, _) = copied(&once, &[(0, &["ours: d"])]);
    let (expected, _, _) = copied(&capture, &[(0, &["ours: d"])]);
    assert_eq!(twice, expected);
    assert_eq!(copied(&once, &[]).0, capture);
}

#[test]
fn before_broken_options_comments_come_first() {
    let order = Order::Little;
    let mut broken = option(order, 1, b"theirs");
    broken[2] = 200;
    let capture = everything(order, &broken);
    assert_eq!(copied(&capture, &[]).0, capture);
    let (copy, _, _) = copied(&capture, &[(0, &["ours: a"])]);
    let options = [option(order, 1, b"ours: a"), broken].concat();
    assert_eq!(copy, everything(order, &options));
}

#[test]
fn a_section_no_longer_says_how_long_it_is() {
    let mut capture = everything(Order::Little, &[]);
    capture[16..24].copy_from_slice(&1_000_u64.to_le_bytes());
    let (copy, _, _) = copied(&capture, &[(0, &["ours: a"])]);
    assert_eq!(copy[16..24], [0xff; 8]);
}

#[test]
fn a_block_without_options_takes_no_comment() {
    let order = Order::Little;
    let mut capture = section(order);
    capture.extend(interface(order, 1, 0, &[]));
    capture.extend(block(order, 3, &[3, 0, 0, 0, b'a', b'b', b'c']));
    let (copy, unplaced, _) = copied(&capture, &[(0, &["ours: a"])]);
    assert_eq!((copy, unplaced), (capture, 1));
}

#[test]
fn other_formats_become_pcapng_with_all_that_they_say() {
    let erf_of = |kind, ticks| erf(kind, 800_000_000, ticks, 64, &[kind; 48]);
    let captures = [
        pcap(Order::Big, 0xa1b2_c3d4, 4, 101, &SAMPLE),
        pcap(
            Order::Little,
            0xa1b2_3c4d,
            4,
            1,
            &[(1_000_000_000_007, b"x")],
        ),
        pcap(Order::Little, 0xa1b2_cd34, 4, 113, &SAMPLE),
        pcap(Order::Little, 0xa1b2_c3d4, 2, 1, &SAMPLE),
        snoop(4, &SAMPLE),
        // Ethernet, IPv4, and what nobody understands, which is kept as ERF.
        [erf_of(2, 5), erf_of(22, 1 << 31), erf_of(25, 1 << 31)].concat(),
    ];
    for capture in captures {
        let packets = without_comments(read(&capture));
        assert!(!packets.is_empty());
        let (copy, unplaced, _) = copied(&capture, &[(0, &["ours: a"])]);
        let again = read(&copy);
        assert_eq!(again[0].5.as_deref(), Some("ours: a"));
        // Interfaces are numbered anew, in the order of their first packets.
        let bare = |packets: Vec<Read>| {
            let packets = without_comments(packets).into_iter();
            packets
                .map(|(a, b, _, d, e, _)| (a, b, d, e))
                .collect::<Vec<_>>()
        };
        assert_eq!((bare(again), unplaced), (bare(packets), 0));
    }
}

#[test]
fn times_stand_as_they_are_where_the_reader_mends_them() {
    let wrong: [Packet<'_>; 3] = [
        (1_000_000_001_000, b"a"),
        (9_000_000_002_000, b"b"),
        (1_000_000_003_000, b"c"),
    ];
    let capture = pcapng(Order::Little, &wrong);
    assert_eq!(read(&capture)[1].0, 1_000_000_001_000);
    assert_eq!(copied(&capture, &[]).0, capture);
    let (copy, _, _) = copied(&pcap(Order::Little, 0xa1b2_c3d4, 4, 1, &wrong), &[]);
    let blocks = copy.windows(1).count();
    let stamp = 9_000_000_002_000_u64;
    let words = [(stamp >> 32) as u32, stamp as u32];
    let there: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(blocks > 0 && copy.windows(8).any(|here| here == there));
}

#[test]
fn a_copy_ends_with_the_last_whole_block() {
    let capture = everything(Order::Little, &[]);
    let whole = copied(&capture, &[]).0;
    for cut in [1, 40, 70, 300_000, capture.len() - 60] {
        let (copy, _, end) = copied(&capture[..capture.len() - cut], &[]);
        assert!(copy.len() < whole.len() && whole.starts_with(&copy));
        let offset = copy.len() as u64;
        assert_eq!(end, End::Truncated { offset });
        // Nothing behind the copy's end is missing to a reader.
        let mut reader = Reader::new(&copy[..]).unwrap();
        while reader.advance().unwrap() {}
        assert_eq!(reader.end(), Some(End::Complete));
    }
}

#[test]
fn what_wireshark_does_not_read_is_refused() {
    let mut capture = section(Order::Little);
    capture.extend(11_u32.to_le_bytes());
    capture.extend((17_u32 << 20).to_le_bytes());
    capture.extend([0; 64]);
    let mut copy = Copy::new(&capture[..], Vec::new(), OURS).unwrap();
    let error = copy.advance().unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
}

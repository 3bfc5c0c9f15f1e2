//! What is written as pcapng is read back, and what no time stamp can be.

mod common;

use std::io;

use rexmit_time::Time;
use rexmit_wire::capture::{End, Reader};
use rexmit_wire::pcapng::Writer;
use rexmit_wire::LinkType;

use common::files::{enhanced, interface, option, section, Order};

/// The last time that is taken for one.
const LAST: Time = Time::from_nanos(i64::MAX as u64 - 1_000_000_000);

fn sample() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let h1 = writer.add_interface("h1-eth0").unwrap();
    let h2 = writer.add_interface("ü").unwrap();
    writer.packet(h1, Time::ZERO, b"abc", 3, None).unwrap();
    writer
        .packet(h2, LAST, b"abcd", 1500, Some("rexmit: dropped"))
        .unwrap();
    writer.packet(h1, LAST, b"", 0, Some("")).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn packets_come_back_as_written() {
    let bytes = sample();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let mut told = Vec::new();
    while reader.advance().unwrap() {
        let frame = reader.frame().unwrap();
        told.push((
            frame.time.as_nanos(),
            frame.interface,
            frame.data.to_vec(),
            frame.original_len,
            reader.comment(),
        ));
    }
    let comment = |text: &str| Some(text.to_owned());
    assert_eq!(
        told,
        [
            (0, 0, b"abc".to_vec(), 3, None),
            (
                LAST.as_nanos(),
                1,
                b"abcd".to_vec(),
                1500,
                comment("rexmit: dropped")
            ),
            (LAST.as_nanos(), 0, b"".to_vec(), 0, comment("")),
        ]
    );
    assert_eq!(reader.end(), Some(End::Complete));
    assert_eq!((reader.frame(), reader.comment()), (None, None));
    let interfaces = reader.interfaces().iter();
    let names: Vec<_> = interfaces.map(|i| (i.name.as_str(), i.link)).collect();
    assert_eq!(names, [("h1-eth0", LinkType::RAW), ("ü", LinkType::RAW)]);
}

#[test]
fn an_undeclared_interface_is_refused() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let error = writer.packet(0, Time::ZERO, b"", 0, None).unwrap_err();
    assert_eq!(error.to_string(), "interface 0 of a capture that has 0");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_long_comment_is_cut_at_a_character() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.add_interface("a").unwrap();
    writer
        .packet(0, Time::ZERO, b"x", 1, Some("ü".repeat(40_000).as_str()))
        .unwrap();
    let bytes = writer.into_inner().unwrap();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    assert!(reader.advance().unwrap());
    let comment = reader.comment().unwrap();
    assert_eq!(comment.len(), 65_534);
    assert!(comment.chars().all(|c| c == 'ü'));
}

/// The second packet's time, in microseconds, is beyond what nanoseconds can tell.
#[test]
fn a_time_stamp_out_of_range_costs_no_packet() {
    let order = Order::Little;
    let mut bytes = section(order);
    bytes.extend(interface(order, 1, 0, &option(order, 9, &[6])));
    for (ticks, data) in [(5, b"one."), (u64::MAX, b"two."), (7, b"last")] {
        bytes.extend(enhanced(order, 0, ticks, data, &[]));
    }
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let mut told = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        told.push((frame.time.as_nanos(), frame.data.to_vec()));
    }
    let packet = |nanos, data: &[u8]| (nanos, data.to_vec());
    assert_eq!(
        told,
        [
            packet(5_000, b"one."),
            packet(5_000, b"two."),
            packet(7_000, b"last")
        ]
    );
    assert_eq!((reader.undated(), reader.end()), (1, Some(End::Complete)));
}

#[test]
fn a_packet_read_ahead_keeps_its_bytes_and_comment() {
    let order = Order::Big;
    let mut bytes = section(order);
    // Times in seconds.
    bytes.extend(interface(order, 1, 0, &option(order, 9, &[0])));
    let comment = |text: &[u8]| [option(order, 1, text), option(order, 0, &[])].concat();
    let packets: [(u64, &[u8], &[u8], u64); 4] = [
        (20_000, b"one", b"first", 20_000),
        (40_000, b"two..", b"second", 20_000),
        (20_001, b"last", b"", 20_001),
        (3, b"!", b"back", 20_001),
    ];
    for (seconds, data, text, _) in packets {
        let options = if text.is_empty() {
            vec![]
        } else {
            comment(text)
        };
        bytes.extend(enhanced(order, 0, seconds, data, &options));
    }
    let mut reader = Reader::new(&bytes[..]).unwrap();
    for (_, data, text, seconds) in packets {
        assert!(reader.advance().unwrap());
        let frame = reader.frame().unwrap();
        assert_eq!(frame.data, data);
        assert_eq!(frame.time.as_nanos(), seconds * 1_000_000_000);
        assert_eq!(reader.end(), None);
        assert_eq!(reader.comment().unwrap_or_default().as_bytes(), text);
    }
    assert!(!reader.advance().unwrap());
    assert_eq!(
        (reader.misdated().packets, reader.end()),
        (2, Some(End::Complete))
    );
}

#[test]
fn what_is_broken_is_told_behind_a_packet_that_was_read_ahead() {
    let order = Order::Little;
    let mut bytes = section(order);
    bytes.extend(interface(order, 1, 0, &option(order, 9, &[0])));
    for (seconds, data) in [(5, b"one."), (9_000, b"two.")] {
        bytes.extend(enhanced(order, 0, seconds, data, &[]));
    }
    bytes.extend([0xff; 12]);
    let mut reader = Reader::new(&bytes[..]).unwrap();
    assert!(reader.advance().unwrap() && reader.advance().unwrap());
    assert_eq!(reader.frame().unwrap().time.as_nanos(), 9_000_000_000_000);
    assert_eq!(reader.end(), None);
    assert!(reader.advance().is_err());
    assert_eq!(
        (reader.misdated().packets, reader.end()),
        (0, Some(End::Failed))
    );
    assert!(!reader.advance().unwrap());
}

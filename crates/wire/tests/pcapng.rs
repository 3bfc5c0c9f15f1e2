//! What is written is read back.

use std::io::{self, Read};

use rexmit_time::Time;
use rexmit_wire::pcapng::{Reader, Writer, LINKTYPE_RAW};

fn sample() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let h1 = writer.add_interface("h1-eth0").unwrap();
    let h2 = writer.add_interface("ü").unwrap();
    writer
        .packet(h1, Time::from_nanos(1), b"abc", 3, None)
        .unwrap();
    writer
        .packet(h2, Time::MAX, b"abcd", 1500, Some("rexmit: dropped"))
        .unwrap();
    writer.packet(h1, Time::ZERO, b"", 0, Some("")).unwrap();
    writer.into_inner().unwrap()
}

/// Gives one byte at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(1);
        self.0.read(&mut buffer[..n])
    }
}

#[test]
fn packets_come_back_as_written() {
    let bytes = sample();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let packets: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
    let told: Vec<_> = packets
        .iter()
        .map(|p| {
            (
                p.time.as_nanos(),
                p.interface,
                &p.data[..],
                p.original_len,
                p.comment.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, 0, &b"abc"[..], 3, None),
            (u64::MAX, 1, &b"abcd"[..], 1500, Some("rexmit: dropped")),
            (0, 0, &b""[..], 0, Some("")),
        ]
    );
    let names: Vec<_> = reader
        .interfaces()
        .iter()
        .map(|i| (i.name.as_str(), i.linktype))
        .collect();
    assert_eq!(
        names,
        [
            ("h1-eth0", i32::from(LINKTYPE_RAW)),
            ("ü", i32::from(LINKTYPE_RAW))
        ]
    );
}

#[test]
fn short_reads_and_many_sections_make_no_difference() {
    let mut bytes = sample();
    bytes.extend(sample());
    let slow: Vec<_> = Reader::new(Trickle(&bytes))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(slow.len(), 6);
    assert_eq!(
        slow[3..].iter().map(|p| p.interface).collect::<Vec<_>>(),
        [2, 3, 2]
    );
    assert_eq!(slow[4].data, slow[1].data);
}

#[test]
fn a_cut_capture_gives_its_whole_packets_and_one_error() {
    let bytes = sample();
    for cut in 0..bytes.len() {
        let Ok(reader) = Reader::new(&bytes[..cut]) else {
            continue;
        };
        let items: Vec<_> = reader.collect();
        let errors = items.iter().filter(|i| i.is_err()).count();
        assert!(
            errors <= 1 && items.iter().rev().skip(1).all(Result::is_ok),
            "cut at {cut}"
        );
    }
    assert_eq!(
        Reader::new(&bytes[..20]).err().map(|e| e.kind()),
        Some(io::ErrorKind::UnexpectedEof)
    );
    assert_eq!(
        Reader::new(&b"GIF89a, surely no capture at all"[..])
            .err()
            .map(|e| e.kind()),
        Some(io::ErrorKind::InvalidData)
    );
}

#[test]
fn a_large_capture_passes_through_the_window() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let h1 = writer.add_interface("h1").unwrap();
    for n in 0..2_000u32 {
        let data = n.to_be_bytes().repeat(1 + n as usize % 400);
        writer
            .packet(
                h1,
                Time::from_nanos(n.into()),
                &data,
                data.len() as u32,
                None,
            )
            .unwrap();
    }
    let bytes = writer.into_inner().unwrap();
    let mut count = 0;
    for (n, packet) in Reader::new(&bytes[..]).unwrap().enumerate() {
        let packet = packet.unwrap();
        assert_eq!(packet.data, (n as u32).to_be_bytes().repeat(1 + n % 400));
        count += 1;
    }
    assert_eq!(count, 2_000);
}

#[test]
fn an_undeclared_interface_is_refused() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let error = writer.packet(0, Time::ZERO, b"", 0, None).unwrap_err();
    assert_eq!(error.to_string(), "interface 0 of a capture that has 0");
}

#[test]
fn a_long_comment_is_cut_at_a_character() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.add_interface("a").unwrap();
    writer
        .packet(0, Time::ZERO, b"x", 1, Some(&"ü".repeat(40_000)))
        .unwrap();
    let bytes = writer.into_inner().unwrap();
    let comment = Reader::new(&bytes[..])
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .comment
        .unwrap();
    assert_eq!(comment.len(), 65_534);
    assert!(comment.chars().all(|c| c == 'ü'));
}

//! Captures of every format are read, whole, cut or broken.

#[path = "../common/mod.rs"]
mod common;
mod packed;

use std::io::{self, Read, Write};

use common::files::{self, Order, Packet, SAMPLE};
use common::{ethernet, segment, v4};
use proptest::prelude::*;
use rexmit_wire::capture::{Batch, End, Error, Reader};
use rexmit_wire::headers::Headers;
use rexmit_wire::LinkType;

/// Time, bytes and length on the wire of a packet.
type Told = (u64, Vec<u8>, u32);

/// All packets, and how the capture ended.
fn read(input: impl Read + Send) -> Result<(Vec<Told>, End), Error> {
    let mut reader = Reader::new(input)?;
    let mut packets = Vec::new();
    while let Some(frame) = reader.next_frame()? {
        let time = frame.time.as_nanos();
        packets.push((time, frame.data.to_vec(), frame.original_len));
    }
    Ok((packets, reader.end().unwrap()))
}

fn expected(packets: &[Packet<'_>]) -> Vec<Told> {
    let told = |&(time, data): &Packet<'_>| (time, data.to_vec(), data.len() as u32 + 1_000);
    packets.iter().map(told).collect()
}

/// All ways to write the sample.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    use Order::{Big, Little};
    let mut all = Vec::new();
    for order in [Big, Little] {
        for magic in [0xa1b2_c3d4, 0xa1b2_3c4d, 0xa1b2_cd34] {
            all.push(("pcap", files::pcap(order, magic, 4, 1, &SAMPLE)));
        }
        for minor in [2, 3] {
            all.push(("pcap", files::pcap(order, 0xa1b2_c3d4, minor, 1, &SAMPLE)));
        }
        all.push(("pcapng", files::pcapng(order, &SAMPLE)));
    }
    all.push(("snoop", files::snoop(4, &SAMPLE)));
    all
}

#[test]
fn every_format_gives_the_same() {
    for (format, bytes) in samples() {
        let mut reader = Reader::new(&bytes[..]).unwrap();
        assert_eq!(reader.format(), format);
        assert!(reader.advance().unwrap());
        assert_eq!(reader.frame().unwrap().link, LinkType::ETHERNET);
        assert_eq!(reader.interfaces()[0].link, LinkType::ETHERNET);
        let (packets, end) = read(&bytes[..]).unwrap();
        assert_eq!(packets, expected(&SAMPLE), "{format}");
        assert_eq!(end, End::Complete);
    }
}

#[test]
fn a_cut_capture_gives_all_whole_packets() {
    for (format, bytes) in samples() {
        let ends: Vec<usize> = (0..=3)
            .map(|count| match format {
                "pcapng" => files::pcapng(Order::Big, &SAMPLE[..count]).len(),
                "snoop" => files::snoop(4, &SAMPLE[..count]).len(),
                _ => {
                    let all: usize = SAMPLE.iter().map(|(_, data)| data.len()).sum();
                    let here: usize = SAMPLE[..count].iter().map(|(_, data)| data.len()).sum();
                    let header = (bytes.len() - 24 - all) / 3;
                    24 + count * header + here
                }
            })
            .collect();
        for cut in ends[0]..bytes.len() {
            let (packets, end) = read(&bytes[..cut]).unwrap();
            let whole = ends.iter().rposition(|&end| end <= cut).unwrap();
            // The padding of a snoop record may be missing.
            let padding = format == "snoop" && packets.len() == whole + 1;
            let whole = if padding { whole + 1 } else { whole };
            assert_eq!(packets, expected(&SAMPLE[..whole]), "{format} cut at {cut}");
            let at = ends[whole];
            let told = if at == cut || padding {
                End::Complete
            } else {
                End::Truncated { offset: at as u64 }
            };
            assert_eq!(end, told, "{format} cut at {cut}");
        }
    }
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
fn short_reads_make_no_difference() {
    for (_, bytes) in samples() {
        assert_eq!(read(Trickle(&bytes)).unwrap().0, expected(&SAMPLE));
    }
    // With padding between records.
    let odd: [Packet<'_>; 3] = [(1_000, b"a"), (2_000, b"bcd"), (3_000, b"efghi")];
    let bytes = files::snoop(4, &odd);
    assert_eq!(read(Trickle(&bytes)).unwrap().0, expected(&odd));
}

#[test]
fn captures_pass_through_the_window_whatever_their_size() {
    let data: Vec<Vec<u8>> = (0..3_000_u32)
        .map(|n| n.to_be_bytes().repeat(1 + n as usize * 7 % 2_000))
        .chain([vec![7; 1 << 18]])
        .collect();
    let packets: Vec<Packet<'_>> = data.iter().map(|d| (5_000, &d[..])).collect();
    for bytes in [
        files::plain(&packets),
        files::pcapng(Order::Little, &packets),
    ] {
        let (got, end) = read(&bytes[..]).unwrap();
        assert_eq!(got, expected(&packets));
        assert_eq!(end, End::Complete);
    }
}

#[test]
fn batches_hold_the_same_packets() {
    let bytes = files::plain(&SAMPLE);
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let mut batch = Batch::default();
    assert!(reader.fill(&mut batch, 2, 1_000).unwrap());
    assert_eq!(batch.len(), 2);
    assert!(!reader.fill(&mut batch, 10, 5).unwrap());
    let frames: Vec<_> = batch
        .frames()
        .map(|f| (f.time.as_nanos(), f.data, f.original_len, f.link))
        .collect();
    let (first, _, third) = (SAMPLE[0], SAMPLE[1], SAMPLE[2]);
    assert_eq!(frames[0], (first.0, first.1, 1_012, LinkType::ETHERNET));
    assert_eq!(
        frames[2],
        (third.0, &third.1[..5], 1_013, LinkType::ETHERNET)
    );
    batch.clear();
    assert!(batch.is_empty() && batch.frames().next().is_none());
}

#[test]
fn sections_and_interfaces_of_pcapng() {
    use Order::{Big, Little};
    let mut bytes = files::section(Big);
    // A name, and microseconds from the year 2000 on.
    let mut options = files::option(Big, 2, b"eth0");
    options.extend(files::option(Big, 14, &946_684_800_u64.to_be_bytes()));
    bytes.extend(files::interface(Big, 1, 0, &options));
    bytes.extend(files::enhanced(Big, 0, 3, b"a", &[]));
    // A block that nothing is known of, then statistics.
    bytes.extend(files::block(Big, 0x7777, &[9; 700_000]));
    bytes.extend(files::block(Big, 5, &[0; 12]));
    bytes.extend(files::section(Little));
    // Units of 2^-10 s; snap length 3.
    bytes.extend(files::interface(
        Little,
        101,
        3,
        &files::option(Little, 9, &[0x8a]),
    ));
    bytes.extend(files::interface(
        Little,
        113,
        0,
        &files::option(Little, 9, &[12]),
    ));
    let mut comment = files::option(Little, 2, &[0, 0, 0, 0]);
    comment.extend(files::option(Little, 1, "grüß".as_bytes()));
    comment.extend([0; 4]);
    bytes.extend(files::enhanced(Little, 0, 1_536, b"bcd", &comment));
    // A simple packet of 9 bytes, cut at the snap length.
    bytes.extend(files::block(
        Little,
        3,
        &[&9_u32.to_le_bytes()[..], b"wxy\0"].concat(),
    ));
    bytes.extend(files::enhanced(Little, 1, 7_999, b"e", &[]));
    // The obsolete packet block: interface 1, five drops.
    let mut old = vec![1, 0, 5, 0];
    for word in [0_u32, 2_000, 2, 60] {
        old.extend(word.to_le_bytes());
    }
    old.extend(b"fg\0\0");
    bytes.extend(files::block(Little, 2, &old));

    let mut reader = Reader::new(&bytes[..]).unwrap();
    let mut told = Vec::new();
    while reader.advance().unwrap() {
        let f = reader.frame().unwrap();
        told.push((
            f.time.as_nanos(),
            f.interface,
            f.link.0,
            String::from_utf8(f.data.to_vec()).unwrap(),
            f.original_len,
            reader.comment(),
        ));
    }
    let packet = |time, interface, link, data: &str, wire, comment: Option<&str>| {
        let comment = comment.map(str::to_owned);
        (time, interface, link, data.to_owned(), wire, comment)
    };
    assert_eq!(
        told,
        [
            packet(946_684_800_000_003_000, 0, 1, "a", 1_001, None),
            packet(1_500_000_000, 1, 101, "bcd", 1_003, Some("grüß")),
            packet(1_500_000_000, 1, 101, "wxy", 9, None),
            packet(7, 2, 113, "e", 1_001, None),
            packet(2, 2, 113, "fg", 60, None),
        ]
    );
    assert_eq!(reader.end(), Some(End::Complete));
    let names: Vec<_> = reader.interfaces().iter().map(|i| &i.name[..]).collect();
    assert_eq!(names, ["eth0", "", ""]);
}

#[test]
fn records_of_erf() {
    let packet = v4(6, &segment());
    let frame = ethernet(0x0800, &packet);
    let half = 1 << 31;
    let eth = [&[0, 0][..], &frame].concat();
    let wire = frame.len() as u16 + 4;
    let cell = [
        &[0, 1, 0x66, 0x70, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0][..],
        &packet[..40],
    ]
    .concat();
    let mut bytes = files::erf(2, 1_000_000_000, half, wire, &eth);
    // Two extension headers in front.
    let extended = [
        &[0x83, 0, 0, 0, 0, 0, 0, 1, 0x05, 0, 0, 0, 0, 0, 0, 1][..],
        &eth,
    ]
    .concat();
    bytes.extend(files::erf(0x82, 1_000_000_001, 0, wire, &extended));
    bytes.extend(files::erf(48, 1_000_000_001, 0, 0, &[0; 16]));
    let pos = [&[0x0f, 0, 0x08, 0][..], &packet].concat();
    bytes.extend(files::erf(1, 1_000_000_002, 0, pos.len() as u16 + 4, &pos));
    let ppp = [&[0, 0, 0, 5, 0xff, 3, 0, 0x21][..], &packet].concat();
    bytes.extend(files::erf(5, 1_000_000_002, 0, ppp.len() as u16, &ppp));
    bytes.extend(files::erf(3, 1_000_000_003, 0, 52, &cell));
    // A record longer than its packet, as all are where records have one length.
    let filled = [&packet[..], &[0; 24]].concat();
    let wire = packet.len() as u16;
    bytes.extend(files::erf(22, 1_000_000_004, 0, wire, &filled));
    let mut reader = Reader::new(&bytes[..]).unwrap();
    assert_eq!(reader.format(), "ERF");
    let mut times = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        let headers = Headers::decode(frame.link, frame.data, frame.original_len).unwrap();
        assert_eq!((headers.seq.get(), headers.payload_len), (1000, 100));
        assert!(frame.data.len() <= frame.original_len as usize);
        times.push(frame.time.as_nanos() / 100_000_000);
    }
    assert_eq!(
        times,
        [
            10_000_000_005,
            10_000_000_010,
            10_000_000_020,
            10_000_000_020,
            10_000_000_030,
            10_000_000_040
        ]
    );
    assert_eq!(reader.end(), Some(End::Complete));

    let last = bytes.len() - 8;
    let (packets, end) = read(&bytes[..last]).unwrap();
    assert_eq!(packets.len(), 5);
    assert!(matches!(end, End::Truncated { .. }));
}

#[test]
fn headers_in_time_sequence() {
    let mut bytes = Vec::new();
    for n in 0..5_u32 {
        bytes.extend((1_000 + n).to_be_bytes());
        bytes.extend([1, 0, 0x03, 0xe8]); // 1,000 µs
        bytes.extend(&v4(6, &segment())[..36]);
    }
    bytes.truncate(bytes.len() - 1);
    let mut reader = Reader::new(&bytes[..]).unwrap();
    assert_eq!(reader.format(), "TSH");
    let frame = reader.next_frame().unwrap().unwrap();
    let headers = Headers::decode(frame.link, frame.data, frame.original_len).unwrap();
    assert_eq!(frame.time.as_nanos(), 1_000_001_000_000);
    assert_eq!((headers.payload_len, headers.window), (100, 258));
    while reader.advance().unwrap() {}
    assert_eq!(reader.end(), Some(End::Truncated { offset: 176 }));
}

#[test]
fn garbage_is_an_error_with_its_place() {
    let broken = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes).unwrap();
        let mut packets = 0;
        loop {
            match reader.advance() {
                Ok(true) => packets += 1,
                Ok(false) => panic!("the capture is broken"),
                Err(Error::Broken { offset, what }) => {
                    assert!(!reader.advance().unwrap(), "nothing comes after an error");
                    assert_eq!(reader.end(), Some(End::Failed));
                    return (packets, offset, what);
                }
                Err(other) => panic!("{other}"),
            }
        }
    };
    // An absurd length, as after a part of the file was lost.
    let mut pcap = files::plain(&SAMPLE);
    let at = pcap.len() as u64;
    pcap.extend([0xde; 40]);
    assert_eq!(
        broken(&pcap),
        (3, at, "a packet of 3739147998 bytes".to_owned())
    );

    let pcapng = files::pcapng(Order::Little, &SAMPLE);
    let at = pcapng.len() as u64;
    let with = |more: &[u8]| broken(&[&pcapng[..], more].concat());
    let (packets, offset, what) = with(&[0xde; 40]);
    assert_eq!(
        (packets, offset, &what[..]),
        (3, at, "a block of 3739147998 bytes")
    );
    assert_eq!(
        with(&files::block(Order::Little, 6, &[0; 4])).1,
        at,
        "no packet"
    );
    assert_eq!(
        with(&[6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).1,
        at,
        "no length"
    );
    let undeclared = files::enhanced(Order::Little, 1, 0, b"x", &[]);
    assert_eq!(
        with(&undeclared).2,
        "a packet of interface 1, which is not declared"
    );
    let mut differing = files::enhanced(Order::Little, 0, 0, b"x", &[]);
    let last = differing.len() - 4;
    differing[last] += 4;
    assert_eq!(with(&differing).2, "a block whose two lengths differ");
    let mut longer = files::enhanced(Order::Little, 0, 0, b"x", &[]);
    longer[20] = 5;
    assert_eq!(with(&longer).2, "a packet of 5 bytes in a block of 36");
    let mut large = files::block(Order::Little, 6, &[]);
    large[6] = 0x10; // 1 MiB and 12 bytes
    assert_eq!(with(&large).2, "a block of 1048588 bytes");

    let mut snoop = files::snoop(4, &SAMPLE);
    let at = snoop.len() as u64;
    snoop.extend([0; 24]);
    assert_eq!(broken(&snoop).1, at, "a record shorter than its header");

    let record = files::erf(22, 1_000_000_000, 0, 40, &v4(6, &segment())[..40]);
    let mut erf = record.repeat(8);
    let at = erf.len() as u64;
    erf.extend([0; 16]);
    assert_eq!(broken(&erf), (8, at, "a record of 0 bytes".to_owned()));
}

#[test]
fn what_is_no_capture_is_told() {
    let seems = |bytes: &[u8]| match Reader::new(bytes) {
        Err(Error::Unknown { what }) => what,
        Err(other) => panic!("{other}"),
        Ok(reader) => panic!("read as {}", reader.format()),
    };
    assert_eq!(seems(b""), "no bytes at all");
    let text = "text without a line of a TCP packet and its sequence numbers";
    assert_eq!(seems(b"x"), text);
    assert_eq!(
        seems(b"12:00:00.1 IP 10.0.0.1.80 > 10.0.0.2.9: Flags [S]\n"),
        text
    );
    assert_eq!(seems(&[0; 600]), "zeros");
    assert_eq!(seems(&[0xaa; 600]), "not recognised");
    assert_eq!(seems(b"BZh91AY&SY"), "packed by bzip2, which is not read");
    let cut = "a capture that is cut off in its header";
    for (format, bytes) in samples() {
        let header = if format == "pcap" { 24 } else { 12 };
        for length in 8..header {
            assert_eq!(seems(&bytes[..length]), cut, "{format} of {length} bytes");
        }
    }
    // Byte 8 would be a type of ERF.
    assert_eq!(seems(b"results:\nnot a capture, but some text"), text);
    let message = Reader::new(&b"GIF89a"[..]).err().unwrap().to_string();
    assert!(message.starts_with("no capture of a known format: a picture (known are"));
    let message = Reader::new(&b""[..]).err().unwrap().to_string();
    assert!(
        message.starts_with("no capture: it is empty (capture again"),
        "{message}"
    );

    let newer = files::pcap(Order::Big, 0xa1b2_c3d4, 4, 1, &[]);
    let message = |at: usize, value: u8| {
        let mut bytes = newer.clone();
        bytes[at] = value;
        Reader::new(&bytes[..]).err().unwrap().to_string()
    };
    assert_eq!(
        message(5, 3),
        "the capture is broken at byte 4: pcap of version 3.4, of which only 2 is known"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_panics_on_damage(
        which in 0_usize..13,
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = samples().swap_remove(which).1;
        let at = at.index(bytes.len());
        bytes[at] = value;
        let cut = cut.index(bytes.len() + 1);
        let _ = read(&bytes[..cut]);
    }

    #[test]
    fn nothing_panics_on_noise(begin in 0_usize..13, noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = samples().swap_remove(begin).1;
        bytes.truncate(24);
        bytes.extend(&noise);
        let _ = read(&bytes[..]);
        let _ = read(&noise[..]);
    }
}

//! A capture cut into files, and its connections into groups: the same rows, order and summary as of one run.

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use proptest::prelude::*;
use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::Rows;
use rexmit_trace::parts::{
    self, analyse, judge, most_groups, Part, PieceRows, Sink, Source as From,
};
use rexmit_trace::run::{self, Background, Inline, Next, Source, Summary};
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Totals;
use rexmit_wire::capture::{End, FileError, Frame, Reader, Rotation};
use rexmit_wire::table::Key;
use rexmit_wire::{Flags, Headers};

use crate::multipath::many as subflows;
use crate::paths::pcap;
use crate::run as script;
use crate::script::Script;

pub type Packets = Vec<(Time, Vec<u8>, u32)>;

/// Files as one, as the binding reads them.
struct Files<'r, F>(Rotation<'r, F>);

impl<F> Source for Files<'_, F>
where
    F: FnMut(usize) -> io::Result<Cursor<Vec<u8>>> + Send,
{
    type Error = FileError;

    fn advance(&mut self) -> Result<bool, FileError> {
        self.0.advance()
    }

    fn frame(&self) -> Option<Frame<'_>> {
        self.0.frame()
    }

    fn file(&self) -> usize {
        self.0.file().unwrap_or(0)
    }

    fn ended(&self, nth: usize) -> Option<usize> {
        self.0.ends().get(nth).map(|(file, _)| *file)
    }

    fn warnings(&self) -> Vec<String> {
        let cut = self.0.ends().iter().filter_map(|(file, end)| match end {
            End::Truncated { offset } => Some(format!(
                "{file}: the capture ends in the middle of a packet, at byte {offset}"
            )),
            _ => None,
        });
        let undated = self.0.undated().iter();
        let undated = undated.map(|(file, packets)| format!("{file}: {}", run::undated(*packets)));
        let misdated = self.0.misdated().iter();
        let misdated = misdated.map(|(file, found)| format!("{file}: {}", run::misdated(*found)));
        cut.chain(undated).chain(misdated).collect()
    }
}

fn files(files: Vec<Vec<u8>>) -> Result<impl Source<Error = FileError>, FileError> {
    let count = files.len();
    let open = move |file: usize| Ok(Cursor::new(files[file].clone()));
    Rotation::new(count, open).map(Files)
}

/// All rows that there are, and in which pieces they come.
pub fn one_run(captures: &[Vec<u8>], settings: &Settings) -> (Vec<Rows>, Summary) {
    let mut run = Inline::new(files(captures.to_vec()).unwrap(), settings);
    let mut pieces = Vec::new();
    while let Some(rows) = run.next_rows() {
        pieces.push(rows);
    }
    assert!(run.error().is_none());
    (pieces, run.summary())
}

pub fn threads(captures: &[Vec<u8>], settings: &Settings, jobs: usize) -> (Vec<Rows>, Summary) {
    let captures = captures.to_vec();
    let run = Background::new(move || files(captures), settings, jobs);
    let mut pieces = Vec::new();
    loop {
        match run.next(std::time::Duration::from_secs(1)) {
            Next::Rows(rows) => pieces.push(rows),
            Next::Wait => {}
            Next::End(summary, error) => {
                assert_eq!(error, None);
                return (pieces, *summary);
            }
        }
    }
}

/// A file, the packets of its groups and its detail, as step 1 writes them.
type Read = (Part, (Vec<Vec<u8>>, Vec<u8>));

fn read(capture: &[u8], name: &str, groups: u16, settings: &Settings) -> Read {
    let mut packets: Vec<Vec<u8>> = (0..groups).map(|_| Vec::new()).collect();
    let capture = Reader::new(capture).unwrap();
    let writers = packets.iter_mut().collect();
    let (part, of_it) = parts::read(capture, name, settings, writers, |_| true).unwrap();
    let mut detail = Vec::new();
    of_it.write(&mut detail).unwrap();
    // As it is written and read again.
    let mut written = Vec::new();
    part.write(&mut written).unwrap();
    let again = Part::read("a", &written[..]).unwrap();
    assert_eq!(again, part);
    (again, (packets, detail))
}

/// In one group where several have too many connections.
fn in_parts(captures: &[Vec<u8>], groups: u16, settings: &Settings) -> (Vec<Rows>, Summary) {
    match in_groups(captures, groups, settings) {
        Err(parts::Error::Full) => in_groups(captures, 1, settings).unwrap(),
        all => all.unwrap(),
    }
}

fn in_groups(
    captures: &[Vec<u8>],
    groups: u16,
    settings: &Settings,
) -> Result<(Vec<Rows>, Summary), parts::Error> {
    let each = captures.iter().enumerate();
    let (parts, written): (Vec<Part>, Vec<_>) = each
        .map(|(file, capture)| read(capture, &file.to_string(), groups, settings))
        .unzip();
    let mut waiting: Vec<Vec<u8>> = vec![Vec::new(); usize::from(groups)];
    let mut pieces = vec![Vec::new(); usize::from(groups) + 1];
    // In any order.
    for group in (0..groups).rev() {
        let from = From {
            packets: |file: usize, group: u16| {
                Ok((String::new(), &written[file].0[usize::from(group)][..]))
            },
            detail: |file: usize| Ok((String::new(), &written[file].1[..])),
        };
        let to = Sink {
            waiting: &mut waiting[usize::from(group)],
            rows: &mut pieces[usize::from(group)],
        };
        analyse(&parts, group, settings, from, to, |_| true)?;
    }
    let waits = waiting.iter().map(|file| (String::new(), &file[..]));
    let judged = judge(&parts, settings, waits, &mut pieces[usize::from(groups)])?;
    let mut rows = Vec::new();
    for number in 0..judged.pieces() {
        let of_all = (0..).zip(&pieces);
        let begin = |group: u16| judged.begin(group, number).map(|at| at as usize);
        let files = of_all.filter_map(|(group, file)| Some(&file[begin(group)?..]));
        let files = files.map(|file| (String::new(), file));
        let mut piece = PieceRows::new(&judged, files).unwrap();
        while let Some(some) = piece.next_rows().unwrap() {
            rows.push(some);
        }
    }
    Ok((rows, judged.summary()))
}

/// The rows of all pieces in their order.
pub fn together(pieces: Vec<Rows>) -> Rows {
    let mut all = Rows::default();
    pieces
        .into_iter()
        .for_each(|mut piece| all.append(&mut piece));
    all
}

/// The same rows in the same order, and the same sums.
fn assert_same(other: &Rows, one: &Rows, of: &str) {
    assert_eq!(other.totals.rows(), one.totals.rows(), "sums of {of}");
    let without = |rows: &Rows| Rows {
        totals: Totals::default(),
        ..rows.clone()
    };
    assert!(
        without(other) == without(one),
        "other rows of {of}, or in another order"
    );
}

/// Keys by which connections are spread over shards.
const KEYS: [Key; 3] = [
    Key::FIXED,
    Key::new([1, 0x5bc8_fbbc_bde5_c099, 0x87b0_b125_ec1d_7da0]),
    Key::new([7, 0xd76d_4330_f144_6bea, 0x0d46_4138_a623_3255]),
];

pub fn same(captures: &[Vec<u8>], groups: u16, settings: &Settings) -> Rows {
    let (one, summary) = one_run(captures, settings);
    let one = together(one);
    for (number, key) in KEYS.into_iter().enumerate() {
        let settings = Settings {
            key,
            ..settings.clone()
        };
        let jobs = 1 << number;
        let (other, of_threads) = threads(captures, &settings, jobs);
        assert_eq!(of_threads, summary);
        assert_same(&together(other), &one, &format!("{jobs} threads"));
        // The first key is that of the one run, too.
        if number > 0 {
            let (other, of_parts) = in_parts(captures, groups, &settings);
            assert_eq!(of_parts, summary);
            assert_same(&together(other), &one, "parts");
        }
    }
    one
}

/// What a packet's payload is, of connections that speak different protocols.
fn said(port: u16, from_client: bool, number: usize, len: u32) -> Vec<u8> {
    let mut payload = match (port % 5, from_client) {
        (0, true) => format!("GET /{number}?secret HTTP/1.1\r\nHost: {port}.org\r\n\r\n").into(),
        (0, false) => b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
        (1, true) => vec![22, 3, 1, 0, 90, 1, 0, 0, 86, 3, 3],
        (1, false) | (2, _) => vec![23, 3, 3, 0, 90, number as u8],
        _ => Vec::new(),
    };
    payload.truncate(len as usize);
    payload
}

/// An answer of DNS that tells the first address the name of the second.
fn named(ends: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 9, 9];
    bytes.extend(&ends[..4]);
    bytes.extend([0, 53, 0xc0, 0, 0, 0, 0, 0]);
    bytes.extend([7, 7, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    bytes.extend(b"\x05named\0\0\x01\0\x01\xc0\x0c\0\x01\0\x01\0\0\0\x09\0\x04");
    bytes.extend(&ends[4..]);
    bytes
}

/// Connections of all kinds beside each other: losses, resets, ports that are used again, subflows on other shards than their
/// connection's, hosts that count their packets together and apart, and a clock that steps back.
pub fn mixed(connections: u16, steps: &[(usize, i64)]) -> Packets {
    let mut packets: Packets = Vec::new();
    let mut ids: BTreeMap<(u16, u16, bool), u16> = BTreeMap::new();
    for round in 0..2 {
        for (number, (at, headers)) in script::many(connections).into_iter().enumerate() {
            let mut bytes = script::bytes(&headers);
            let port = headers.flow.src_port.max(headers.flow.dst_port);
            let from_client = headers.flow.src_port == port;
            // Two of four hosts count their packets together, the others those of each connection.
            let host = port % 4;
            let of = if host < 2 { 0 } else { port };
            let count = ids
                .entry((host, of, from_client))
                .or_insert(port.wrapping_mul(0x2173));
            *count = count.wrapping_add(1);
            bytes[4..6].copy_from_slice(&count.to_be_bytes());
            bytes[if from_client { 15 } else { 19 }] = host as u8 + 1;
            if number % 41 == 17 && headers.payload_len > 0 {
                // The capture has missed it, or it was lost before.
                continue;
            }
            if number % 97 == 13 {
                bytes[33] |= Flags::RST.0;
            }
            let length = bytes.len() as u32 + headers.payload_len;
            bytes.extend(said(port, from_client, number, headers.payload_len));
            packets.push((at + Duration::from_millis(round * 5_000), bytes, length));
        }
    }
    for port in (1_000..1_000 + connections).step_by(16) {
        let first = packets
            .iter()
            .find(|(_, bytes, _)| bytes[20..22] == port.to_be_bytes());
        let told =
            first.map(|(at, bytes, _)| (*at - Duration::from_millis(1), named(&bytes[12..20])));
        packets.extend(told.map(|(at, bytes)| {
            let length = bytes.len() as u32;
            (at, bytes, length)
        }));
    }
    packets.extend(subflows(connections / 8));
    packets.sort_by_key(|(at, ..)| *at);
    let count = packets.len();
    // Stamps that are late: a file's latest time is not always the last packet's.
    for (number, (at, ..)) in packets.iter_mut().enumerate() {
        if number % 5 == 2 {
            *at = *at - Duration::from_millis((number % 37) as i64);
        }
    }
    for (from, by) in steps {
        for (at, ..) in &mut packets[from % count..] {
            *at += Duration::from_millis(*by);
        }
    }
    packets
}

/// Files of one link after the other, cut at these places.
fn cut(packets: &Packets, places: &[usize]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = places.iter().map(|place| place % packets.len()).collect();
    places.extend([0, packets.len()]);
    places.sort_unstable();
    let ends = places.windows(2);
    ends.map(|pair| pcap(&packets[pair[0]..pair[1]], 65_535))
        .collect()
}

/// Each file once more as two: what goes one way, and what goes the other.
fn halved(packets: &Packets, places: &[usize]) -> Vec<Vec<u8>> {
    let (to_server, to_client): (Packets, Packets) = packets
        .iter()
        .cloned()
        .partition(|(_, bytes, _)| bytes[22..24] == [0, 80]);
    let mut files = cut(&to_server, places);
    files.extend(cut(
        &to_client,
        &places.iter().map(|place| place / 2).collect::<Vec<_>>(),
    ));
    files
}

fn settings(most_connections: usize) -> Settings {
    Settings {
        linger: Duration::from_millis(300),
        idle: Duration::from_secs(3),
        most_connections,
        ..Settings::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_cutting_and_grouping_gives_the_rows_of_one_run(
        connections in 8u16..120,
        places in proptest::collection::vec(0usize..100_000, 0..6),
        steps in proptest::collection::vec((0usize..100_000, -1_500i64..1_500), 0..3),
        groups in 1u16..=40,
        most_connections in prop_oneof![Just(2_000_000usize), Just(4_200), Just(50)],
        both_ways: bool,
        order: u64,
    ) {
        let settings = settings(most_connections);
        let packets = mixed(connections, &steps);
        let mut captures = if both_ways { halved(&packets, &places) } else { cut(&packets, &places) };
        // In whatever order they are given.
        for place in (1..captures.len()).rev() {
            captures.swap(place, order as usize % (place + 1));
        }
        let rows = same(&captures, groups.min(most_groups(&settings)), &settings);
        prop_assert!(rows.connections.len() >= usize::from(connections));
        let told = format!("{:?}", rows.requests);
        prop_assert!(!told.contains("secret"));
    }
}

#[test]
fn a_long_capture_gives_the_rows_of_one_run() {
    // Several stretches a file, and several pieces.
    let packets = mixed(3_000, &[(70_000, -400)]);
    assert!(packets.len() > 150_000, "{}", packets.len());
    let mut places: Vec<usize> = (0..150).map(|place| place * 500).collect();
    places.push(100_000);
    let rows = same(&cut(&packets, &places), 5, &settings(2_000_000));
    assert!(rows.retransmissions.len() > 1_000);
    let named = rows.requests.iter().filter(|of| of.row.name.is_some());
    assert!(named.count() > 1_000);
    let by_dns = rows
        .requests
        .iter()
        .filter(|of| of.row.name.as_deref() == Some("named"));
    assert!(by_dns.count() > 100);
    let subflows = rows
        .connections
        .iter()
        .filter(|of| of.row.multipath.is_some());
    assert!(subflows.count() > 1_000);
    // What waits for what other connections of its host say is among them.
    assert!(rows
        .retransmissions
        .iter()
        .any(|of| of.row.runner_up.is_some()));
}

#[test]
fn a_full_table_gives_the_rows_of_one_run() {
    const MOST: usize = 4_096;
    let mut packets = mixed(400, &[(10_000, -400)]);
    // Each from another host, far more than are remembered.
    let start = packets[0].0;
    packets.extend((0..12_000u32).map(|number| {
        let mut script = Script::new(number as u16);
        script.send(true, Flags::SYN, 0);
        let mut bytes = script::bytes(&script.packets[0].1);
        bytes[12..16].copy_from_slice(&(0x0b00_0000 + number * 37).to_be_bytes());
        let at = start + Duration::from_micros(i64::from(number) * 300);
        (at, bytes, 40)
    }));
    packets.sort_by_key(|(at, ..)| *at);
    let settings = Settings {
        idle: Duration::from_secs(60),
        ..settings(MOST)
    };
    let rows = same(&cut(&packets, &[6_000, 9_000, 15_000]), 5, &settings);
    let evicted = rows.connections.iter().filter(|of| of.row.evicted);
    assert!(evicted.count() > 5_000);
    // What goes on is not put out for what only begins.
    let lost = rows
        .connections
        .iter()
        .filter(|of| of.row.evicted && of.row.forward.packets + of.row.backward.packets > 3);
    assert_eq!(lost.count(), 0);
}

/// Packets with these IP identifications.
fn numbered(packets: &[(Time, Headers)], ids: &[u16]) -> Packets {
    assert_eq!(packets.len(), ids.len());
    let numbered = packets.iter().zip(ids).map(|((at, headers), id)| {
        let mut bytes = script::bytes(headers);
        bytes[4..6].copy_from_slice(&id.to_be_bytes());
        let length = bytes.len() as u32 + headers.payload_len;
        (*at, bytes, length)
    });
    numbered.collect()
}

#[test]
fn how_a_host_numbered_packets_in_the_file_before_counts() {
    // Two connections of a host, each with a count of its own.
    let mut two = Script::new(1_000);
    let mut ids = Vec::new();
    for turn in 0..10 {
        two.flow.src_port = 1_000 + turn % 2;
        two.wait(1).send(true, Flags::ACK, 100);
        ids.push(100 + turn / 2 + (turn % 2) * 0x8080);
    }
    let before = numbered(&two.packets, &ids);
    // Another one of it: what looks new at the end had gone before, and was lost before the monitor; its count alone tells.
    let mut one = Script::new(2_000);
    one.wait(1_000);
    for _ in 0..3 {
        one.send(true, Flags::ACK, 100).wait(40);
        one.send(false, Flags::ACK, 0).wait(1);
    }
    one.send(true, Flags::ACK, 100);
    let again = one.packets.last().expect("it was sent").1;
    one.wait(400).put(again);
    one.wait(40).send(false, Flags::ACK, 0);
    one.wait(500).send(true, Flags::ACK, 100);
    one.wait(40).send(false, Flags::ACK, 0);
    let after = numbered(&one.packets, &[10, 0, 11, 0, 12, 0, 13, 14, 0, 16, 0]);
    let settings = settings(2_000_000);
    let files = [pcap(&before, 65_535), pcap(&after, 65_535)];
    let of = |rows: &Rows| {
        let all = rows.retransmissions.iter();
        all.filter(|of| of.flow.src_port == 2_000).count()
    };
    let both = of(&same(&files, 2, &settings));
    let alone = of(&same(&files[1..], 2, &settings));
    assert_eq!((both, alone), (2, 1));
}

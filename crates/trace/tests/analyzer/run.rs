//! Whole captures: any number of threads gives the same rows.

use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::Rows;
use rexmit_trace::run::{Background, Inline, Next, Summary};
use rexmit_trace::settings::Settings;
use rexmit_wire::capture::Reader;
use rexmit_wire::{Flags, Headers};

use crate::parts::Packets;
use crate::paths;
use crate::script::Script;

/// An IPv4 packet without options or payload, cut behind its TCP header; only its length tells of the payload.
pub fn bytes(headers: &Headers) -> Vec<u8> {
    let (std::net::IpAddr::V4(src), std::net::IpAddr::V4(dst)) =
        (headers.flow.src, headers.flow.dst)
    else {
        panic!("scripts are IPv4")
    };
    let mut bytes = vec![0x45, 0];
    bytes.extend((40 + headers.payload_len as u16).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    bytes.extend(src.octets());
    bytes.extend(dst.octets());
    bytes.extend(headers.flow.src_port.to_be_bytes());
    bytes.extend(headers.flow.dst_port.to_be_bytes());
    bytes.extend(headers.seq.get().to_be_bytes());
    bytes.extend(headers.ack.get().to_be_bytes());
    bytes.extend([0x50, headers.flags.0]);
    bytes.extend(headers.window.to_be_bytes());
    bytes.extend([0; 4]);
    bytes
}

/// The packets as they come off the wire.
pub fn on_wire(packets: &[(Time, Headers)]) -> Packets {
    let length = |headers: &Headers| 40 + headers.payload_len;
    let each = packets.iter();
    each.map(|(at, headers)| (*at, bytes(headers), length(headers)))
        .collect()
}

/// A capture with time stamps in nanoseconds and raw IP packets.
fn pcap(packets: &[(Time, Headers)]) -> Vec<u8> {
    paths::pcap(&on_wire(packets), 65_535)
}

/// Many connections beside each other, some with losses, in the order of time.
pub fn many(connections: u16) -> Vec<(Time, Headers)> {
    let mut packets = Vec::new();
    for n in 0..connections {
        let mut script = Script::new(1_000 + n);
        script.wait(i64::from(n) * 3);
        script.handshake();
        for round in 0..n % 13 {
            script.exchange();
            if (round + n) % 11 == 3 {
                let again = script.packets[script.packets.len() - 2].1;
                script
                    .wait(250)
                    .put(again)
                    .wait(10)
                    .send(true, Flags::ACK, 0);
            }
        }
        if n % 5 != 0 {
            script.close();
        }
        packets.append(&mut script.packets);
    }
    packets.sort_by_key(|(at, _)| *at);
    packets
}

fn settings() -> Settings {
    Settings {
        linger: Duration::from_millis(300),
        ..Settings::default()
    }
}

fn inline(file: &[u8]) -> (Vec<Rows>, Summary) {
    let mut run = Inline::new(Reader::new(file).unwrap(), &settings());
    let mut pieces = Vec::new();
    while let Some(rows) = run.next_rows() {
        if !rows.is_empty() {
            pieces.push(rows);
        }
    }
    assert!(run.error().is_none());
    (pieces, run.summary())
}

fn background(file: Vec<u8>, jobs: usize) -> (Vec<Rows>, Summary, Option<String>) {
    let run = Background::new(
        move || Reader::new(std::io::Cursor::new(file)),
        &settings(),
        jobs,
    );
    let mut pieces = Vec::new();
    loop {
        match run.next(std::time::Duration::from_secs(1)) {
            Next::Rows(rows) => pieces.push(rows),
            Next::Wait => {}
            Next::End(summary, error) => return (pieces, *summary, error),
        }
    }
}

#[test]
fn rows_do_not_depend_on_the_number_of_threads() {
    let packets = many(5_000);
    let file = pcap(&packets);
    let (pieces, summary) = inline(&file);
    assert!(pieces.len() > 3, "{} pieces", pieces.len());
    assert_eq!(summary.frames, packets.len() as u64);
    assert_eq!(summary.counters.connections, 5_000);
    let retransmissions: usize = pieces.iter().map(|rows| rows.retransmissions.len()).sum();
    assert!(retransmissions > 1_000, "{retransmissions}");
    let mut ids: Vec<u64> = pieces
        .iter()
        .flat_map(|rows| &rows.connections)
        .map(|of| of.connection)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5_000);
    for jobs in 1..=3 {
        let (others, other, error) = background(file.clone(), jobs);
        assert_eq!(error, None);
        assert_eq!(other, summary, "{jobs} threads");
        assert!(others == pieces, "{jobs} threads");
    }
}

#[test]
fn a_cut_capture_gives_its_rows_and_a_warning() {
    let mut file = pcap(&many(20));
    file.truncate(file.len() - 3);
    let (pieces, summary, error) = background(file.clone(), 2);
    assert_eq!(error, None);
    assert_eq!(
        pieces
            .iter()
            .map(|rows| rows.connections.len())
            .sum::<usize>(),
        20
    );
    let end = file.len() - 53;
    assert_eq!(
        summary.warnings,
        [format!(
            "the capture ends in the middle of a packet, at byte {end}"
        )]
    );
}

#[test]
fn a_capture_that_breaks_gives_its_rows_and_the_error() {
    let whole = pcap(&many(20));
    let mut file = whole.clone();
    file.extend([0xff; 100]);
    for jobs in [1, 2] {
        let (pieces, summary, error) = background(file.clone(), jobs);
        assert!(error.unwrap().contains(&whole.len().to_string()));
        assert_eq!(
            pieces
                .iter()
                .map(|rows| rows.connections.len())
                .sum::<usize>(),
            20
        );
        assert_eq!(summary.counters.connections, 20);
    }
}

#[test]
fn what_is_no_capture_is_an_error() {
    let (pieces, summary, error) = background(b"garbage, and nothing else".to_vec(), 2);
    assert!(pieces.is_empty());
    assert_eq!(summary.frames, 0);
    assert!(error.unwrap().contains("no capture of a known format"));
}

#[test]
fn a_run_may_be_given_up() {
    let run = Background::new(
        || Reader::new(std::io::Cursor::new(pcap(&many(3_000)))),
        &settings(),
        2,
    );
    assert!(matches!(
        run.next(std::time::Duration::from_secs(60)),
        Next::Rows(_)
    ));
    drop(run);
}

#[test]
fn steps_back_of_the_clock_are_told() {
    let mut packets = many(20);
    let step = packets[50].0.since(packets[10].0);
    packets.swap(10, 50);
    let (_, summary) = inline(&pcap(&packets));
    assert_eq!(summary.steps_back, 2);
    assert!(summary.longest_step_back <= step && summary.longest_step_back > Duration::ZERO);
    assert!(summary
        .warnings
        .iter()
        .any(|warning| warning.contains("steps back twice")));
}

/// What must not depend on one wrong time stamp: the connections, what they sent, and their retransmissions.
fn sums(pieces: &[Rows]) -> [u64; 4] {
    let rows = || pieces.iter().flat_map(|piece| &piece.connections);
    let halves = || rows().flat_map(|of| [&of.row.forward, &of.row.backward]);
    [
        rows().count() as u64,
        rows().filter(|of| of.row.mid_stream).count() as u64,
        halves().map(|half| half.bytes).sum(),
        pieces
            .iter()
            .map(|piece| piece.retransmissions.len() as u64)
            .sum(),
    ]
}

#[test]
fn one_wrong_time_stamp_splits_no_connection() {
    let sane = many(30);
    let expected = sums(&inline(&pcap(&sane)).0);
    assert!(expected[3] > 0, "{expected:?}");
    let hours = Duration::from_secs(5 * 3_600);
    let base = hours * 2;
    // Before the first and after the last there may have been any silence.
    for at in (1..sane.len() - 1).step_by(7) {
        for away in [hours, -hours] {
            let mut packets = sane.clone();
            packets.iter_mut().for_each(|(time, _)| *time += base);
            packets[at].0 += away;
            let (pieces, summary) = inline(&pcap(&packets));
            let found = sums(&pieces);
            assert_eq!(found[..3], expected[..3], "packet {at}, {away}");
            // The packet itself may be the retransmission, whose time is what was lost.
            assert!(found[3].abs_diff(expected[3]) <= 1, "packet {at}, {away}");
            let told = summary.warnings.join("\n");
            assert!(
                told.contains("1 packet has a wrong time stamp, 5 h"),
                "{told}"
            );
            assert_eq!(summary.steps_back, 0);
            let last = summary.latest.unwrap();
            assert!(last.since(sane[sane.len() - 1].0 + base) <= Duration::ZERO);
        }
    }
}

#[test]
fn a_clock_set_back_splits_a_connection_once() {
    // Longer than two stretches, of which each looks for connections that are over.
    let mut script = Script::new(40_000);
    script.wait(7_200_000).handshake().exchange();
    script.wait(-3_600_000);
    for _ in 0..20_000 {
        script.exchange();
    }
    let (pieces, summary) = inline(&pcap(&script.packets));
    assert!(summary.frames > 65_536, "{}", summary.frames);
    assert_eq!(summary.steps_back, 1);
    assert_eq!(sums(&pieces)[..2], [2, 1]);
}

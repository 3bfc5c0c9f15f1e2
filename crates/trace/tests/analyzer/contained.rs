//! A defect in one connection costs that connection: all others are as in a capture without it.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::{Rows, MOST_NAMED};
use rexmit_trace::fault::{Fault, Moment};
use rexmit_trace::run::{Background, Next, Promptly, Source, Summary};
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Plan;
use rexmit_wire::capture::{Frame, Reader};
use rexmit_wire::FlowKey;

use crate::multipath::many as subflows;
use crate::parts::{mixed, one_run, same, threads, together, Packets};
use crate::paths::pcap;
use crate::run::{many, on_wire};
use crate::script::Script;

/// A connection that retransmits, and one that is open to the end and does not.
const TROUBLED: u16 = 1_012;
const QUIET: u16 = 1_005;
/// The second of three subflows.
const SUBFLOW: u16 = 10_004;

fn settings() -> Settings {
    Settings {
        linger: Duration::from_millis(300),
        idle: Duration::from_secs(3),
        ..Settings::default()
    }
}

fn with(port: u16, at: Moment) -> Settings {
    Settings {
        fault: Some(Fault { port, at }),
        ..settings()
    }
}

fn all() -> Packets {
    let mut packets = on_wire(&many(200));
    packets.extend(subflows(6));
    packets.sort_by_key(|(at, ..)| *at);
    packets
}

fn ports(packet: &[u8]) -> [u16; 2] {
    [20, 22].map(|at| u16::from_be_bytes([packet[at], packet[at + 1]]))
}

/// The capture without the connections of these ports.
fn without(packets: &Packets, left_out: &[u16]) -> Packets {
    let is_out = |packet: &[u8]| ports(packet).iter().any(|port| left_out.contains(port));
    let all = packets.iter().cloned();
    all.filter(|(_, bytes, _)| !is_out(bytes)).collect()
}

fn is_of(flow: &FlowKey, ports: &[u16]) -> bool {
    ports.contains(&flow.src_port) || ports.contains(&flow.dst_port)
}

/// The rows with the numbers that connections have in the order of their beginnings.
fn renumbered(mut rows: Rows) -> Rows {
    rows.sort();
    let numbers: BTreeMap<u64, u64> = rows
        .connections
        .iter()
        .map(|of| of.connection)
        .zip(0..)
        .collect();
    for of in &mut rows.connections {
        of.connection = numbers[&of.connection];
        if let Some(multipath) = &mut of.row.multipath {
            multipath.connection = numbers[&multipath.connection];
        }
    }
    for of in &mut rows.retransmissions {
        of.connection = numbers[&of.connection];
        if let Some(multipath) = &mut of.row.multipath {
            multipath.connection = numbers[&multipath.connection];
        }
    }
    for of in &mut rows.whatif {
        of.connection = numbers[&of.connection];
    }
    rows
}

fn assert_same(with: Rows, without: Rows) {
    fn same<T: PartialEq + std::fmt::Debug>(with: &[T], without: &[T]) {
        for (with, without) in with.iter().zip(without) {
            assert_eq!(with, without);
        }
        assert_eq!(with.len(), without.len());
    }
    let (with, without) = (renumbered(with), renumbered(without));
    assert_eq!(with.totals.rows(), without.totals.rows());
    same(&with.connections, &without.connections);
    same(&with.retransmissions, &without.retransmissions);
    same(&with.whatif, &without.whatif);
}

/// All that failed, named; and the packets that are left out.
fn failed(summary: &Summary, ports: &[u16]) -> u64 {
    let failures = &summary.counters.failures;
    assert_eq!(failures.count, ports.len() as u64, "{failures:#?}");
    for failure in &failures.named {
        assert!(is_of(&failure.flow, ports), "{failures:#?}");
        assert!(
            failure.defect.contains("fault.rs") && failure.defect.contains("a test planted"),
            "{failures:#?}"
        );
    }
    failures.packets
}

/// On one thread, on two, and in parts.
fn costs_no_other(packets: &Packets, settings: &Settings, ports: &[u16]) -> Summary {
    let middle = packets.len() / 2;
    let captures: Vec<_> = [&packets[..middle], &packets[middle..]]
        .map(|part| pcap(part, 65_535))
        .into();
    let rows = same(&captures, 3, settings);
    let (_, summary) = one_run(&captures, settings);
    let clean = Settings {
        fault: None,
        ..settings.clone()
    };
    let others = without(packets, ports);
    let (pieces, _) = one_run(&[pcap(&others, 65_535)], &clean);
    assert!(others.len() < packets.len());
    assert_same(rows, together(pieces));
    summary
}

#[test]
fn a_panic_at_any_packet() {
    let packets = all();
    let of_it = packets.len() - without(&packets, &[TROUBLED]).len();
    // The first two are given when the third comes.
    for (number, left_out) in [(1, of_it - 2), (3, of_it - 2), (20, of_it - 19)] {
        let settings = with(TROUBLED, Moment::Packet(number));
        let summary = costs_no_other(&packets, &settings, &[TROUBLED]);
        assert_eq!(failed(&summary, &[TROUBLED]), left_out as u64, "{number}");
    }
}

#[test]
fn a_panic_in_memory_that_connections_share() {
    let summary = costs_no_other(&all(), &with(TROUBLED, Moment::View), &[TROUBLED]);
    failed(&summary, &[TROUBLED]);
}

#[test]
fn a_panic_at_the_end() {
    let plan = Plan::parse(&["default", "grid"]).unwrap();
    let settings = Settings {
        whatif: Some(Arc::new(plan)),
        ..with(TROUBLED, Moment::End)
    };
    let packets = on_wire(&many(14));
    let packets = [packets, subflows(1)].concat();
    let summary = costs_no_other(&packets, &settings, &[TROUBLED]);
    failed(&summary, &[TROUBLED]);
}

#[test]
fn a_subflow_takes_its_connection_with_it_and_no_other() {
    let three = [SUBFLOW - 1, SUBFLOW, SUBFLOW + 1];
    // Where it fails at once, the third has not joined yet: it is one of a connection that was not seen.
    for (moment, failing) in [
        (Moment::Multipath, &three[..2]),
        (Moment::Packet(5), &three),
        (Moment::End, &three),
    ] {
        let summary = costs_no_other(&all(), &with(SUBFLOW, moment), failing);
        failed(&summary, failing);
    }
}

#[test]
fn what_waits_for_its_host_is_judged_without_it() {
    let captures = [pcap(&mixed(300, &[]), 65_535)];
    let (pieces, _) = one_run(&captures, &settings());
    let mut rows = together(pieces);
    // Any connection of which something waited.
    let found = (1_000..1_300).find_map(|port| {
        let settings = with(port, Moment::Judged);
        let (_, summary) = one_run(&captures, &settings);
        let failures = summary.counters.failures;
        (failures.count > 0).then_some((settings, failures.named))
    });
    let (settings, named) = found.unwrap();
    let is_out = |start: Time, flow: FlowKey| {
        let mut named = named.iter();
        named.any(|failure| (failure.start, failure.flow) == (start, flow))
    };
    rows.connections.retain(|of| !is_out(of.start, of.flow));
    rows.retransmissions.retain(|of| !is_out(of.start, of.flow));
    let mut left = same(&captures, 3, &settings);
    left.whatif.clear();
    rows.whatif.clear();
    assert_same(left, rows);
}

/// Rows come out promptly, as of a capture without an end; quiet connections are written down.
fn always(settings: Settings) -> Settings {
    Settings {
        promptly: Some(Promptly {
            stretch: Duration::from_millis(200),
            wait: Duration::from_secs(2),
        }),
        most_connections: 300,
        ..settings
    }
}

#[test]
fn an_analysis_without_an_end_goes_on() {
    let packets = all();
    let captures = [pcap(&packets, 65_535)];
    for (port, moment) in [
        (TROUBLED, Moment::Packet(20)),
        (TROUBLED, Moment::End),
        (QUIET, Moment::Thaw),
        (QUIET, Moment::End),
    ] {
        let settings = always(with(port, moment));
        let (pieces, summary) = one_run(&captures, &settings);
        failed(&summary, &[port]);
        let some: Vec<Rows> = pieces.into_iter().filter(|one| !one.is_empty()).collect();
        assert!(some.len() > 5, "{} pieces", some.len());
        for jobs in 1..=3 {
            let (others, other) = threads(&captures, &settings, jobs);
            assert_eq!(other, summary, "{jobs} threads");
            assert!(others == some, "{jobs} threads");
        }
        let clean = always(self::settings());
        let others = pcap(&without(&packets, &[port]), 65_535);
        let (pieces, _) = one_run(&[others], &clean);
        assert_same(together(some), together(pieces));
    }
}

#[test]
fn rows_that_it_gave_before_are_dropped_where_they_wait() {
    let mut long = Script::new(TROUBLED);
    long.handshake();
    for round in 0..400 {
        long.exchange();
        if round % 7 == 3 {
            let again = long.packets[long.packets.len() - 2].1;
            long.wait(250).put(again).wait(10);
            long.send(true, rexmit_wire::Flags::ACK, 0);
        }
    }
    let last = long.packets.len() as u64;
    let captures = [pcap(&on_wire(&long.packets), 65_535)];
    let (pieces, _) = one_run(&captures, &settings());
    assert!(together(pieces).retransmissions.len() > 50);
    let (pieces, summary) = one_run(&captures, &with(TROUBLED, Moment::Packet(last)));
    assert_eq!(failed(&summary, &[TROUBLED]), 1);
    assert_eq!(together(pieces).len(), 0);
}

#[test]
fn its_further_packets_are_left_out_until_a_syn() {
    let mut script = Script::new(TROUBLED);
    script.handshake().exchange().exchange().wait(100);
    let first = script.packets.len() as u64;
    // The same ports once more, and then after a long silence without a SYN.
    script.handshake().exchange().close();
    let second = script.packets.len() as u64 - first;
    script.wait(60_000).exchange().exchange();
    let captures = [pcap(&on_wire(&script.packets), 65_535)];
    let settings = with(TROUBLED, Moment::Packet(5));
    let (pieces, summary) = one_run(&captures, &settings);
    assert_eq!(summary.counters.connections, 3);
    let failures = &summary.counters.failures;
    assert_eq!(failures.count, 3);
    assert_eq!(failures.packets, (first - 4) + (second - 4) + 4);
    assert_eq!(together(pieces).len(), 0);
}

#[test]
fn very_many_that_fail_are_counted_and_some_are_named() {
    // All are to port 80.
    let packets = on_wire(&many(300));
    let captures = [pcap(&packets, 65_535)];
    let fault = with(80, Moment::Packet(3));
    let (pieces, summary) = one_run(&captures, &fault);
    assert_eq!(together(pieces).len(), 0);
    assert_eq!(summary.counters.failures.count, 300);
    // Where few are remembered, few of those that failed are, and what comes of others is as if they began.
    let few = Settings {
        most_connections: 40,
        ..fault
    };
    let (_, summary) = one_run(&captures, &few);
    let failures = &summary.counters.failures;
    assert!(failures.count > 300, "{}", failures.count);
    assert_eq!(failures.named.len(), MOST_NAMED);
    assert_eq!(threads(&captures, &few, 2).1, summary);
}

/// A capture whose reading panics behind so many packets.
struct Breaks<'r>(Reader<'r>, u32);

impl Source for Breaks<'_> {
    type Error = <Reader<'static> as Source>::Error;

    fn advance(&mut self) -> Result<bool, Self::Error> {
        self.1 -= 1;
        assert!(self.1 > 0, "a defect outside of any connection");
        self.0.advance()
    }

    fn frame(&self) -> Option<Frame<'_>> {
        self.0.frame()
    }
}

#[test]
fn a_panic_outside_of_connections_leaves_the_rows_so_far() {
    let packets = on_wire(&many(1_500));
    assert!(packets.len() > 40_000);
    for jobs in 1..=2 {
        let file = Cursor::new(pcap(&packets, 65_535));
        let open = move || Reader::new(file).map(|reader| Breaks(reader, 40_000));
        let run = Background::new(open, &settings(), jobs);
        let mut connections = 0;
        loop {
            match run.next(std::time::Duration::from_secs(1)) {
                Next::Rows(rows) => connections += rows.connections.len(),
                Next::Wait => {}
                Next::End(summary, error) => {
                    assert_eq!(error.unwrap(), "the analysis failed: a defect");
                    assert!(summary.frames >= 32_768, "{}", summary.frames);
                    break;
                }
            }
        }
        // On several threads it depends on how far they had come.
        assert!(connections > 500 || jobs > 1, "{connections}");
    }
}

use std::net::{IpAddr, Ipv4Addr};

use rexmit_loss::{Bare, BareDropped, Carried, Dropped, Event, Span, Totals, TransferId};
use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, SeqNum};

use crate::story::Tally;
use crate::{
    Again, BurstSeen, Cell, Counts, Ended, Plan, Protocol, Rows, Run, Sender, SocketInfo, Start,
    Story, SubflowSeen, SubflowState, Watched,
};

const CELL: &str = r#"{
  "version": 1,
  "cells": [{
    "id": 3, "label": "x", "network": {"family": 4, "mtu": 1500, "paths": [
      {"rate_bps": 54000000, "delay_ns": 20000000, "jitter_ns": 0, "loss": 0.0, "queue_packets": 1000},
      {"rate_bps": 54000000, "delay_ns": 30000000, "jitter_ns": 0, "loss": 0.0, "queue_packets": 1000}]},
    "protocol": "mptcp", "first_path": 2, "sysctls": {}, "congestion_control": "cubic",
    "workload": {"server": "burst", "count": 2, "segments": 3, "gap_ns": 2000000000},
    "loss": {"rule": "pattern", "pattern": "path 1 burst 2 data -1"},
    "starts": [{"repetition": 0, "phase_ns": 7}], "phase_period_ns": 256000000, "capture": false,
    "transfer_timeout_ns": 1}]
}"#;

fn cell() -> Cell {
    Plan::parse(CELL).unwrap().cells.remove(0)
}

fn error(was: &str, is: &str) -> String {
    assert!(CELL.contains(was), "{was}");
    let error = Plan::parse(&CELL.replace(was, is)).unwrap_err();
    format!("{error:#}")
}

#[test]
fn a_plan_has_cells_of_paths() {
    let cell = cell();
    assert_eq!(
        (cell.network.paths(), cell.protocol, cell.first_path),
        (2, Protocol::Mptcp, 2)
    );
    assert_eq!(cell.workload.bursts().unwrap().bytes_each(1428), 4284);
    assert!(!cell.needs_client() && !cell.lossy());
    assert!(cell.settling_ns() > 60_000_000);
}

#[test]
fn cells_of_paths_that_make_no_sense_are_refused() {
    for (was, is, said) in [
        (
            "\"first_path\": 2",
            "\"first_path\": 3",
            "first_path = 3: must be 1 to 2",
        ),
        ("path 1 burst 2", "path 3 burst 2", "path 3 of 2"),
        ("path 1 burst 2", "path 1 burst 3", "burst 3 of 2"),
        ("data -1", "data fin", "bursts have no FIN"),
        (
            "data -1",
            "dat -1",
            "\"dat\" at column 16, expected data or ack",
        ),
        ("\"mptcp\"", "\"tcp\"", "path 1, TCP goes on path 2 alone"),
        ("\"count\": 2", "\"count\": 0", "bursts.count = 0"),
        (
            "\"segments\": 3",
            "\"segments\": 3, \"bytes\": 4",
            "segments or its bytes",
        ),
        ("\"segments\": 3", "\"segments\": 0", "bytes in all"),
        ("\"segments\": 3", "\"bytes\": 9000000000", "bytes in all"),
        ("\"gap_ns\": 2", "\"gap_ns\": 200000", "bursts.gap_ns = "),
        ("\"loss\": 0.0", "\"loss\": 2.0", "must be 0 to 1"),
        ("\"mptcp\"", "\"sctp\"", "unknown variant"),
        (
            "\"rule\": \"pattern\"",
            "\"rule\": \"pattern\", \"mode\": \"hold\"",
            "unknown field `mode`",
        ),
        (
            "\"count\": 2",
            "\"count\": 2, \"client\": \"curl\"",
            "unknown field `client`",
        ),
    ] {
        let text = error(was, is);
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn a_rule_is_refused_where_the_rehearsal_lacks_what_is_named() {
    let cell = cell();
    let clients = [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(10, 0, n, 2)));
    assert!(cell.rule(3000, &clients, None).is_ok());
    let empty = Totals::new(vec![vec![1, 2], vec![0, 3]]);
    let error = cell
        .rule(3000, &clients, Some(&empty))
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("burst 2: 0 packets on path 1, 3 on path 2"),
        "{error}"
    );
}

struct Kernel;

impl Sender for Kernel {
    fn socket(&mut self, flow: FlowKey) -> anyhow::Result<Option<SocketInfo>> {
        Ok(Some(SocketInfo {
            rto_us: u32::from(flow.dst_port),
            srtt_us: 2,
            sack: true,
        }))
    }

    fn mechanism(&mut self, _: &Again) -> anyhow::Result<Mechanism> {
        Ok(Mechanism::Tlp)
    }
}

const SEGMENT: u64 = 1000;

/// The packet of new data with this number in the stream.
fn new(at: u64, path: u32, burst: u32, number: u64) -> Carried {
    let host = |n| IpAddr::V4(Ipv4Addr::new(10, 0, n, 2));
    Carried {
        flow: FlowKey {
            src: host(0),
            dst: host(path as u8),
            src_port: 80,
            dst_port: 40_000 + path as u16,
        },
        transfer: TransferId(u64::from(burst) - 1),
        path,
        stretch: burst,
        position: Some(1),
        data: number * SEGMENT..(number + 1) * SEGMENT,
        span: Span {
            seq: SeqNum::new(1),
            relative: 1,
            len: SEGMENT as u32,
            fin: false,
        },
        first_sent: None,
        first_path: None,
        reinjected: false,
        was_dropped: false,
        need: None,
        highest: true,
        dropped: false,
        at: Time::from_nanos(at),
    }
}

fn dropped(carried: Carried) -> Carried {
    Carried {
        dropped: true,
        ..carried
    }
}

fn again(carried: Carried, need: Need, was_dropped: bool) -> Carried {
    Carried {
        need: Some(need),
        was_dropped,
        ..carried
    }
}

fn elsewhere(carried: Carried) -> Carried {
    Carried {
        position: None,
        reinjected: true,
        need: Some(Need::Needed),
        was_dropped: true,
        first_path: Some(1),
        first_sent: Some(Time::from_nanos(40)),
        ..carried
    }
}

fn told(story: &mut Story, carried: Carried) -> Option<crate::Label> {
    let loss = carried.dropped.then_some(Dropped {
        flow: carried.flow,
        transfer: carried.transfer,
        span: carried.span,
        again: carried.need.is_some(),
        at: carried.at,
    });
    let event = Event::Carried(Box::new(carried));
    let told = story.event(&event, &mut Kernel).unwrap();
    if let Some(loss) = loss {
        story.event(&Event::Dropped(loss), &mut Kernel).unwrap();
    }
    told
}

/// Two bursts of three; the last packet of path 1 is dropped, and so is its probe; path 2 brings it.
fn story() -> Watched {
    let mut story = Story::new(2, 2, false);
    for (number, path) in [(0, 1), (1, 2), (2, 1)] {
        let at = number;
        assert_eq!(told(&mut story, new(at, path, 1, number)), None);
    }
    told(&mut story, again(new(20, 1, 1, 0), Need::Spurious, false));
    told(&mut story, new(30, 2, 2, 3));
    told(&mut story, new(31, 2, 2, 4));
    told(&mut story, dropped(new(40, 1, 2, 5)));
    let probe = dropped(again(new(50, 1, 2, 5), Need::Needed, true));
    assert_eq!(
        told(&mut story, probe),
        Some((Mechanism::Tlp, Need::Needed))
    );
    let there = elsewhere(new(60, 2, 2, 5));
    assert_eq!(
        told(&mut story, there),
        Some((Mechanism::MptcpReinject, Need::Needed))
    );
    told(&mut story, again(new(70, 1, 2, 5), Need::Spurious, true));
    let ack = Event::BareDropped(BareDropped {
        flow: new(0, 1, 1, 0).flow,
        packet: Bare::Ack(1),
        at: Time::from_nanos(1),
    });
    assert_eq!(story.event(&ack, &mut Kernel).unwrap(), None);
    let watched = story.end();
    assert_eq!(story.end().retransmissions.len(), 0, "it begins afresh");
    watched
}

#[test]
fn a_story_is_about_the_dropped_data_wherever_they_go() {
    let watched = story();
    assert_eq!(watched.sent.packets.packets(), [[2, 1], [1, 2]]);
    assert_eq!(
        (watched.sent.dropped_segments, watched.sent.dropped_packets),
        (1, 2)
    );
    assert_eq!(watched.sent.t_drop, Some(Time::from_nanos(40)));
    assert_eq!(watched.sent.t_retransmit, Some(Time::from_nanos(50)));
    assert_eq!(watched.mechanism, Some(Mechanism::Tlp));
    assert_eq!(watched.at_drop.unwrap().rto_us, 40_001);
    let tally = |packets, retransmissions, reinjections| Tally {
        packets,
        retransmissions,
        reinjections,
    };
    assert_eq!(watched.sent.paths, [tally(3, 3, 0), tally(3, 0, 1)]);
    assert_eq!(
        (
            watched.sent.reinjected_bytes,
            watched.sent.spurious_retransmissions
        ),
        (1000, 2)
    );
    let there = &watched.retransmissions[2];
    let route = there.route.unwrap();
    assert_eq!(
        (route.path, route.first_path, route.data_seq),
        (2, Some(1), 5001)
    );
    assert_eq!(there.first_sent_ns, Some(40));
}

#[test]
fn without_the_rule_s_loss_alone_a_retransmission_s_need_is_unknown() {
    let mut story = Story::new(2, 2, true);
    told(&mut story, new(1, 1, 1, 0));
    let said = told(&mut story, again(new(20, 1, 1, 0), Need::Spurious, false));
    assert_eq!(said, Some((Mechanism::Tlp, Need::Unknown)));
    assert_eq!(
        story.end().mechanism,
        Some(Mechanism::Tlp),
        "without drops, of the first retransmission"
    );
}

fn run() -> Run {
    let burst = |start, end: Option<u64>| BurstSeen {
        t_start: Time::from_nanos(start),
        t_end: end.map(Time::from_nanos),
        bytes: 3000,
    };
    let subflow = |path, at_end| SubflowSeen {
        path,
        client_port: 40_000 + path as u16,
        t_confirmed: None,
        at_end,
    };
    Run {
        bursts: vec![burst(0, Some(10)), burst(30, Some(95))],
        subflows: vec![
            subflow(1, None),
            subflow(
                2,
                Some(SubflowState {
                    srtt_us: 5,
                    rto_us: 6,
                    cwnd: 10,
                }),
            ),
        ],
        counts: Counts {
            retransmissions: 3,
            probes: 1,
            ..Counts::default()
        },
        ended: Ended::Finished,
        scheduler: Some("default".into()),
        mptcp_retransmissions: Some(1),
        ..Run::default()
    }
}

/// The rows of a type of event.
fn rows(run: &Run, rehearsal: Vec<Vec<u64>>) -> impl Fn(&str) -> Vec<serde_json::Value> {
    let start = Start {
        repetition: 4,
        phase_ns: 7,
        boundary_ns: None,
    };
    let mut text = Vec::new();
    Rows::new(&cell(), &start, story(), run, &Totals::new(rehearsal))
        .write(&mut text)
        .unwrap();
    let lines = String::from_utf8(text).unwrap();
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    move |kind| {
        let of_kind = lines.iter().filter(|line| line["type"] == kind);
        of_kind.cloned().collect()
    }
}

#[test]
fn the_row_is_of_the_last_burst() {
    let rows = rows(&run(), vec![vec![2, 1], vec![1, 2]]);
    let row = &rows("transfer")[0];
    for (name, value) in [
        ("cell", 3),
        ("repetition", 4),
        ("t_start_ns", 30),
        ("t_end_ns", 95),
        ("t_total_ns", 65),
        ("t_recover_ns", 10),
        ("transfer_size_bytes", 3000),
        ("transfer_segments", 3),
        ("retransmissions", 3),
        ("reinjections", 1),
        ("subflows", 2),
        ("client_port", 40_002),
        ("first_path", 2),
        ("spurious_retransmissions", 2),
    ] {
        assert_eq!(row[name], value, "{name}");
    }
    assert_eq!(
        (&row["exact"], &row["note"]),
        (&true.into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&row["path_packets"], &row["protocol"]),
        (&"1 2".into(), &"mptcp".into())
    );
    assert_eq!(
        (&row["is_tlp"], &row["mechanism"]),
        (&true.into(), &"tlp".into())
    );
    assert_eq!(
        (
            &row["lost_segments"],
            &row["loss_mode"],
            &row["loss_pattern"]
        ),
        (
            &0.into(),
            &"sequence".into(),
            &"path 1 burst 2 data -1".into()
        )
    );
    let retransmission = &rows("retransmission")[2];
    assert_eq!(retransmission["lost_segments"], 0);
    assert_eq!(
        (&retransmission["mechanism"], &retransmission["path"]),
        (&"mptcp-reinject".into(), &2.into())
    );
    assert_eq!(
        (&retransmission["seq"], &retransmission["data_seq"]),
        (&1.into(), &5001.into())
    );
    let burst = &rows("burst")[1];
    assert_eq!(
        (&burst["burst"], &burst["completion_ns"], &burst["packets"]),
        (&2.into(), &65.into(), &3.into())
    );
    let subflow = &rows("subflow")[1];
    assert_eq!(
        (&subflow["reinjections"], &subflow["cwnd"]),
        (&1.into(), &10.into())
    );
}

#[test]
fn differences_between_witnesses_show() {
    let mut run = run();
    run.counts.retransmissions = 5;
    run.ended = Ended::TimedOut;
    run.bursts[1].t_end = None;
    let row = &rows(&run, vec![vec![2, 1], vec![2, 1]])("transfer")[0];
    assert_eq!(row["exact"], false);
    assert_eq!(
        row["note"],
        "path 1 burst 2 had 1 packets of new data, 2 without loss; the sender counts 5 retransmissions, the filter 3"
    );
    assert!(row["t_total_ns"].is_null() && row["t_end_ns"].is_null());
    assert_eq!(
        (&row["complete"], &row["ended"]),
        (&false.into(), &"timed-out".into())
    );
}

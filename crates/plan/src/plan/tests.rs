use rexmit_loss::Mode;

use super::*;
use crate::Loss;

/// A plan as it was written before stacks, patterns and packet logs.
const OLD: &str = r#"{
  "version": 1, "heartbeat_s": 5.0,
  "programs": {"tc": "/sbin/tc", "nginx": null, "curl": null, "lynx": null},
  "cells": [{
    "id": 3, "label": "x", "sysctls": {"net.ipv4.tcp_sack": "1"}, "congestion_control": "cubic",
    "network": {"family": 4, "at": "wire", "mtu": 1500, "links": [
      {"rate_bps": 1000, "delay_ns": 1, "jitter_ns": 0, "loss": 0.0, "queue_packets": 1000},
      {"rate_bps": 1000, "delay_ns": 1, "jitter_ns": 0, "loss": 0.0, "queue_packets": 1000}]},
    "workload": {"server": "nginx", "client": "builtin", "segments": 100, "bytes": null, "receive_window_bytes": null},
    "loss": {"rule": "tail", "segments": 5, "mode": "sequence", "hold_limit_ns": 3000000000},
    "starts": [{"repetition": 0, "phase_ns": 7}], "phase_period_ns": 256000000, "capture": false,
    "transfer_timeout_ns": 1}]
}"#;

#[test]
fn an_old_plan_still_reads() {
    let plan = Plan::parse(OLD).unwrap();
    let cell = &plan.cells[0];
    assert!(!cell.packets && cell.stack.is_none());
    let Loss::Tail(tail) = &cell.loss else {
        panic!("{:?}", cell.loss)
    };
    assert_eq!((tail.segments, tail.mode), (5, Mode::Sequence));
    assert!(!cell.lossy());
}

#[test]
fn a_plan_may_name_a_stack_and_a_pattern() {
    let text = OLD
        .replace(
            r#""rule": "tail", "segments": 5, "mode": "sequence", "hold_limit_ns": 3000000000"#,
            r#""rule": "pattern", "pattern": "data 3""#,
        )
        .replace(
            r#""capture": false"#,
            r#""capture": false, "packets": true, "stack": {"name": "linux-3.10", "hz": 1000, "set": {"min_rto": "100ms"}}"#,
        )
        .replace(r#""programs": {"tc": "/sbin/tc", "nginx": null, "curl": null, "lynx": null},"#, "");
    let plan = Plan::parse(&text).unwrap();
    let cell = &plan.cells[0];
    let Loss::Pattern(loss) = &cell.loss else {
        panic!("{:?}", cell.loss)
    };
    assert_eq!(loss.pattern, "data 3");
    let stack = cell.stack.as_ref().unwrap();
    assert_eq!((stack.name.as_str(), stack.hz), ("linux-3.10", Some(1000)));
    assert_eq!(stack.set["min_rto"], "100ms");
    assert!(cell.packets && plan.programs.curl().is_err());
}

#[test]
fn numbers_that_cannot_be_reckoned_with_are_refused() {
    for (was, is, error) in [
        (
            "\"delay_ns\": 1",
            "\"delay_ns\": 9223372036854775807",
            "delay_ns = 9223372036854775807: must be",
        ),
        (
            "\"jitter_ns\": 0",
            "\"jitter_ns\": 18446744073709551615",
            "jitter_ns = ",
        ),
        (
            "\"phase_ns\": 7",
            "\"phase_ns\": 18446744073709551615",
            "phase_ns = ",
        ),
        ("256000000", "18446744073709551615", "phase_period_ns = "),
        (
            "\"loss\": 0.0",
            "\"loss\": 1.5",
            "loss = 1.5: must be 0 to 1",
        ),
    ] {
        let told = format!("{:#}", Plan::parse(&OLD.replace(was, is)).unwrap_err());
        assert!(told.contains(error), "{told}");
        assert!(told.contains("cell 3 (x)"), "{told}");
    }
}

#[test]
fn what_is_not_known_is_refused() {
    for (was, is) in [
        ("\"version\": 1", "\"version\": 2"),
        ("\"label\"", "\"labels\""),
        ("\"rule\": \"tail\"", "\"rule\": \"tail\", \"x\": 1"),
        ("\"rule\": \"tail\"", "\"rule\": \"head\""),
    ] {
        assert!(Plan::parse(&OLD.replace(was, is)).is_err(), "{is}");
    }
}

/// A plan of one part of a corpus.
const PARTS: &str = r#"{
  "version": 1, "parts": [{
    "name": "003-acks", "causes": 1000, "snap_bytes": 96, "mtu": 1500, "offload": true,
    "ways": {"h1_out": "delay 1ms", "h1_in": "delay 2ms", "h2_out": "delay 3ms", "h2_in": "delay 4ms"},
    "changes": [{"at_ns": 5, "way": "h1_in", "netem": "delay 9ms"}],
    "sysctls": {}, "congestion_control": "reno", "patience_ns": 1, "settling_ns": 2,
    "connections": [{"start_ns": 3, "server": "h2", "closer": "client", "close_ns": 4,
      "exchanges": [{"think_ns": 0, "request_bytes": 10, "serve_ns": 0, "response_bytes": 20}]}]}]
}"#;

#[test]
fn a_plan_may_be_parts_of_a_corpus() {
    let plan = Plan::parse(PARTS).unwrap();
    let part = &plan.parts[0];
    assert_eq!(part.changes[0].way, crate::Way::H1In);
    let connection = &part.connections[0];
    assert_eq!(connection.server, crate::Side::H2);
    assert!(connection.reading.is_none() && !connection.exchanges[0].duplex);
}

#[test]
fn a_part_that_cannot_be_is_refused() {
    for (from, to, says) in [
        ("003-acks", "../x", "no name for a file"),
        (
            r#""close_ns": 4"#,
            r#""close_ns": 86400000000001"#,
            "at most",
        ),
        (r#""at_ns": 5"#, r#""at_ns": 5, "x": 1"#, "unknown field"),
        (
            r#""offload": true"#,
            r#""offload": true, "tails": [{"from_ns": 9, "until_ns": 9, "side": "h1", "fin": true}]"#,
            "one after another",
        ),
    ] {
        let error = Plan::parse(&PARTS.replace(from, to)).unwrap_err();
        assert!(format!("{error:#}").contains(says), "{error:#}");
    }
}

#[test]
fn offloads_need_what_they_rest_on() {
    let with = |offload: &str| {
        let both = format!(r#""capture": false, "offload": {offload}"#);
        Plan::parse(&OLD.replace(r#""capture": false"#, &both))
    };
    let of = |offload: &str| {
        let found = with(offload).unwrap().cells[0].offload;
        (found.checksum, found.scatter_gather, found.segmentation)
    };
    assert_eq!(of("{}"), (false, true, false));
    assert_eq!(of(r#"{"checksum": true}"#), (true, true, false));
    assert_eq!(
        Plan::parse(OLD).unwrap().cells[0].offload,
        crate::Offloads::default()
    );
    for wrong in [
        r#"{"segmentation": true}"#,
        r#"{"checksum": true, "scatter_gather": false, "segmentation": true}"#,
    ] {
        let error = with(wrong).unwrap_err();
        assert!(
            format!("{error:#}").contains("segmentation needs"),
            "{error:#}"
        );
    }
}

#[test]
fn a_plan_may_ask_instead() {
    let text = r#"{"version": 1, "ask": {"sysctls": ["net.ipv4.tcp_sack"], "congestion_controls": []}, "interfaces": "3.2"}"#;
    let plan = Plan::parse(text).unwrap();
    assert_eq!(plan.ask.unwrap().sysctls, ["net.ipv4.tcp_sack"]);
    assert_eq!(plan.interfaces.as_deref(), Some("3.2"));
}

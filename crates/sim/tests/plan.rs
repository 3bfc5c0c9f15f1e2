//! Plans on the model: rows, logs and captures.

use std::fs::File;
use std::path::PathBuf;

use rexmit_time::Time;
use rexmit_wire::capture::Reader;
use rexmit_wire::TcpPacket;
use serde_json::{json, Value};

#[path = "common/plan.rs"]
mod plan;

/// 100 Mbit/s and 10 ms, 7.2 Mbit/s and 100 ms: two links of half the delay a way, us.
const FAST: (u64, u64) = (100_000_000, 2_500);
const MOBILE: (u64, u64) = (7_200_000, 25_000);

fn cell((rate, delay): (u64, u64), lost: u32, stack: &str) -> Value {
    let link = plan::link(rate, delay);
    json!({
        "id": 0, "label": "x", "sysctls": {}, "congestion_control": "cubic",
        "network": {"family": 4, "at": "wire", "mtu": 1500, "links": [link, link]},
        "workload": {
            "server": "nginx", "client": "builtin", "segments": 100, "bytes": null,
            "receive_window_bytes": null
        },
        "loss": {"rule": "tail", "segments": lost, "mode": "sequence", "hold_limit_ns": 3_000_000_000_u64},
        "starts": [{"repetition": 0, "phase_ns": 0}], "phase_period_ns": 256_000_000,
        "capture": false, "transfer_timeout_ns": 300_000_000_000_u64,
        "stack": {"name": stack}, "seed": 1
    })
}

fn run(cells: &[Value]) -> Vec<Value> {
    plan::events(cells, None)
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|e| e["type"] == kind).collect()
}

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rexmit-sim-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn transfers_take_as_long_as_on_a_kernel() {
    // What Linux 6.1.192 took in the lab, and 6.12.117 within 5 µs, in µs: t_total, t_recover, the client's time; RTO.
    let measured = [
        (FAST, 0, 32_466, None, 54_839, None),
        (FAST, 1, 256_931, Some(224_466), 277_243, Some(212_000)),
        (FAST, 5, 103_699, Some(40_708), 124_010, Some(212_000)),
        (MOBILE, 1, 809_147, Some(474_984), 1_013_366, Some(316_000)),
        (
            MOBILE,
            5,
            1_011_766,
            Some(370_349),
            1_215_984,
            Some(316_000),
        ),
    ];
    for stack in ["linux-6.1", "linux-6.12"] {
        for (network, lost, total, recover, client, rto) in measured {
            let events = run(&[cell(network, lost, stack)]);
            let row = of_type(&events, "transfer")[0];
            let near = |name: &str, expected: Option<i64>| {
                let got = row[name].as_i64().map(|nanos| nanos / 1000);
                let apart = got.zip(expected).map_or(0, |(a, b)| (a - b).abs());
                let alike = got.is_some() == expected.is_some();
                assert!(
                    alike && apart < 50,
                    "{stack} {network:?} {lost} {name}: {got:?}, not {expected:?}"
                );
            };
            near("t_total_ns", Some(total));
            near("t_recover_ns", recover);
            near("client_ns", Some(client));
            assert_eq!(row["rto_us"].as_i64(), rto, "{stack} {network:?} {lost}");
            assert_eq!(row["fin_on_data"], true);
            assert_eq!(row["complete"], true);
            assert_eq!(row["retransmissions"], lost, "{stack} {network:?}");
            let mechanism = if lost > 0 { json!("tlp") } else { Value::Null };
            assert_eq!(row["mechanism"], mechanism);
        }
    }
}

#[test]
fn a_plan_gives_the_same_events_whenever_it_runs() {
    let mut rough = cell(MOBILE, 3, "linux-6.1");
    rough["network"]["links"][0]["loss"] = json!(0.02);
    rough["network"]["links"][1]["jitter_ns"] = json!(2_000_000);
    rough["starts"] = (0..5)
        .map(|n| json!({"repetition": n, "phase_ns": n * 50_000_000}))
        .collect();
    rough["packets"] = json!(true);
    let once = run(&[rough.clone()]);
    assert_eq!(once, run(&[rough.clone()]));
    assert_eq!(of_type(&once, "packets").len(), 5);
    rough["seed"] = json!(2);
    assert_ne!(once, run(&[rough]));
}

#[test]
fn a_repetition_has_its_chance_whatever_was_sent_before() {
    let mut rough = cell(MOBILE, 3, "linux-6.1");
    rough["network"]["links"][0]["loss"] = json!(0.02);
    rough["network"]["links"][1]["jitter_ns"] = json!(2_000_000);
    let start = |n: u64| json!({"repetition": n, "phase_ns": 50_000_000});
    let told = |starts: &[u64], warm_up: u64| {
        let mut cell = rough.clone();
        cell["starts"] = starts.iter().map(|n| start(*n)).collect();
        cell["warm_up"] = json!(warm_up);
        let events = run(&[cell]);
        let last = *of_type(&events, "transfer").last().unwrap();
        ["repetition", "t_total_ns", "isn_server", "client_port"].map(|name| last[name].clone())
    };
    let alone = told(&[4], 0);
    assert_eq!(told(&[0, 1, 2, 3, 4], 0), alone);
    assert_eq!(told(&[4], 2), alone);
    assert_ne!(told(&[5], 0), alone);
}

#[test]
fn a_cell_that_cannot_run_says_why_and_the_others_run() {
    let mut unknown = cell(FAST, 0, "linux-9.9");
    unknown["id"] = json!(1);
    let mut small = cell(FAST, 0, "linux-6.1");
    (small["id"], small["workload"]["segments"]) = (json!(2), Value::Null);
    small["workload"]["bytes"] = json!(100);
    let events = run(&[unknown, small, cell(FAST, 0, "linux-6.1")]);
    let errors = of_type(&events, "cell-error");
    let message = |n: usize| errors[n]["message"].as_str().unwrap();
    assert!(
        message(0).contains("there is no stack linux-9.9"),
        "{}",
        message(0)
    );
    assert!(
        message(1).contains("a transfer of 100 bytes"),
        "{}",
        message(1)
    );
    assert_eq!(of_type(&events, "cell-end").len(), 1);
    let mut out = Vec::new();
    assert!(rexmit_sim::run_plan("{}", None, &mut out).is_err() && out.is_empty());
}

#[test]
fn the_start_of_a_cell_says_what_holds() {
    let mut plan = cell(FAST, 0, "linux-6.12");
    plan["sysctls"] = json!({"net.ipv4.tcp_fack": "1", "net.ipv4.tcp_sack": "0"});
    plan["network"]["at"] = json!("host");
    plan["workload"]["client"] = json!("lynx");
    let events = run(&[plan]);
    let start = of_type(&events, "cell-start")[0];
    // As from the lab's nginx.
    assert_eq!(
        (start["head_bytes"].as_u64(), start["page_bytes"].as_u64()),
        (Some(238), Some(144_562))
    );
    assert_eq!(start["read_back"]["net.ipv4.tcp_sack"], "0");
    let ignored: Vec<&str> = start["ignored"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["setting"].as_str().unwrap())
        .collect();
    assert_eq!(ignored, ["net.ipv4.tcp_fack = 1", "workload.client = lynx"]);
}

#[test]
fn every_packet_is_logged_as_its_host_sent_it() {
    let mut plan = cell(FAST, 2, "linux-6.1");
    plan["packets"] = json!(true);
    plan["starts"][0]["phase_ns"] = json!(4_000_000);
    let events = run(&[plan]);
    let log = of_type(&events, "packets")[0]["packets"]
        .as_array()
        .unwrap();
    let number = |packet: &Value, at: usize| packet[at].as_i64().unwrap();
    // The client's SYN, at the time of the start.
    assert_eq!(log[0], json!([0, 1, 0, 0, 2, 0, 64_240, 0, null, []]));
    assert!(log.is_sorted_by_key(|packet| number(packet, 0)));
    let dropped: Vec<i64> = log
        .iter()
        .filter(|p| p[7] == 1)
        .map(|p| number(p, 2))
        .collect();
    assert_eq!(dropped, [141_905, 143_353]);
    let retransmitted: Vec<(i64, &Value)> = log
        .iter()
        .filter(|p| !p[8].is_null())
        .map(|p| (number(p, 2), &p[8]))
        .collect();
    assert_eq!(
        retransmitted,
        [(143_353, &json!("tlp")), (141_905, &json!("rack"))]
    );
    let rows = of_type(&events, "retransmission");
    assert_eq!(rows.len(), 2);
    assert!(rows
        .iter()
        .all(|row| row["need"] == "needed" && row["dropped"] == false));
}

#[test]
fn captures_hold_what_each_host_sees() {
    let folder = Folder::new("captures");
    let mut cell = cell(MOBILE, 5, "linux-6.1");
    cell["capture"] = json!(true);
    plan::events(&[cell], Some(&folder.0));
    let read = |host: &str| {
        let path = folder.0.join(format!("captures/0-0.{host}.pcapng"));
        let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
        let mut packets: Vec<(Time, Vec<u8>, String)> = Vec::new();
        while reader.advance().unwrap() {
            let frame = reader.frame().unwrap();
            let comment = reader.comment().unwrap_or_default();
            packets.push((frame.time, frame.data.to_vec(), comment));
        }
        packets
    };
    let (h1, h2) = (read("h1"), read("h2"));
    let comments = |word: &str| h1.iter().filter(|(_, _, text)| text.contains(word)).count();
    assert_eq!(
        (comments("dropped"), comments("mechanism=tlp need=needed")),
        (5, 1)
    );
    assert_eq!(comments("mechanism="), 5);
    // What was dropped never reached h2.
    assert_eq!(h1.len(), h2.len() + 5);
    let bytes = |captured: &[(Time, Vec<u8>, String)]| -> (u32, bool) {
        let packets = captured
            .iter()
            .map(|(_, data, _)| TcpPacket::parse(data).unwrap());
        let from_server = packets.filter(|packet| packet.flow().src_port == 80);
        from_server.fold((0, true), |(sum, all), packet| {
            (
                sum + packet.payload_len(),
                all && packet.payload().len() == packet.payload_len() as usize,
            )
        })
    };
    assert_eq!(bytes(&h2), (144_800, true));
    assert!(h1.is_sorted_by_key(|&(time, ..)| time) && h2.is_sorted_by_key(|&(time, ..)| time));
}

#[test]
fn a_filter_that_holds_the_tail_drops_the_same_where_it_does_not_stall() {
    let mut plan = cell(FAST, 5, "linux-6.1");
    plan["loss"]["mode"] = json!("hold");
    let held = run(&[plan]);
    let row = of_type(&held, "transfer")[0];
    assert_eq!(row["dropped_segments"], 5);
    assert_eq!(row["stalled"], false);
    let mut plan = cell(MOBILE, 5, "linux-6.1");
    plan["loss"]["mode"] = json!("hold");
    let stalled = run(&[plan]);
    let row = of_type(&stalled, "transfer")[0];
    assert_eq!(row["dropped_segments"], 0);
    assert_eq!(row["stalled"], true);
    assert!(row["note"]
        .as_str()
        .unwrap()
        .contains("the original was still in the host"));
}

#[test]
fn every_transfer_has_a_row_however_it_ends() {
    let mut cut = cell(FAST, 0, "linux-6.12");
    cut["loss"] = json!({"rule": "pattern", "pattern": "data 5#1..100"});
    cut["transfer_timeout_ns"] = json!(60_000_000_000_u64);
    let mut dead = cell(FAST, 0, "linux-6.12");
    dead["network"]["links"][0]["loss"] = json!(1.0);
    dead["transfer_timeout_ns"] = json!(2_000_000_000_u64);
    let mut hasty = cell(MOBILE, 0, "linux-6.12");
    hasty["transfer_timeout_ns"] = json!(150_000_000_u64);
    for (cell, segments) in [(cut, true), (dead, false), (hasty, true)] {
        let events = run(&[cell]);
        assert!(of_type(&events, "cell-error").is_empty(), "{events:?}");
        let row = of_type(&events, "transfer")[0];
        assert_eq!(row["ended"], "timed-out");
        assert_eq!(row["complete"], false);
        assert!(row["fin_on_data"].is_null());
        assert_eq!(!row["t_start_ns"].is_null(), segments, "{row}");
    }
}

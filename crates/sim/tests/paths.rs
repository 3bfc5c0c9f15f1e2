//! Cells of bursts over paths: what comes out of a plan, and the cases of Probe or Wait 2017.

use serde_json::{json, Value};

#[path = "common/plan.rs"]
mod plan;

fn link(delay_ms: u64) -> Value {
    plan::link(54_000_000, delay_ms * 1_000)
}

/// A cell of two bursts of 80 segments, as Probe or Wait 2017 has it.
fn cell(stack: &str, delays_ms: [u64; 2], pattern: &str) -> Value {
    json!({
        "id": 0, "label": "x",
        "network": {"family": 4, "mtu": 1500, "paths": delays_ms.map(link)},
        "protocol": "mptcp", "first_path": 1, "sysctls": {}, "congestion_control": "cubic",
        "workload": {"server": "burst", "count": 2, "segments": 80, "gap_ns": 2_000_000_000_u64},
        "loss": {"rule": "pattern", "pattern": pattern},
        "starts": [{"repetition": 0, "phase_ns": 1_000_000}], "phase_period_ns": 256_000_000,
        "capture": false, "packets": false, "transfer_timeout_ns": 20_000_000_000_u64,
        "stack": {"name": stack}, "seed": 1
    })
}

fn events(cell: &Value) -> Vec<Value> {
    plan::events(std::slice::from_ref(cell), None)
}

fn transfer(cell: &Value) -> Value {
    let events = events(cell);
    let found = events.iter().find(|event| event["type"] == "transfer");
    found.unwrap_or_else(|| panic!("{events:?}")).clone()
}

fn completion_ms(cell: &Value) -> f64 {
    let row = transfer(cell);
    assert_eq!(row["complete"], true, "{row}");
    assert_eq!(row["exact"], true, "{row}");
    row["t_total_ns"].as_f64().unwrap() / 1e6
}

fn with(mut cell: Value, sysctls: &[(&str, &str)]) -> Value {
    for (name, value) in sysctls {
        cell["sysctls"][*name] = json!(value);
    }
    cell
}

const PROBES: &str = "net.ipv4.tcp_early_retrans";
const NEW: &str = "net.mptcp.reinject_on_tlp";

#[test]
fn a_cell_tells_of_bursts_subflows_and_retransmissions() {
    let events = events(&cell("linux-6.12", [20, 30], "path 1 burst 2 data -1"));
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let want =
        "cell-start transfer retransmission retransmission burst burst subflow subflow cell-end";
    assert_eq!(kinds.join(" "), want);
    let row = &events[1];
    assert_eq!(row["mss_bytes"], 1420);
    assert_eq!(row["subflows"], 2);
    assert_eq!(row["dropped_packets"], 1);
    // The idle path brings the lost data, and the probe is too late.
    assert_eq!(row["mechanism"], "mptcp-reinject");
    assert_eq!(events[2]["path"], 2);
    assert_eq!(events[3]["mechanism"], "tlp");
    assert_eq!(events[3]["need"], "spurious");
}

#[test]
fn every_connection_repeats() {
    let cell = cell("linux-4.1", [30, 20], "path 1 burst 2 data -2..-1");
    assert_eq!(events(&cell), events(&cell));
}

/// The paper's Figure 4 in one phase: which of two ways to wait is the faster.
#[test]
fn the_old_implementation_waits_for_its_probes() {
    let old = |delays, pattern: &str, sysctls: &[(&str, &str)]| {
        completion_ms(&with(cell("linux-4.1", delays, pattern), sysctls))
    };
    let timeout = [(PROBES, "2")];
    let probe = [(PROBES, "3")];
    let new = [(PROBES, "3"), (NEW, "1")];
    // One lost: the same, but where the other path is the faster.
    let one = "path 1 burst 2 data -1";
    assert!((old([20, 20], one, &timeout) - old([20, 20], one, &probe)).abs() < 4.0);
    assert!(old([30, 20], one, &timeout) < old([30, 20], one, &probe) - 5.0);
    // Two lost: the probe is faster, but on the slow path.
    let two = "path 1 burst 2 data -2..-1";
    assert!(old([20, 20], two, &probe) < old([20, 20], two, &timeout) - 50.0);
    assert!(old([120, 20], two, &probe) > old([120, 20], two, &timeout) + 50.0);
    // The probe lost too: a timeout's re-injection saves much, and so does the probe's own.
    let both = "path 1 burst 2 data -1#1..2";
    for delays in [[20, 20], [20, 30], [20, 120], [30, 20], [120, 20]] {
        let (rto, tlp) = (old(delays, both, &timeout), old(delays, both, &probe));
        assert!(rto < tlp - 100.0, "{delays:?}: {rto} {tlp}");
        assert!(old(delays, both, &new) < tlp - 100.0, "{delays:?}");
    }
}

#[test]
fn tcp_opens_on_the_path_that_it_is_told() {
    let mut slow = cell("linux-6.12", [20, 60], "path 2 burst 2 data -1");
    slow["protocol"] = json!("tcp");
    slow["first_path"] = json!(2);
    let row = transfer(&slow);
    assert_eq!(row["path_packets"], "0 80");
    assert_eq!(row["subflows"], 1);
    assert_eq!(row["exact"], true);
}

#[test]
fn a_stack_without_multipath_tcp_says_so() {
    let events = events(&cell("linux-3.10", [20, 20], "path 1 burst 2 data -1"));
    let message = events[0]["message"].as_str().unwrap();
    assert!(
        message.contains("linux-3.10 has no Multipath TCP"),
        "{message}"
    );
}

#[test]
fn a_packet_that_was_never_sent_is_an_error_of_the_cell() {
    let events = events(&cell("linux-4.1", [20, 20], "path 1 burst 2 data 79"));
    let message = events
        .iter()
        .find(|event| event["type"] == "cell-error")
        .map(|event| event["message"].as_str().unwrap().to_owned());
    let message = message.unwrap();
    assert!(
        message.contains("79") && message.contains("on path 1"),
        "{message}"
    );
}

/// What the log says of data is what the options on the packets say, and covers both bursts once.
#[test]
fn the_log_maps_all_data() {
    for stack in ["linux-4.1", "linux-6.1"] {
        let mut cell = cell(stack, [20, 30], "path 1 burst 2 data -1");
        cell["packets"] = json!(true);
        let events = events(&cell);
        let packets = events.iter().find(|event| event["type"] == "packets");
        let packets = packets.unwrap()["packets"].as_array().unwrap();
        let mut runs: Vec<(u64, u64)> = packets
            .iter()
            .filter(|packet| packet[1] == 0 && packet[3] != 0 && packet[8].is_null())
            .map(|packet| (packet[11].as_u64().unwrap(), packet[3].as_u64().unwrap()))
            .collect();
        runs.sort_unstable();
        let mut next = 1;
        for (start, len) in runs {
            assert_eq!(start, next, "{stack}");
            next += len;
        }
        let bytes = events[0]["burst_bytes"].as_u64().unwrap();
        assert_eq!(next, 2 * bytes + 1, "{stack}");
        let last = packets.iter().rev().find_map(|packet| packet[12].as_u64());
        assert!(last.is_some());
        // Times are those since the last burst was to be written.
        let mut data = packets
            .iter()
            .filter(|packet| packet[1] == 0 && packet[3] != 0);
        let of_last = data.find(|packet| packet[11].as_u64() > Some(bytes));
        let at_ns = of_last.unwrap()[0].as_u64().unwrap();
        assert!(at_ns < 1_000_000, "{stack}: {at_ns}");
    }
}

/// How the connection of a cell ended, and what its row and its cell's warnings say.
fn ended(cell: &Value) -> (String, String, String) {
    let row = transfer(cell);
    assert_eq!(row["complete"], false, "{row}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let warnings = events(cell)[0]["warnings"].to_string();
    (text(&row["ended"]), text(&row["note"]), warnings)
}

#[test]
fn paths_that_do_not_come_up_are_named() {
    let mut dead = cell("linux-6.12", [20, 30], "none");
    dead["network"]["paths"][1]["loss"] = json!(1.0);
    let said = "path 2 did not come up within 10 s; path 1 did";
    let (how, note, warnings) = ended(&dead);
    assert_eq!(how, "not-connected");
    assert!(note.contains(said) && warnings.contains(said), "{note}");
    dead["network"]["paths"][0]["loss"] = json!(1.0);
    let (how, note, _) = ended(&dead);
    assert_eq!(how, "not-connected");
    assert!(note.contains("path 1 does not come up"), "{note}");
}

/// 80 segments take 12 s at 80 kbit/s, and one is more than a tenth of a second under way.
#[test]
fn a_client_that_gives_up_without_losses_has_a_row_and_its_cell_a_warning() {
    let mut slow = cell("linux-6.12", [20, 30], "none");
    slow["protocol"] = json!("tcp");
    slow["network"]["paths"][0]["rate_bps"] = json!(80_000);
    slow["workload"]["gap_ns"] = json!(1);
    slow["transfer_timeout_ns"] = json!(100_000_000);
    let (how, _, warnings) = ended(&slow);
    assert_eq!(how, "timed-out");
    let said = "0 of 2 bursts came, then the client read nothing for 0.1 s";
    assert!(warnings.contains(said), "{warnings}");
}

#[test]
fn a_sender_that_is_not_heard_in_the_end_is_noted() {
    let lost = "path 1 burst 2 ack 1..10000; path 2 burst 2 ack 1..10000";
    let row = transfer(&cell("linux-6.12", [20, 30], lost));
    let note = row["note"].as_str().unwrap();
    assert!(
        note.contains("not all that was sent was acknowledged 10 s after the last burst"),
        "{note}"
    );
}

/// A page of so many segments over the cell's network, with its protocol.
fn page(mut cell: Value, segments: u32, loss: Value) -> Value {
    cell["workload"] = json!({"server": "nginx", "client": "builtin", "segments": segments});
    cell["loss"] = loss;
    cell
}

fn tail(segments: u32) -> Value {
    json!({"rule": "tail", "segments": segments, "mode": "sequence", "hold_limit_ns": 1})
}

#[test]
fn a_page_goes_over_multipath_tcp() {
    // More than the server's send buffer takes at once: it is open still when the second subflow comes up.
    let cell = page(cell("linux-6.12", [20, 30], "none"), 3_000, tail(3));
    let events = events(&cell);
    let row = transfer(&cell);
    assert_eq!(row["complete"], true);
    assert_eq!(row["exact"], true);
    assert_eq!(row["protocol"], "mptcp");
    assert_eq!(row["subflows"], 2);
    assert_eq!(row["dropped_segments"], 3);
    assert_eq!(row["transfer_size_bytes"], events[0]["transfer_bytes"]);
    let packets: Vec<u64> = row["path_packets"]
        .as_str()
        .unwrap()
        .split(' ')
        .map(|number| number.parse().unwrap())
        .collect();
    assert!(packets.iter().all(|number| *number > 100), "{packets:?}");
    assert!(!events.iter().any(|event| event["type"] == "burst"));
    assert_eq!(
        events
            .iter()
            .filter(|event| event["type"] == "subflow")
            .count(),
        2
    );
}

/// A page that fits into the send buffer has been written, and its socket closed, before anybody joins.
#[test]
fn nobody_joins_a_connection_that_its_server_has_closed() {
    let row = transfer(&page(cell("linux-6.12", [20, 30], "none"), 100, tail(1)));
    assert_eq!(row["subflows"], 1);
    assert_eq!(row["path_packets"], "100 0");
    assert_eq!(row["mechanism"], "tlp");
    assert_eq!(row["exact"], true);
}

/// Over plain TCP a page knows nothing of the paths that it does not go on.
#[test]
fn a_page_over_one_of_several_paths_is_that_over_it_alone() {
    let row = |delays: &[u64], first_path: u32| {
        let mut cell = page(cell("linux-6.12", [20, 60], "none"), 100, tail(2));
        cell["network"]["paths"] = delays.iter().map(|ms| link(*ms)).collect();
        (cell["protocol"], cell["first_path"]) = (json!("tcp"), json!(first_path));
        let row = transfer(&cell);
        [
            "t_total_ns",
            "t_recover_ns",
            "mechanism",
            "retransmissions",
            "path_packets",
        ]
        .map(|name| row[name].clone())
    };
    let alone = row(&[60], 1);
    assert_eq!(row(&[20, 60], 2), alone);
    assert_ne!(row(&[20, 60], 1), alone);
    assert_eq!(alone[2], "tlp");
    assert!(alone[4].is_null());
}

#[test]
fn bursts_go_over_two_links() {
    let mut cell = cell("linux-6.12", [10, 10], "burst 2 data -1");
    cell["network"] = json!({"family": 4, "mtu": 1500, "links": [link(10), link(15)]});
    cell["protocol"] = json!("tcp");
    let row = transfer(&cell);
    assert_eq!(row["path_packets"], "80");
    assert_eq!(row["subflows"], 1);
    assert_eq!(row["mechanism"], "tlp");
    assert_eq!(row["exact"], true);
    // The tail rule means the same.
    let by_pattern = row["t_total_ns"].clone();
    cell["loss"] = tail(1);
    assert_eq!(transfer(&cell)["t_total_ns"], by_pattern);
}

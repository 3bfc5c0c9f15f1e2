//! Rows of the model's events against the columns that are declared for them.

use rexmit_schema::{run, Column, Kind, Table};
use serde_json::{json, Value};

#[path = "common/plan.rs"]
mod plan;

/// A page whose last two segments are lost, and two bursts over two paths of which the last packet is lost.
fn events() -> Vec<Value> {
    let link = |rate: u64, delay_ms: u64| plan::link(rate, delay_ms * 1_000);
    let page = json!({
        "id": 0, "label": "page", "sysctls": {}, "congestion_control": "cubic",
        "network": {"family": 4, "at": "wire", "mtu": 1500, "links": [link(100_000_000, 2), link(100_000_000, 3)]},
        "workload": {"server": "nginx", "client": "builtin", "segments": 50, "bytes": null,
                     "receive_window_bytes": null},
        "loss": {"rule": "tail", "segments": 2, "mode": "sequence", "hold_limit_ns": 3_000_000_000_u64},
        "starts": [{"repetition": 0, "phase_ns": 0}], "phase_period_ns": 256_000_000,
        "capture": false, "transfer_timeout_ns": 300_000_000_000_u64,
        "stack": {"name": "linux-6.12"}, "seed": 1
    });
    let bursts = json!({
        "id": 1, "label": "bursts", "sysctls": {}, "congestion_control": "cubic",
        "network": {"family": 4, "at": "wire", "mtu": 1500,
                    "paths": [link(54_000_000, 20), link(54_000_000, 30)]},
        "protocol": "mptcp", "first_path": 1,
        "workload": {"server": "burst", "count": 2, "segments": 80, "bytes": null, "gap_ns": 2_000_000_000_u64},
        "loss": {"rule": "pattern", "pattern": "path 1 burst 2 data -1"},
        "starts": [{"repetition": 0, "phase_ns": 1_000_000}], "phase_period_ns": 256_000_000,
        "capture": false, "packets": false, "transfer_timeout_ns": 20_000_000_000_u64,
        "stack": {"name": "linux-6.12"}, "seed": 1
    });
    plan::events(&[page, bursts], None)
}

/// What of a row is not as its table is declared.
fn faults(table: &Table, row: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let fields: Vec<_> = table.columns().filter_map(Column::field).collect();
    for name in row.as_object().unwrap().keys() {
        if !fields.iter().any(|(field, _)| field == name)
            && !["type", "cell"].contains(&name.as_str())
        {
            faults.push(format!("{name}: no column has it"));
        }
    }
    for column in table.columns() {
        let Some((name, per)) = column.field() else {
            continue;
        };
        let fits = match row.get(&name) {
            None | Some(Value::Null) => column.nullable,
            Some(value) => match column.kind {
                Kind::Text => value.is_string(),
                Kind::Boolean => value.is_boolean(),
                Kind::Integer => value.is_i64(),
                // What is counted in nanoseconds is whole; a plain number need not be.
                Kind::Number => value.is_number() && (per == 1 || value.is_i64()),
            },
        };
        if !fits {
            faults.push(format!("{name}: {:?}", row.get(&name)));
        }
    }
    faults
}

#[test]
fn rows_have_the_fields_that_are_declared() {
    let events = events();
    for (kind, table, count) in [
        ("transfer", run::TRANSFERS, 2),
        ("retransmission", run::RETRANSMISSIONS, 4),
        ("burst", run::BURSTS, 2),
        ("subflow", run::SUBFLOWS, 2),
    ] {
        let rows: Vec<_> = events
            .iter()
            .filter(|event| event["type"] == kind)
            .collect();
        assert_eq!(rows.len(), count, "{kind}");
        for row in rows {
            assert_eq!(faults(&table, row), [""; 0], "{row}");
        }
    }
}

#[test]
fn what_is_not_declared_is_a_fault() {
    let events = events();
    let row = events
        .iter()
        .find(|event| event["type"] == "burst")
        .unwrap();
    let mut more = row.clone();
    more["cwnd"] = json!(1);
    more["bytes"] = json!("many");
    more.as_object_mut().unwrap().remove("packets");
    assert_eq!(
        faults(&run::BURSTS, &more),
        [
            "cwnd: no column has it",
            "bytes: Some(String(\"many\"))",
            "packets: None"
        ]
    );
}

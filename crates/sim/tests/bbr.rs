//! BBR over a bottleneck: it fills it, with losses too, and keeps its queue short.

use serde_json::{json, Value};

#[path = "common/plan.rs"]
mod plan;

const RATE_BPS: u64 = 10_000_000;
const SEGMENTS: u64 = 6_000;

/// The transfer of a page over 10 Mbit/s and 40 ms, of which links lose this share at random.
fn transfer(control: &str, loss: f64) -> Value {
    let mut link = plan::link(RATE_BPS, 10_000);
    link["loss"] = json!(loss);
    let cell = json!({
        "id": 0, "label": "x", "sysctls": {}, "congestion_control": control,
        "network": {"family": 4, "at": "wire", "mtu": 1500, "links": [link, plan::link(10 * RATE_BPS, 10_000)]},
        "workload": {
            "server": "nginx", "client": "builtin", "segments": SEGMENTS, "bytes": null,
            "receive_window_bytes": null
        },
        "loss": {"rule": "tail", "segments": 0, "mode": "sequence", "hold_limit_ns": 3_000_000_000_u64},
        "starts": [{"repetition": 0, "phase_ns": 0}], "phase_period_ns": 256_000_000,
        "capture": false, "transfer_timeout_ns": 300_000_000_000_u64,
        "stack": {"name": "linux-6.12"}, "seed": 1
    });
    let events = plan::events(&[cell], None);
    let row = events.iter().find(|event| event["type"] == "transfer");
    row.unwrap().clone()
}

/// The share of the bottleneck that a transfer had, in frames of 1,514 bytes.
fn share(row: &Value) -> f64 {
    assert_eq!(row["complete"], true, "{row}");
    let total_ns = row["t_total_ns"].as_f64().unwrap();
    let alone_ns = (SEGMENTS * 1_514 * 8) as f64 * 1e9 / RATE_BPS as f64;
    alone_ns / total_ns
}

#[test]
fn it_fills_the_path_and_random_losses_do_not_slow_it() {
    let lossless = share(&transfer("bbr", 0.0));
    assert!((0.92..=1.0).contains(&lossless), "{lossless}");
    let lossy = share(&transfer("bbr", 0.02));
    assert!((0.85..lossless).contains(&lossy), "{lossy}");
    let cubic = share(&transfer("cubic", 0.02));
    assert!(cubic < lossy / 2.0, "{cubic}");
}

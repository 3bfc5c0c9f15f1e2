//! Plans as engines are told them, and the events that come of them.

use std::path::Path;

use rexmit_sim::run_plan;
use serde_json::{json, Value};

/// A link without jitter and loss.
pub fn link(rate_bps: u64, delay_us: u64) -> Value {
    json!({"rate_bps": rate_bps, "delay_ns": delay_us * 1_000, "jitter_ns": 0, "loss": 0.0, "queue_packets": 1000})
}

/// The events of a plan of these cells, whose captures go to `share`.
pub fn events(cells: &[Value], share: Option<&Path>) -> Vec<Value> {
    let plan = json!({"version": 1, "cells": cells});
    let mut out = Vec::new();
    run_plan(&plan.to_string(), share, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

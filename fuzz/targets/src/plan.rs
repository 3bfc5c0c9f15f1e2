//! Any text is read as a plan, and a small plan is run on the model.

use rexmit_plan::{Cell, Link, Loss, Plan, Start, Workload};
use serde_json::Value;

/// Bytes of the pages or bursts of a cell that is run, all transfers together.
const MOST_BYTES: u64 = 1 << 20;
/// Longest time limit of such a cell: a sender repeats timeouts all along.
const LONGEST_NS: u64 = 600_000_000_000;
/// Most positions of a pattern: a rule keeps them all.
const LONGEST_TEXT: usize = 200;

/// Reads a plan, runs it where it is small, and reads the events.
pub fn plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(plan) = Plan::parse(text) else {
        return;
    };
    if plan.cells.len() > 2 || !plan.cells.iter().all(cell_is_small) {
        return;
    }
    let mut out = Vec::new();
    let ran = rexmit_sim::run_plan(text, None, &mut out);
    assert_eq!(ran.is_err(), plan.exec.is_some(), "{ran:?}");
    let ends = kinds(&out)
        .filter(|kind| matches!(kind.as_str(), "cell-end" | "cell-error"))
        .count();
    let cells = plan.cells.len();
    assert_eq!(ends, if ran.is_ok() { cells } else { 0 });
}

/// The types of the events, each a JSON object on a line.
fn kinds(events: &[u8]) -> impl Iterator<Item = String> + '_ {
    let lines = events.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty()).map(|line| {
        let event: Value = serde_json::from_slice(line).expect("an event is JSON");
        event["type"].as_str().expect("an event has a type").into()
    })
}

fn cell_is_small(cell: &Cell) -> bool {
    let (segments, bytes, bursts, quick) = match &cell.workload {
        Workload::Nginx(page) => {
            let quick = page.read_bps.is_none_or(|rate| rate >= 10_000);
            (page.segments, page.bytes, 1, quick)
        }
        Workload::Burst(bursts) => {
            let quick = bursts.count <= 10 && bursts.gap_ns <= LONGEST_NS;
            (bursts.segments, bursts.bytes, bursts.count, quick)
        }
    };
    // The page is tried without loss first, and a pattern that counts from behind is rehearsed.
    let transfers = 2 * cell.starts.len() as u64 + u64::from(cell.warm_up) + 1;
    let each = match (segments, bytes) {
        (Some(segments), None) => u64::from(segments) * u64::from(cell.network.mtu),
        (None, Some(bytes)) => bytes,
        // Refused.
        _ => 0,
    };
    let text = match &cell.loss {
        Loss::Pattern(loss) => loss.pattern.as_str(),
        Loss::Tail(_) => "",
    };
    each.saturating_mul(transfers * u64::from(bursts)) <= MOST_BYTES
        && quick
        && cell.network.paths() <= 4
        && small(cell.network.links(), &cell.starts, text)
        && cell.transfer_timeout_ns <= LONGEST_NS
        && !cell.capture
}

fn small(links: &[Link], starts: &[Start], pattern: &str) -> bool {
    // A queue that never ends is memory alone, but a link that is far too slow is one packet an hour.
    links.iter().all(|link| link.queue_packets <= 10_000)
        && starts.len() <= 3
        && pattern.len() <= LONGEST_TEXT
}

//! What both engines say of connections that did not do what they were to do.

use rexmit_loss::Totals;

use crate::cell::Cell;
use crate::ended::Ended;
use crate::run::Run;
use crate::story::Watched;
use crate::workload::Workload;

/// Warnings of what `cell` sends in another number of packets than it asks for segments: `sent` of at most `mss_bytes`.
#[must_use]
pub fn not_as_asked(cell: &Cell, sent: &Totals, mss_bytes: u32) -> Vec<String> {
    let (asked, what) = match &cell.workload {
        Workload::Nginx(page) => (page.segments, "segments"),
        Workload::Burst(bursts) => (bursts.segments, "packets"),
    };
    let Some(asked) = asked.map(u64::from) else {
        return Vec::new();
    };
    let numbers = sent.packets().iter().map(|packets| packets.iter().sum());
    (1..)
        .zip(numbers)
        .filter(|(_, number): &(u32, u64)| *number != asked)
        .map(|(burst, number)| {
            let whole = match &cell.workload {
                Workload::Nginx(_) => "the transfer".to_owned(),
                Workload::Burst(_) => format!("burst {burst}"),
            };
            format!(
                "{whole} leaves in {number} {what} of at most {mss_bytes} bytes, {asked} were asked for"
            )
        })
        .collect()
}

/// Not all of `paths` came up within `limit_s` seconds: which did not, and which (`up`) did.
#[must_use]
pub fn not_all_came_up(up: &[u32], paths: &[u32], limit_s: u64) -> String {
    let (there, missing): (Vec<u32>, Vec<u32>) = paths.iter().partition(|path| up.contains(path));
    let list = |paths: &[u32]| {
        let numbers: Vec<String> = paths.iter().map(ToString::to_string).collect();
        let word = if numbers.len() == 1 { "path" } else { "paths" };
        format!("{word} {}", numbers.join(", "))
    };
    let mut text = format!("{} did not come up within {limit_s} s", list(&missing));
    if !there.is_empty() {
        text += &format!("; {} did", list(&there));
    }
    text
}

/// Of a transfer from which the rule took nothing, and which still did not bring all.
#[must_use]
pub fn not_all_came(cell: &Cell, watched: &Watched, run: &Run) -> String {
    let patience_s = cell.patience_ns() as f64 / 1e9;
    if cell.by_response() {
        let said = [run.notes.clone(), watched.notes(cell)].concat();
        return format!(
            "a transfer from which the rule took nothing did not complete in {patience_s} s: {}",
            said.first().map_or("the client gave up", String::as_str)
        );
    }
    if run.ended == Ended::NotConnected {
        return run.notes.join("; ");
    }
    let came = run
        .bursts
        .iter()
        .filter(|burst| burst.t_end.is_some())
        .count();
    format!(
        "without the losses of the pattern {came} of {} bursts came, then the client read nothing for {patience_s} s",
        cell.burst_count()
    )
}

/// A note on a connection whose sender was still waiting for acknowledgements `limit_s` seconds after the last burst.
#[must_use]
pub fn not_all_acknowledged(limit_s: u64) -> String {
    format!(
        "not all that was sent was acknowledged {limit_s} s after the last burst: what was sent again later has no row"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_up_is_said() {
        let text = not_all_came_up(&[1, 3], &[1, 2, 3], 10);
        assert_eq!(text, "path 2 did not come up within 10 s; paths 1, 3 did");
        let text = not_all_came_up(&[], &[1, 2], 10);
        assert_eq!(text, "paths 1, 2 did not come up within 10 s");
    }
}

//! Retransmissions as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;
use rexmit_tcp::Mechanism;
use rexmit_time::Duration;
use rexmit_wire::FlowKey;

use super::filler::{nanos, seconds, whole, Filler};
use super::word;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::necessary::{look, Missing};
use crate::rows::Retransmission;

pub(super) fn table(rows: &[Of<Retransmission>], capture: &str) -> Table {
    Filler::fill(&trace::RETRANSMISSIONS, rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        let all = || rows.iter().map(|of| &of.row);
        table.number("time_s", all().map(|row| seconds(row.time)));
        table.integer("time_ns", all().map(|row| nanos(row.time)));
        table.integer(
            "seq_start",
            all().map(|row| i64::from(row.range.start.get())),
        );
        table.integer("seq_end", all().map(|row| i64::from(row.range.end.get())));
        table.integer("length_bytes", all().map(|row| i64::from(row.length)));
        table.number(
            "first_sent_s",
            all().map(|row| row.first_sent.and_then(seconds)),
        );
        table.text("packet", all().map(|row| Some(row.witness.packet.as_str())));
        table.integer("copy", all().map(|row| i64::from(row.copy)));
        table.text("mechanism", all().map(|row| Some(row.mechanism.as_str())));
        table.number("confidence", all().map(|row| Some(row.confidence)));
        let runner_up = |row: &Retransmission| row.runner_up.map(|(next, _)| next.as_str());
        table.text("runner_up", all().map(runner_up));
        table.number(
            "runner_up_confidence",
            all().map(|row| row.runner_up.map(|(_, sure)| sure)),
        );
        table.number("certainty", all().map(|row| Some(row.certainty)));
        table.boolean("either", all().map(|row| row.either));
        let shown = all().map(|row| look(row.mechanism, &row.witness).ok());
        let shown: Vec<_> = shown.collect();
        let basis = shown.iter().map(|one| one.map(|(basis, _)| basis.as_str()));
        table.text("basis", basis);
        table.integer_or_null(
            "basis_ns",
            shown
                .iter()
                .map(|one| one.and_then(|(_, at)| at).map(nanos)),
        );
        table.text("missing", all().map(|row| row.missing.map(Missing::as_str)));
        table.text("need", all().map(|row| Some(row.need.as_str())));
        table.number(
            "need_confidence",
            all().map(|row| Some(row.need_confidence)),
        );
        table.text("evidence", all().map(|row| Some(row.evidence.as_str())));
        table.integer("episode", all().map(episode));
        table.text(
            "episode_cause",
            all().map(|row| Some(Mechanism::as_str(row.episode_cause))),
        );
        table.seconds("detection_s", all().map(|row| row.detection));
        table.seconds("detection_most_s", all().map(|row| row.detection_most));
        table.text(
            "timed_by",
            all().map(|row| Some(row.witness.timed.as_str())),
        );
        table.number("detection_rtts", all().map(detection_rtts));
        table.seconds("recovery_s", all().map(|row| row.recovery));
        table.seconds("waited_s", all().map(|row| Some(row.waited)));
        table.seconds("waited_most_s", all().map(|row| Some(row.waited_most)));
        table.seconds("timer_s", all().map(|row| row.timer));
        table.seconds("moving_rtt_s", all().map(|row| row.moving_rtt));
        table.integer(
            "flight_segments",
            all().map(|row| i64::from(row.flight_segments)),
        );
        table.integer("flight_bytes", all().map(|row| i64::from(row.flight_bytes)));
        table.integer(
            "lost_in_flight",
            all().map(|row| i64::from(row.lost_in_flight)),
        );
        table.integer_or_null(
            "mptcp_connection",
            all().map(|row| Some(whole(row.multipath.as_ref()?.connection))),
        );
        let first = |row: &Retransmission| row.multipath.as_ref()?.first;
        table.flow(
            "first_flow",
            all().map(|row| first(row).map(|(flow, _)| flow)),
        );
        table.integer_or_null(
            "first_subflow",
            all().map(|row| first(row).map(|(_, number)| i64::from(number))),
        );
    })
}

/// Episodes of re-injections are counted down from -1.
fn episode(row: &Retransmission) -> i64 {
    if row.mechanism == Mechanism::MptcpReinject {
        i64::from(row.episode as i32)
    } else {
        i64::from(row.episode)
    }
}

/// Whose each row is: the columns that tables of directions begin with.
pub(super) fn whose<R>(
    table: &mut Filler,
    rows: &[Of<R>],
    capture: &str,
    direction: fn(&R) -> Direction,
) {
    table.text("capture", rows.iter().map(|_| Some(capture)));
    table.integer("connection", rows.iter().map(|of| whole(of.connection)));
    let flows = rows
        .iter()
        .map(|of| Some(towards(of.flow, direction(&of.row))));
    table.flow("flow", flows);
    let words = rows.iter().map(|of| Some(word(direction(&of.row))));
    table.text("direction", words);
}

/// The flow of a direction of the connection `flow`.
fn towards(flow: FlowKey, direction: Direction) -> FlowKey {
    match direction {
        Direction::Forward => flow,
        Direction::Backward => flow.reversed(),
    }
}

fn detection_rtts(row: &Retransmission) -> Option<f64> {
    let rtt = row.moving_rtt.filter(|rtt| *rtt > Duration::ZERO)?;
    Some(row.detection?.as_secs_f64() / rtt.as_secs_f64())
}

//! Retransmissions as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;
use rexmit_tcp::Mechanism;
use rexmit_time::Duration;
use rexmit_wire::FlowKey;

use super::filler::{seconds, Filler};
use super::word;
use super::Purpose;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::necessary::{look, Missing};
use crate::rows::Retransmission;

pub(super) fn table(rows: &[Of<Retransmission>], capture: &str, purpose: Purpose) -> Table {
    Filler::fill(&trace::RETRANSMISSIONS, purpose, rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        table.number("time_s", rows, |of| seconds(of.row.time));
        table.integer("time_ns", rows, |of| of.row.time);
        table.integer("seq_start", rows, |of| of.row.range.start.get());
        table.integer("seq_end", rows, |of| of.row.range.end.get());
        table.integer("length_bytes", rows, |of| of.row.length);
        table.number("first_sent_s", rows, |of| of.row.first_sent.map(seconds));
        table.text("packet", rows, |of| of.row.witness.packet.as_str());
        table.integer("copy", rows, |of| of.row.copy);
        table.text("mechanism", rows, |of| of.row.mechanism.as_str());
        table.number("confidence", rows, |of| of.row.confidence);
        table.text("runner_up", rows, |of| Some(of.row.runner_up?.0.as_str()));
        table.number("runner_up_confidence", rows, |of| Some(of.row.runner_up?.1));
        table.number("certainty", rows, |of| of.row.certainty);
        table.boolean("either", rows, |of| of.row.either);
        let shown = |of: &Of<Retransmission>| look(of.row.mechanism, &of.row.witness).ok();
        let shown: Vec<_> = rows.iter().map(shown).collect();
        table.text("basis", &shown, |shown| {
            shown.map(|(basis, _)| basis.as_str())
        });
        table.integer("basis_ns", &shown, |shown| (*shown)?.1);
        table.text("missing", rows, |of| of.row.missing.map(Missing::as_str));
        table.text("need", rows, |of| of.row.need.as_str());
        table.number("need_confidence", rows, |of| of.row.need_confidence);
        table.text("evidence", rows, |of| of.row.evidence.as_str());
        table.integer("episode", rows, |of| episode(&of.row));
        table.text("episode_cause", rows, |of| of.row.episode_cause.as_str());
        table.seconds("detection_s", rows, |of| of.row.detection);
        table.seconds("detection_most_s", rows, |of| of.row.detection_most);
        table.text("timed_by", rows, |of| of.row.witness.timed.as_str());
        table.number("detection_rtts", rows, |of| detection_rtts(&of.row));
        table.seconds("recovery_s", rows, |of| of.row.recovery);
        table.seconds("waited_s", rows, |of| of.row.waited);
        table.seconds("waited_most_s", rows, |of| of.row.waited_most);
        table.seconds("timer_s", rows, |of| of.row.timer);
        table.seconds("moving_rtt_s", rows, |of| of.row.moving_rtt);
        table.integer("flight_segments", rows, |of| of.row.flight_segments);
        table.integer("flight_bytes", rows, |of| of.row.flight_bytes);
        table.integer("lost_in_flight", rows, |of| of.row.lost_in_flight);
        let subflow = |of: &Of<Retransmission>| of.row.multipath.as_ref().map(|of| of.connection);
        table.integer("mptcp_connection", rows, subflow);
        let first = |of: &Of<Retransmission>| of.row.multipath.as_ref()?.first;
        table.flow("first_flow", rows, |of| Some(first(of)?.0));
        table.integer("first_subflow", rows, |of| Some(first(of)?.1));
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
    table.text("capture", rows, |_| capture);
    table.integer("connection", rows, |of| of.connection);
    table.flow("flow", rows, |of| towards(of.flow, direction(&of.row)));
    table.text("direction", rows, |of| word(direction(&of.row)));
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

//! Sides of connections as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::Filler;
use super::retransmissions::whose;
use super::sides;
use super::Purpose;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::{Connection, Position, SenderRow};

pub(super) fn table(connections: &[Of<Box<Connection>>], capture: &str, purpose: Purpose) -> Table {
    let rows = connections.iter().flat_map(of_connection);
    Filler::fill_each(
        &trace::SIDES,
        purpose,
        2 * connections.len(),
        rows,
        |table, rows| {
            whose(table, rows, capture, |(direction, _)| *direction);
            let senders: Vec<_> = rows.iter().map(|of| of.row.1).collect();
            sender(table, &senders);
            measured(table, &senders);
        },
    )
}

fn of_connection(
    of: &Of<Box<Connection>>,
) -> impl Iterator<Item = Of<(Direction, &SenderRow)>> + '_ {
    sides(&of.row).into_iter().map(|row| Of {
        connection: of.connection,
        start: of.start,
        flow: of.flow,
        row,
    })
}

fn sender(table: &mut Filler, rows: &[&SenderRow]) {
    table.integer("packets", rows, |row| row.packets);
    table.integer("bytes", rows, |row| row.bytes);
    table.integer("unique_bytes", rows, |row| row.unique_bytes);
    table.integer("segments", rows, |row| row.segments);
    table.integer("wire_segments", rows, |row| row.wire_segments);
    table.integer("mss_bytes", rows, |row| row.mss);
    table.integer("window_scale", rows, |row| row.window_scale);
    table.boolean("sack_permitted", rows, |row| row.sack_permitted);
    table.boolean("timestamps", rows, |row| row.timestamps);
    table.boolean("mptcp", rows, |row| row.mptcp);
    table.text("syn_signature", rows, |row| row.syn_signature.as_deref());
    table.text("syn_system", rows, |row| row.syn_system);
    table.integer("reordered", rows, |row| row.reordered);
    table.integer("network_duplicates", rows, |row| row.network_duplicates);
    table.integer("capture_duplicates", rows, |row| row.capture_duplicates);
    table.integer("capture_losses", rows, |row| row.capture_losses);
    table.integer("probes", rows, |row| row.probes);
    table.text("position", rows, |row| row.position.map(Position::as_str));
    table.seconds("monitor_delay_s", rows, |row| row.monitor_delay);
    table.seconds("rtt_min_s", rows, |row| Some(row.rtt?.0));
    table.seconds("rtt_avg_s", rows, |row| Some(row.rtt?.1));
    table.seconds("rtt_max_s", rows, |row| Some(row.rtt?.2));
    table.integer("rtt_samples", rows, |row| {
        row.rtt.map_or(0, |(.., samples)| samples)
    });
    table.text("stack", rows, |row| row.stack);
    table.number("stack_confidence", rows, |row| {
        row.stack.map(|_| row.stack_confidence)
    });
    let stacks = |row: &&SenderRow| (!row.stacks.is_empty()).then(|| row.stacks.join(","));
    let stacks: Vec<_> = rows.iter().map(stacks).collect();
    table.text("stacks", &stacks, Option::as_deref);
    table.seconds("best_case_s", rows, |row| row.best_case);
    table.integer("data_bytes", rows, |row| row.data_bytes);
}

fn measured(table: &mut Filler, rows: &[&SenderRow]) {
    table.integer("syns", rows, |row| row.measures.syns);
    table.integer("resets", rows, |row| row.measures.resets);
    table.integer("window_probes", rows, |row| row.measures.window_probes);
    table.integer("zero_windows", rows, |row| row.measures.zero_windows);
    table.seconds("zero_window_s", rows, |row| row.measures.zero_window);
    table.seconds("window_full_s", rows, |row| row.measures.window_full);
    table.integer("bytes_retransmitted", rows, |row| {
        row.measures.bytes_retransmitted
    });
    table.seconds("rtt_median_s", rows, |row| Some(row.measures.rtt?[0]));
    table.seconds("rtt_p95_s", rows, |row| Some(row.measures.rtt?[1]));
    table.seconds("data_s", rows, |row| row.measures.data);
    table.integer("congestion_marks", rows, |row| row.measures.marks);
    table.integer("unacked_sends", rows, |row| {
        Some(row.measures.unacked?.sends)
    });
    table.integer("unanswered_sends", rows, |row| {
        Some(row.measures.unacked?.unanswered)
    });
    table.seconds("unanswered_s", rows, |row| {
        Some(row.measures.unacked?.silence)
    });
    table.integer("unacked_size_bytes", rows, |row| {
        Some(row.measures.unacked?.size)
    });
    table.integer("acked_size_bytes", rows, |row| {
        Some(row.measures.unacked?.acked_size)
    });
}

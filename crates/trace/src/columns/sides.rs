//! Sides of connections as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::{whole, Filler};
use super::retransmissions::whose;
use super::sides;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::measures::{Measures, Unacked};
use crate::rows::{Connection, Position, SenderRow};

pub(super) fn table(connections: &[Of<Box<Connection>>], capture: &str) -> Table {
    let rows: Vec<_> = connections.iter().flat_map(of_connection).collect();
    Filler::fill(&trace::SIDES, &rows, |table, rows| {
        whose(table, rows, capture, |(direction, _)| *direction);
        sender(table, || rows.iter().map(|of| of.row.1));
    })
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

fn sender<'r, I>(table: &mut Filler, all: impl Fn() -> I)
where
    I: Iterator<Item = &'r SenderRow> + Clone,
{
    table.integer("packets", all().map(|row| whole(row.packets)));
    table.integer("bytes", all().map(|row| whole(row.bytes)));
    table.integer("unique_bytes", all().map(|row| whole(row.unique_bytes)));
    table.integer("segments", all().map(|row| whole(row.segments)));
    table.integer("wire_segments", all().map(|row| whole(row.wire_segments)));
    table.integer_or_null("mss_bytes", all().map(|row| row.mss.map(i64::from)));
    table.integer_or_null(
        "window_scale",
        all().map(|row| row.window_scale.map(i64::from)),
    );
    table.boolean("sack_permitted", all().map(|row| row.sack_permitted));
    table.boolean("timestamps", all().map(|row| row.timestamps));
    table.boolean("mptcp", all().map(|row| row.mptcp));
    table.text(
        "syn_signature",
        all().map(|row| row.syn_signature.as_deref()),
    );
    table.text("syn_system", all().map(|row| row.syn_system));
    table.integer("reordered", all().map(|row| i64::from(row.reordered)));
    table.integer(
        "network_duplicates",
        all().map(|row| i64::from(row.network_duplicates)),
    );
    table.integer(
        "capture_duplicates",
        all().map(|row| i64::from(row.capture_duplicates)),
    );
    table.integer(
        "capture_losses",
        all().map(|row| i64::from(row.capture_losses)),
    );
    table.integer("probes", all().map(|row| i64::from(row.probes)));
    table.text(
        "position",
        all().map(|row| row.position.map(Position::as_str)),
    );
    table.seconds("monitor_delay_s", all().map(|row| row.monitor_delay));
    table.seconds(
        "rtt_min_s",
        all().map(|row| row.rtt.map(|(least, ..)| least)),
    );
    table.seconds(
        "rtt_avg_s",
        all().map(|row| row.rtt.map(|(_, average, ..)| average)),
    );
    table.seconds(
        "rtt_max_s",
        all().map(|row| row.rtt.map(|(_, _, most, _)| most)),
    );
    let samples = |row: &SenderRow| row.rtt.map_or(0, |(.., samples)| i64::from(samples));
    table.integer("rtt_samples", all().map(samples));
    table.text("stack", all().map(|row| row.stack));
    table.number(
        "stack_confidence",
        all().map(|row| row.stack.map(|_| row.stack_confidence)),
    );
    let stacks: Vec<_> = all()
        .map(|row| (!row.stacks.is_empty()).then(|| row.stacks.join(",")))
        .collect();
    table.text("stacks", stacks.iter().map(Option::as_deref));
    table.seconds("best_case_s", all().map(|row| row.best_case));
    table.integer_or_null("data_bytes", all().map(|row| row.data_bytes.map(whole)));
    measured(table, || all().map(|row| &row.measures));
}

fn measured<'r, I>(table: &mut Filler, all: impl Fn() -> I)
where
    I: Iterator<Item = &'r Measures> + Clone,
{
    table.integer("syns", all().map(|of| i64::from(of.syns)));
    table.integer("resets", all().map(|of| i64::from(of.resets)));
    table.integer("window_probes", all().map(|of| i64::from(of.window_probes)));
    table.integer("zero_windows", all().map(|of| i64::from(of.zero_windows)));
    table.seconds("zero_window_s", all().map(|of| Some(of.zero_window)));
    table.seconds("window_full_s", all().map(|of| of.window_full));
    table.integer(
        "bytes_retransmitted",
        all().map(|of| whole(of.bytes_retransmitted)),
    );
    table.seconds(
        "rtt_median_s",
        all().map(|of| of.rtt.map(|[median, _]| median)),
    );
    table.seconds("rtt_p95_s", all().map(|of| of.rtt.map(|[_, most]| most)));
    table.seconds("data_s", all().map(|of| of.data));
    let unacked = || all().map(|of| of.unacked);
    let count = |of: fn(&Unacked) -> u32| unacked().map(move |one| one.map(|one| of(&one).into()));
    table.integer_or_null("unacked_sends", count(|of| of.sends));
    table.integer_or_null("unanswered_sends", count(|of| of.unanswered));
    table.seconds(
        "unanswered_s",
        unacked().map(|one| one.map(|of| of.silence)),
    );
    table.integer_or_null("unacked_size_bytes", count(|of| of.size));
    table.integer_or_null("acked_size_bytes", count(|of| of.acked_size));
}

//! Retransmissions of each side of a connection by mechanism, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;
use rexmit_tcp::Mechanism;
use rexmit_time::Duration;

use super::filler::Filler;
use super::retransmissions::whose;
use super::sides;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::Connection;

/// What one side sent again by one mechanism.
struct Row {
    direction: Direction,
    mechanism: Mechanism,
    needed: u32,
    spurious: u32,
    unknown: u32,
    waited: Duration,
}

pub(super) fn table(connections: &[Of<Box<Connection>>], capture: &str) -> Table {
    let rows: Vec<_> = connections.iter().flat_map(of_connection).collect();
    Filler::fill(&trace::MECHANISMS, &rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        let all = || rows.iter().map(|of| &of.row);
        table.text("mechanism", all().map(|row| Some(row.mechanism.as_str())));
        table.integer("needed", all().map(|row| i64::from(row.needed)));
        table.integer("spurious", all().map(|row| i64::from(row.spurious)));
        table.integer_or_null("unknown", all().map(|row| Some(row.unknown.into())));
        table.seconds("waited_s", all().map(|row| Some(row.waited)));
    })
}

/// The mechanisms that either side used, in their order.
fn of_connection(of: &Of<Box<Connection>>) -> impl Iterator<Item = Of<Row>> + '_ {
    sides(&of.row)
        .into_iter()
        .flat_map(move |(direction, sender)| {
            let counts = sender.retransmissions.iter().zip(&sender.waited);
            let all = Mechanism::ALL.iter().zip(counts);
            all.filter_map(
                move |(mechanism, (&[needed, spurious, unknown], &waited))| {
                    let row = Row {
                        direction,
                        mechanism: *mechanism,
                        needed,
                        spurious,
                        unknown,
                        waited,
                    };
                    let used = needed + spurious + unknown > 0 || waited > Duration::ZERO;
                    used.then_some(Of {
                        connection: of.connection,
                        start: of.start,
                        flow: of.flow,
                        row,
                    })
                },
            )
        })
}

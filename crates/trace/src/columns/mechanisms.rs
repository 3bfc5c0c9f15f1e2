//! Retransmissions of each side of a connection by mechanism, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;
use rexmit_tcp::Mechanism;
use rexmit_time::Duration;

use super::filler::Filler;
use super::retransmissions::whose;
use super::sides;
use super::Purpose;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::Connection;

/// What one side sent again by one mechanism.
struct MechanismRow {
    direction: Direction,
    mechanism: Mechanism,
    needed: u32,
    spurious: u32,
    unknown: u32,
    waited: Duration,
}

pub(super) fn table(connections: &[Of<Box<Connection>>], capture: &str, purpose: Purpose) -> Table {
    let rows = connections.iter().flat_map(of_connection);
    Filler::fill_each(&trace::MECHANISMS, purpose, 0, rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        table.text("mechanism", rows, |of| of.row.mechanism.as_str());
        table.integer("needed", rows, |of| of.row.needed);
        table.integer("spurious", rows, |of| of.row.spurious);
        table.integer("unknown", rows, |of| of.row.unknown);
        table.seconds("waited_s", rows, |of| of.row.waited);
    })
}

/// The mechanisms that either side used, in their order.
fn of_connection(of: &Of<Box<Connection>>) -> impl Iterator<Item = Of<MechanismRow>> + '_ {
    sides(&of.row)
        .into_iter()
        .flat_map(move |(direction, sender)| {
            let counts = sender.retransmissions.iter().zip(&sender.waited);
            let all = Mechanism::ALL.iter().zip(counts);
            all.filter_map(
                move |(mechanism, (&[needed, spurious, unknown], &waited))| {
                    let row = MechanismRow {
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

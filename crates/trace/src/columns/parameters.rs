//! The parameters of each side of a connection, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::Filler;
use super::retransmissions::whose;
use super::sides;
use super::Purpose;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::{Connection, Inferred, SenderRow};

/// A parameter of one side.
struct ParameterRow {
    direction: Direction,
    parameter: &'static str,
    inferred: Inferred,
}

pub(super) fn table(connections: &[Of<Box<Connection>>], capture: &str, purpose: Purpose) -> Table {
    // No page is made of them.
    let connections = connections.iter().filter(|_| purpose == Purpose::Tables);
    let rows = connections.flat_map(of_connection);
    Filler::fill_each(&trace::PARAMETERS, purpose, 0, rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        table.text("parameter", rows, |of| of.row.parameter);
        table.number("value", rows, |of| of.row.inferred.value);
        table.number("low", rows, |of| of.row.inferred.low);
        table.number("high", rows, |of| of.row.inferred.high);
    })
}

/// The parameters that either side shows, in the order of UNC 2007, Table I.
fn of_connection(of: &Of<Box<Connection>>) -> impl Iterator<Item = Of<ParameterRow>> + '_ {
    sides(&of.row)
        .into_iter()
        .flat_map(move |(direction, sender)| {
            let shown = parameters(sender).into_iter();
            shown.filter_map(move |(parameter, inferred)| {
                Some(Of {
                    connection: of.connection,
                    start: of.start,
                    flow: of.flow,
                    row: ParameterRow {
                        direction,
                        parameter,
                        inferred: inferred?,
                    },
                })
            })
        })
}

fn parameters(sender: &SenderRow) -> [(&'static str, Option<Inferred>); 6] {
    let all = &sender.parameters;
    [
        ("d", all.d),
        ("a", all.a),
        ("b", all.b),
        ("m", all.m),
        ("k", all.k),
        ("min_rto_s", all.min_rto_s),
    ]
}

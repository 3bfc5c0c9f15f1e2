//! Rows as columns, for programs that take tables: a few buffers for each column, no object for each value.
//!
//! What the columns are is declared in `rexmit_schema::trace`; a filler that fills others panics, which a table without
//! rows shows.

mod account;
mod connections;
mod filler;
mod mechanisms;
mod parameters;
mod requests;
mod retransmissions;
mod sides;
mod whatif;

use rexmit_schema::trace;
use rexmit_schema::values::Table;

pub(crate) use filler::Filler;

use crate::analyzer::Rows;
use crate::event::Direction;
use crate::rows::{Connection, SenderRow};

/// What tables are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be kept: all rows and columns.
    Tables,
    /// A page: what it reads of them.
    Page,
    /// Nobody: no columns.
    Nothing,
}

/// The tables of some rows, each with all columns for its purpose even if it has no rows. `settings` are the names of those that
/// were replayed; `purpose` is asked for each table, by its name.
#[must_use]
pub fn tables(
    rows: &Rows,
    capture: &str,
    settings: &[String],
    purpose: impl Fn(&str) -> Purpose,
) -> [Table; 9] {
    let purpose = |table: &rexmit_schema::Table| purpose(table.name);
    [
        connections::table(&rows.connections, capture, purpose(&trace::CONNECTIONS)),
        sides::table(&rows.connections, capture, purpose(&trace::SIDES)),
        mechanisms::table(&rows.connections, capture, purpose(&trace::MECHANISMS)),
        parameters::table(&rows.connections, capture, purpose(&trace::PARAMETERS)),
        retransmissions::table(
            &rows.retransmissions,
            capture,
            purpose(&trace::RETRANSMISSIONS),
        ),
        whatif::table(&rows.whatif, capture, settings, purpose(&trace::WHATIF)),
        whatif::totals(
            &rows.totals,
            capture,
            settings,
            purpose(&trace::WHATIF_TOTALS),
        ),
        account::table(&rows.connections, capture, purpose(&trace::ACCOUNT)),
        requests::table(&rows.requests, capture, purpose(&trace::REQUESTS)),
    ]
}

/// Rows that go through all columns together, so that they stay in the cache.
const TOGETHER: usize = 128;

/// Both sides of a connection, each with its row.
fn sides(connection: &Connection) -> [(Direction, &SenderRow); 2] {
    [
        (Direction::Forward, &connection.forward),
        (Direction::Backward, &connection.backward),
    ]
}

const fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    }
}

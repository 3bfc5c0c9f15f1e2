//! The columns of all tables as Python objects.

use rexmit_schema::{Place, PLACES};
use rexmit_tcp::Mechanism;
use rexmit_trace::account::Owner;

/// Name, kind, meaning, unit, whether it may be null, and whether it is for who asks an engine for rows to fill in.
pub type Column = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
    bool,
    bool,
);

/// Name, the columns that rows are sorted by, columns.
pub type Table = (&'static str, Vec<&'static str>, Vec<Column>);

/// The tables of each place by its name.
pub fn places() -> Vec<(&'static str, Vec<Table>)> {
    let tables = |place: &Place| place.tables.iter().map(table).collect();
    PLACES
        .iter()
        .map(|place| (place.name, tables(place)))
        .collect()
}

fn table(table: &'static rexmit_schema::Table) -> Table {
    let column = |of: &rexmit_schema::Column| {
        let kind = of.kind.as_str();
        (of.name, kind, of.meaning, of.unit(), of.nullable, of.known)
    };
    let columns = table.columns().map(column).collect();
    (table.name, table.order.to_vec(), columns)
}

/// The words of owners of time, in order.
pub fn owners() -> Vec<&'static str> {
    Owner::ALL.iter().map(|one| one.as_str()).collect()
}

/// The words of mechanisms, in order.
pub fn mechanisms() -> Vec<&'static str> {
    Mechanism::ALL.iter().map(|one| one.as_str()).collect()
}

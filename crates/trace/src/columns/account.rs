//! Whose the time of connections was, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::{nanos, Filler};
use super::retransmissions::whose;
use super::sides;
use crate::account::Share;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::Connection;

/// What an owner has of one direction, and whether that is the one that the user waited for.
type Row = (Direction, Share, bool);

pub(super) fn table(connections: &[Of<Box<Connection>>], capture: &str) -> Table {
    let rows: Vec<_> = connections.iter().flat_map(of_connection).collect();
    Filler::fill(&trace::ACCOUNT, &rows, |table, rows| {
        whose(table, rows, capture, |(direction, ..)| *direction);
        let all = || rows.iter().map(|of| of.row.1);
        let owners = rows.iter().map(|of| Some(of.row.1.owner.as_str()));
        table.text("owner", owners);
        table.boolean("asked", rows.iter().map(|of| of.row.2));
        table.integer("length_ns", all().map(|share| share.length.as_nanos()));
        table.integer("stretches", all().map(|share| share.stretches.into()));
        table.integer("slow", all().map(|share| share.slow.into()));
        table.integer("slow_ns", all().map(|share| share.slow_length.as_nanos()));
        table.integer_or_null(
            "slow_least_ns",
            all().map(|share| Some(share.slow_least?.as_nanos())),
        );
        table.integer("longest_ns", all().map(|share| share.longest.as_nanos()));
        table.integer("evidence_ns", all().map(|share| nanos(share.evidence)));
        let other = all().map(|share| Some(share.other.as_nanos()));
        table.integer_or_null("other_ns", other);
    })
}

fn of_connection(of: &Of<Box<Connection>>) -> impl Iterator<Item = Of<Row>> + '_ {
    let upload = of.row.forward.unique_bytes > of.row.backward.unique_bytes;
    sides(&of.row)
        .into_iter()
        .flat_map(move |(direction, sender)| {
            let asked = (direction == Direction::Forward) == upload;
            sender.account.iter().map(move |share| Of {
                connection: of.connection,
                start: of.start,
                flow: of.flow,
                row: (direction, *share, asked),
            })
        })
}

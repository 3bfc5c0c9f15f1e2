//! Whose the time of connections was, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::Filler;
use super::retransmissions::whose;
use super::sides;
use super::Purpose;
use crate::account::{Owner, Share};
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::Connection;

/// What an owner has of one direction, and whether that is the one that the user waited for.
type Row = (Direction, Share, bool);

pub(super) fn table(connections: &[Of<Box<Connection>>], capture: &str, purpose: Purpose) -> Table {
    let is_wanted = |of: &Of<Row>| purpose == Purpose::Tables || is_on_page(&of.row);
    let rows = connections.iter().flat_map(of_connection).filter(is_wanted);
    let senders = connections.iter().flat_map(|of| sides(&of.row));
    let about: usize = senders.map(|(_, sender)| sender.account.len()).sum();
    // Both directions have about as many; memory that is not filled would stay with the table.
    let about = if purpose == Purpose::Page {
        about / 2
    } else {
        about
    };
    Filler::fill_each(&trace::ACCOUNT, purpose, about, rows, |table, rows| {
        whose(table, rows, capture, |(direction, ..)| *direction);
        table.text("owner", rows, |of| of.row.1.owner.as_str());
        table.boolean("asked", rows, |of| of.row.2);
        table.integer("length_ns", rows, |of| of.row.1.length);
        table.integer("stretches", rows, |of| of.row.1.stretches);
        table.integer("slow", rows, |of| of.row.1.slow);
        table.integer("slow_ns", rows, |of| of.row.1.slow_length);
        table.integer("slow_least_ns", rows, |of| of.row.1.slow_least);
        table.integer("longest_ns", rows, |of| of.row.1.longest);
        table.integer("evidence_ns", rows, |of| of.row.1.evidence);
        table.integer("other_ns", rows, |of| of.row.1.other);
    })
}

/// Whether a page is made of it: of what somebody waited for, and where the path lets no more pass.
fn is_on_page((_, share, asked): &Row) -> bool {
    *asked || matches!(share.owner, Owner::PathRate | Owner::PathMtu)
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

//! What other settings would have done, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::Filler;
use super::retransmissions::whose;
use super::Purpose;
use crate::analyzer::Of;
use crate::rows::{Changes, WhatIf};
use crate::whatif::Totals;

pub(super) fn table(
    rows: &[Of<WhatIf>],
    capture: &str,
    settings: &[String],
    purpose: Purpose,
) -> Table {
    Filler::fill(&trace::WHATIF, purpose, rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        let name = |row: &WhatIf| settings.get(row.setting as usize).map(String::as_str);
        table.text("setting", rows, |of| name(&of.row));
        changes(table, rows, |of| of.row.changes);
        table.seconds("change_s", rows, |of| of.row.change);
        table.seconds("waited_change_s", rows, |of| of.row.waited);
    })
}

/// A column for each way in which retransmissions may change.
fn changes<T>(table: &mut Filler, rows: &[T], of: impl Fn(&T) -> Changes) {
    table.integer("avoided", rows, |row| of(row).avoided);
    table.integer("rto_to_fr", rows, |row| of(row).rto_to_fr);
    table.integer("fr_to_rto", rows, |row| of(row).fr_to_rto);
    table.integer("spurious_rto_avoided", rows, |row| {
        of(row).spurious_rto_avoided
    });
    table.integer("spurious_fr_avoided", rows, |row| {
        of(row).spurious_fr_avoided
    });
    table.integer("spurious_rto_caused", rows, |row| {
        of(row).spurious_rto_caused
    });
    table.integer("spurious_fr_caused", rows, |row| of(row).spurious_fr_caused);
}

pub(super) fn totals(
    totals: &Totals,
    capture: &str,
    settings: &[String],
    purpose: Purpose,
) -> Table {
    Filler::fill(
        &trace::WHATIF_TOTALS,
        purpose,
        &totals.rows(),
        |table, rows| {
            table.text("capture", rows, |_| capture);
            table.text("stack", rows, |(stack, ..)| *stack);
            let name = |setting: u32| settings.get(setting as usize).map(String::as_str);
            table.text("setting", rows, |(_, setting, _)| name(*setting));
            table.integer("changed", rows, |(.., total)| total.changed);
            table.integer("shorter", rows, |(.., total)| total.shorter);
            table.integer("longer", rows, |(.., total)| total.longer);
            changes(table, rows, |(.., total)| total.changes);
            table.seconds("change_s", rows, |(.., total)| total.change);
            table.seconds("waited_change_s", rows, |(.., total)| total.waited);
        },
    )
}

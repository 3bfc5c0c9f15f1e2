//! What other settings would have done, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::{whole, Filler};
use super::retransmissions::whose;
use crate::analyzer::Of;
use crate::rows::{Changes, WhatIf};
use crate::whatif::{Total, Totals};

pub(super) fn table(rows: &[Of<WhatIf>], capture: &str, settings: &[String]) -> Table {
    Filler::fill(&trace::WHATIF, rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        let all = || rows.iter().map(|of| &of.row);
        let name = |row: &WhatIf| settings.get(row.setting as usize).map(String::as_str);
        table.text("setting", all().map(name));
        changes(table, &rows.iter().map(|of| of.row.changes));
        table.seconds("change_s", all().map(|row| Some(row.change)));
        table.seconds("waited_change_s", all().map(|row| Some(row.waited)));
    })
}

/// One of the counts of a row.
type Count<T> = fn(&T) -> u64;

/// A column for each way in which retransmissions may change.
fn changes(table: &mut Filler, rows: &(impl Iterator<Item = Changes> + Clone)) {
    let columns: [(&str, Count<Changes>); 7] = [
        ("avoided", |changes| changes.avoided),
        ("rto_to_fr", |changes| changes.rto_to_fr),
        ("fr_to_rto", |changes| changes.fr_to_rto),
        ("spurious_rto_avoided", |changes| {
            changes.spurious_rto_avoided
        }),
        ("spurious_fr_avoided", |changes| changes.spurious_fr_avoided),
        ("spurious_rto_caused", |changes| changes.spurious_rto_caused),
        ("spurious_fr_caused", |changes| changes.spurious_fr_caused),
    ];
    for (name, of) in columns {
        table.integer(name, rows.clone().map(|changes| whole(of(&changes))));
    }
}

pub(super) fn totals(totals: &Totals, capture: &str, settings: &[String]) -> Table {
    Filler::fill(&trace::WHATIF_TOTALS, &totals.rows(), |table, rows| {
        table.text("capture", rows.iter().map(|_| Some(capture)));
        table.text("stack", rows.iter().map(|(stack, _, _)| Some(*stack)));
        let name = |setting: u32| settings.get(setting as usize).map(String::as_str);
        table.text("setting", rows.iter().map(|(_, setting, _)| name(*setting)));
        let columns: [(&str, Count<Total>); 3] = [
            ("changed", |total| total.changed.into()),
            ("shorter", |total| total.shorter.into()),
            ("longer", |total| total.longer.into()),
        ];
        for (name, of) in columns {
            table.integer(name, rows.iter().map(|(_, _, total)| whole(of(total))));
        }
        changes(table, &rows.iter().map(|(_, _, total)| total.changes));
        let all = || rows.iter().map(|(_, _, total)| total);
        table.seconds("change_s", all().map(|total| Some(total.change)));
        table.seconds("waited_change_s", all().map(|total| Some(total.waited)));
    })
}

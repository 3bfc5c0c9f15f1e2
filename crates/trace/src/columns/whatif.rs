//! What other settings would have done, as columns.

use super::buffers::{whole, Filler, Table};
use super::retransmissions::whose;
use crate::analyzer::Of;
use crate::rows::WhatIf;
use crate::whatif::{Total, Totals};

pub(super) fn table(rows: &[Of<WhatIf>], capture: &str, settings: &[String]) -> Table {
    Filler::fill(rows, |table, rows| {
        whose(table, rows, capture, |row| row.direction);
        let all = || rows.iter().map(|of| &of.row);
        let name = |row: &WhatIf| settings.get(row.setting as usize).map(String::as_str);
        table.text("setting", all().map(name));
        table.integer("avoided", all().map(|row| i64::from(row.avoided)));
        table.integer("rto_to_fr", all().map(|row| i64::from(row.rto_to_fr)));
        table.integer("fr_to_rto", all().map(|row| i64::from(row.fr_to_rto)));
        table.integer(
            "spurious_rto_avoided",
            all().map(|row| i64::from(row.spurious_rto_avoided)),
        );
        table.integer(
            "spurious_fr_avoided",
            all().map(|row| i64::from(row.spurious_fr_avoided)),
        );
        table.integer(
            "spurious_rto_caused",
            all().map(|row| i64::from(row.spurious_rto_caused)),
        );
        table.integer(
            "spurious_fr_caused",
            all().map(|row| i64::from(row.spurious_fr_caused)),
        );
        table.seconds("change_s", all().map(|row| Some(row.change)));
    })
}

/// A count among the sums.
type Count = fn(&Total) -> u64;

pub(super) fn totals(totals: &Totals, capture: &str, settings: &[String]) -> Table {
    Filler::fill(&totals.rows(), |table, rows| {
        table.text("capture", rows.iter().map(|_| Some(capture)));
        table.text("stack", rows.iter().map(|(stack, _, _)| Some(*stack)));
        let name = |setting: u32| settings.get(setting as usize).map(String::as_str);
        table.text("setting", rows.iter().map(|(_, setting, _)| name(*setting)));
        let columns: [(&str, Count); 10] = [
            ("changed", |total| u64::from(total.changed)),
            ("shorter", |total| u64::from(total.shorter)),
            ("longer", |total| u64::from(total.longer)),
            ("avoided", |total| total.avoided),
            ("rto_to_fr", |total| total.rto_to_fr),
            ("fr_to_rto", |total| total.fr_to_rto),
            ("spurious_rto_avoided", |total| total.spurious_rto_avoided),
            ("spurious_fr_avoided", |total| total.spurious_fr_avoided),
            ("spurious_rto_caused", |total| total.spurious_rto_caused),
            ("spurious_fr_caused", |total| total.spurious_fr_caused),
        ];
        for (name, of) in columns {
            table.integer(name, rows.iter().map(|(_, _, total)| whole(of(total))));
        }
        let change = |total: &Total| Some(total.change);
        table.seconds("change_s", rows.iter().map(|(_, _, total)| change(total)));
    })
}

//! What other settings would have done, as columns.

use super::buffers::{whole, Filler, Table};
use super::retransmissions::towards;
use super::word;
use crate::analyzer::Of;
use crate::rows::WhatIf;

pub(super) fn table(rows: &[Of<WhatIf>], capture: &str, settings: &[String]) -> Table {
    Filler::fill(rows, |table, rows| {
        table.text("capture", rows.iter().map(|_| Some(capture)));
        table.integer("connection", rows.iter().map(|of| whole(of.connection)));
        table.flow(
            "flow",
            rows.iter().map(|of| towards(of.flow, of.row.direction)),
        );
        let all = || rows.iter().map(|of| &of.row);
        table.text("direction", all().map(|row| Some(word(row.direction))));
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

//! The page of all columns, in Markdown.

use std::fmt::Write;

use crate::{Column, Table, PLACES};

/// The text of `docs/reference/columns.md`.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Columns of the tables\n\n\
         Made from `crates/schema`; `cargo run --package rexmit-schema > docs/reference/columns.md` makes it again. Words are explained in \
         [glossary.md](glossary.md). A column may be null where `null` stands behind its type.\n",
    );
    for place in PLACES {
        // Writing to a String cannot fail.
        let _ = write!(page, "\n## {}\n\n{}\n", place.name, place.about);
        for table in place.tables {
            put(&mut page, table);
        }
    }
    page
}

fn put(page: &mut String, table: &Table) {
    let _ = write!(page, "\n### {}\n\n{}", table.name, table.about);
    if !table.order.is_empty() {
        let _ = write!(page, " Sorted by {}.", table.order.join(", "));
    }
    page.push_str("\n\n| column | type | unit | meaning |\n|---|---|---|---|\n");
    for column in table.columns() {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            column.name,
            kind(column),
            column.unit().unwrap_or(""),
            column.meaning.replace('|', "\\|").replace('*', "\\*")
        );
    }
}

fn kind(column: &Column) -> String {
    let null = if column.nullable { ", null" } else { "" };
    format!("{}{null}", column.kind.as_str())
}

use std::collections::BTreeSet;

use crate::{page, run, trace, Kind, Table, PLACES};

fn tables() -> impl Iterator<Item = &'static Table> {
    PLACES.iter().flat_map(|place| place.tables)
}

#[test]
fn every_name_stands_once_and_has_a_meaning() {
    for table in tables() {
        let names: BTreeSet<_> = table.columns().map(|column| column.name).collect();
        assert_eq!(names.len(), table.columns().count(), "{}", table.name);
        for column in table.columns() {
            assert!(!column.meaning.is_empty(), "{}", column.name);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(column.name.chars().all(plain), "{}", column.name);
        }
        for name in table.order {
            assert!(names.contains(name), "{}: {name}", table.name);
        }
    }
}

#[test]
fn a_retransmission_has_the_same_columns_in_a_run_and_in_a_trace() {
    let run: Vec<_> = run::RETRANSMISSIONS.columns().collect();
    let both: BTreeSet<_> = trace::RETRANSMISSIONS
        .columns()
        .filter_map(|column| {
            run.iter()
                .find(|other| other.name == column.name)
                .map(|other| (column, other))
        })
        .inspect(|(column, other)| assert_eq!(column, *other))
        .map(|(column, _)| column.name)
        .collect();
    let shared: BTreeSet<_> = run::EVERY_RETRANSMISSION
        .iter()
        .map(|column| column.name)
        .collect();
    assert_eq!(both, shared);
}

#[test]
fn a_name_that_ends_in_a_unit_is_of_a_number() {
    for column in tables().flat_map(Table::columns) {
        if column.name.ends_with("_s") || column.name.ends_with("_rtts") {
            assert_eq!(column.kind, Kind::Number, "{}", column.name);
        }
        if column.name.ends_with("_ns") || column.name.ends_with("bytes") {
            assert_eq!(column.kind, Kind::Integer, "{}", column.name);
        }
    }
    let unit = |name: &str| {
        tables()
            .flat_map(Table::columns)
            .find(|column| column.name == name)?
            .unit()
    };
    let units = [
        "t_total_s",
        "time_ns",
        "bytes_retransmitted",
        "detection_rtts",
        "cwnd",
    ];
    let named = [
        Some("s"),
        Some("ns"),
        Some("bytes"),
        Some("round-trip times"),
        None,
    ];
    assert_eq!(units.map(unit), named);
}

#[test]
fn the_page_of_columns_is_current() {
    let kept = include_str!("../../../docs/reference/columns.md");
    assert!(
        kept == page(),
        "docs/reference/columns.md is not what the declarations say: cargo run --package rexmit-schema > docs/reference/columns.md"
    );
}

//! How the columns of a table are filled.

use rexmit_schema::values::{Column, Table, Values};
use rexmit_schema::Kind;
use rexmit_time::{Duration, Time};
use rexmit_wire::FlowKey;

/// Fills a table as it is declared: each pass goes through all columns in their order and adds some rows to each.
#[derive(Debug)]
pub(crate) struct Filler {
    columns: Vec<Column>,
    at: usize,
}

impl Filler {
    /// A table of `rows`, some at a time.
    ///
    /// # Panics
    ///
    /// If a pass does not name the columns that are declared, all of them and in their order.
    pub fn fill<T>(
        declared: &'static rexmit_schema::Table,
        rows: &[T],
        mut pass: impl FnMut(&mut Filler, &[T]),
    ) -> Table {
        let column = |declared| Column {
            declared,
            values: Values::new(declared, rows.len()),
        };
        let mut filler = Filler {
            columns: declared.columns().map(column).collect(),
            at: 0,
        };
        // Without rows, one pass over nothing shows whether the columns are those that are declared.
        for some in rows
            .chunks(super::TOGETHER)
            .chain(rows.is_empty().then_some(rows))
        {
            filler.at = 0;
            pass(&mut filler, some);
            assert_eq!(filler.at, filler.columns.len(), "{}", declared.name);
        }
        Table {
            name: declared.name,
            columns: filler.columns,
        }
    }

    /// The values of the next column, which must be the one that is declared.
    fn values(&mut self, name: &str, kind: Kind) -> &mut Values {
        let Column { declared, values } = &mut self.columns[self.at];
        self.at += 1;
        assert!(
            declared.name == name && declared.kind == kind,
            "{name} is filled where {} is declared",
            declared.name,
        );
        values
    }

    pub fn integer(&mut self, name: &str, add: impl Iterator<Item = i64>) {
        match self.values(name, Kind::Integer) {
            Values::Integer(values, None) => values.extend(add),
            _ => panic!("{name} is declared with nulls"),
        }
    }

    pub fn integer_or_null(&mut self, name: &str, add: impl Iterator<Item = Option<i64>>) {
        match self.values(name, Kind::Integer) {
            Values::Integer(values, Some(mask)) => {
                for value in add {
                    values.push(value.unwrap_or(0));
                    mask.push(value.is_some());
                }
            }
            _ => panic!("{name} is declared without nulls"),
        }
    }

    pub fn number(&mut self, name: &str, add: impl Iterator<Item = Option<f64>>) {
        if let Values::Number(values) = self.values(name, Kind::Number) {
            values.extend(add.map(|value| value.unwrap_or(f64::NAN)));
        }
    }

    pub fn seconds(&mut self, name: &str, add: impl Iterator<Item = Option<Duration>>) {
        self.number(name, add.map(|length| length.map(Duration::as_secs_f64)));
    }

    pub fn boolean(&mut self, name: &str, add: impl Iterator<Item = bool>) {
        match self.values(name, Kind::Boolean) {
            Values::Boolean(values, None) => values.extend(add),
            _ => panic!("{name} is declared with nulls"),
        }
    }

    pub fn text<'t>(&mut self, name: &str, add: impl Iterator<Item = Option<&'t str>>) {
        if let Values::Text(values, texts) = self.values(name, Kind::Text) {
            values.extend(add.map(|text| text.map_or(-1, |text| texts.word(text))));
        }
    }

    pub fn flow(&mut self, name: &str, add: impl Iterator<Item = Option<FlowKey>>) {
        if let Values::Text(values, texts) = self.values(name, Kind::Text) {
            // Rows of a flow stand together.
            let mut last = None;
            values.extend(add.map(|flow| match (flow, last) {
                (None, _) => -1,
                (Some(flow), Some((before, index))) if flow == before => index,
                (Some(flow), _) => {
                    let index = texts.push(flow);
                    last = Some((flow, index));
                    index
                }
            }));
        }
    }
}

/// Seconds of a clock.
pub(super) fn seconds(time: Time) -> Option<f64> {
    Some(time.as_nanos() as f64 / 1e9)
}

/// Nanoseconds of a clock.
pub(super) fn nanos(time: Time) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// A number that is never as large as the type's bound.
pub(crate) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

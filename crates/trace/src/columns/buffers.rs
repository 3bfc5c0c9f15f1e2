//! The buffers of a table, and how they are filled.

use std::collections::BTreeMap;
use std::fmt::Write;

use rexmit_schema::Kind;
use rexmit_time::{Duration, Time};
use rexmit_wire::FlowKey;

/// A table as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in the order in which they are declared, all of one length.
    pub columns: Vec<Column>,
}

/// A column as it is declared, and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What it is.
    pub declared: &'static rexmit_schema::Column,
    /// Its values.
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers. The mask, if there is one, is false where the value is null.
    Integer(Vec<i64>, Option<Vec<bool>>),
    /// Numbers; null is NaN.
    Number(Vec<f64>),
    /// True or false.
    Boolean(Vec<bool>),
    /// For each row the number of its text; −1 is null.
    Text(Vec<i32>, Texts),
}

impl Values {
    fn new(declared: &rexmit_schema::Column, rows: usize) -> Self {
        match declared.kind {
            Kind::Integer if declared.nullable => {
                Values::Integer(Vec::with_capacity(rows), Some(Vec::with_capacity(rows)))
            }
            Kind::Integer => Values::Integer(Vec::with_capacity(rows), None),
            Kind::Number => Values::Number(Vec::with_capacity(rows)),
            Kind::Boolean => Values::Boolean(Vec::with_capacity(rows)),
            Kind::Text => Values::Text(Vec::with_capacity(rows), Texts::default()),
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Integer(values, _) => values.len(),
            Values::Number(values) => values.len(),
            Values::Boolean(values) => values.len(),
            Values::Text(values, _) => values.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a row is null.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        match self {
            Values::Integer(_, mask) => mask.iter().flatten().any(|there| !there),
            Values::Number(values) => values.iter().any(|value| value.is_nan()),
            Values::Boolean(_) => false,
            Values::Text(values, _) => values.iter().any(|value| *value < 0),
        }
    }
}

/// Different texts, one behind the other; a text may be there twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    /// All.
    pub all: String,
    /// Where each one ends in `all`.
    pub ends: Vec<usize>,
    known: BTreeMap<String, i32>,
    last_flow: Option<FlowKey>,
}

impl Texts {
    fn word(&mut self, word: &str) -> i32 {
        if let Some(index) = self.known.get(word) {
            return *index;
        }
        self.all.push_str(word);
        let index = self.end();
        self.known.insert(word.to_owned(), index);
        index
    }

    fn flow(&mut self, flow: FlowKey) -> i32 {
        if self.last_flow != Some(flow) {
            self.last_flow = Some(flow);
            // Writing to a String cannot fail.
            let _ = write!(self.all, "{flow}");
            return self.end();
        }
        self.ends.len() as i32 - 1
    }

    fn end(&mut self) -> i32 {
        self.ends.push(self.all.len());
        self.ends.len() as i32 - 1
    }

    /// Each text, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| &self.all[start..*end])
    }
}

/// Fills a table as it is declared: each pass goes through all columns in their order and adds some rows to each.
#[derive(Debug)]
pub(super) struct Filler {
    columns: Vec<Column>,
    at: usize,
    prefix: &'static str,
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
            prefix: "",
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

    /// What the names of the next columns begin with.
    pub fn prefix(&mut self, prefix: &'static str) {
        self.prefix = prefix;
    }

    /// The values of the next column, which must be the one that is declared.
    fn values(&mut self, name: &str, kind: Kind) -> &mut Values {
        let Column { declared, values } = &mut self.columns[self.at];
        self.at += 1;
        assert!(
            declared.name.strip_prefix(self.prefix) == Some(name) && declared.kind == kind,
            "{}{name} is filled where {} is declared",
            self.prefix,
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
        if let Values::Boolean(values) = self.values(name, Kind::Boolean) {
            values.extend(add);
        }
    }

    pub fn text<'t>(&mut self, name: &str, add: impl Iterator<Item = Option<&'t str>>) {
        if let Values::Text(values, texts) = self.values(name, Kind::Text) {
            values.extend(add.map(|text| text.map_or(-1, |text| texts.word(text))));
        }
    }

    pub fn flow(&mut self, name: &str, add: impl Iterator<Item = Option<FlowKey>>) {
        if let Values::Text(values, texts) = self.values(name, Kind::Text) {
            values.extend(add.map(|flow| flow.map_or(-1, |flow| texts.flow(flow))));
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
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

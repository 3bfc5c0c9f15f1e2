//! The buffers of a table, and how they are filled.

use std::collections::BTreeMap;
use std::fmt::Write;

use rexmit_time::{Duration, Time};
use rexmit_wire::FlowKey;

/// A table as columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its columns, in order, all of one length.
    pub columns: Vec<Column>,
}

/// A column and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers. The mask, if there is one, is 0 where the value is null.
    Integer(Vec<i64>, Option<Vec<u8>>),
    /// Numbers; null is NaN.
    Number(Vec<f64>),
    /// 0 or 1.
    Boolean(Vec<u8>),
    /// For each row the index of its text; −1 is null.
    Text(Vec<i32>, Texts),
}

impl Values {
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
}

/// Different texts; a text may be there twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    /// All, with a line feed behind each; line feeds within are blanks.
    pub lines: String,
    /// How many there are.
    pub count: i32,
    known: BTreeMap<String, i32>,
    last_flow: Option<FlowKey>,
}

impl Texts {
    fn word(&mut self, word: &str) -> i32 {
        if let Some(index) = self.known.get(word) {
            return *index;
        }
        for (n, part) in word.split('\n').enumerate() {
            if n > 0 {
                self.lines.push(' ');
            }
            self.lines.push_str(part);
        }
        self.known.insert(word.to_owned(), self.count);
        self.end()
    }

    fn flow(&mut self, flow: FlowKey) -> i32 {
        if self.last_flow == Some(flow) {
            return self.count - 1;
        }
        self.last_flow = Some(flow);
        // Writing to a String cannot fail.
        let _ = write!(self.lines, "{flow}");
        self.end()
    }

    fn end(&mut self) -> i32 {
        self.lines.push('\n');
        self.count += 1;
        self.count - 1
    }
}

/// Fills a table: each pass names all columns in the same order and adds some rows to each.
#[derive(Debug, Default)]
pub(super) struct Filler {
    columns: Vec<Column>,
    at: usize,
    /// How many rows the table will have.
    rows: usize,
    prefix: &'static str,
}

impl Filler {
    /// A table of `rows`, some at a time.
    pub fn fill<T>(rows: &[T], mut pass: impl FnMut(&mut Filler, &[T])) -> Table {
        let mut filler = Filler {
            rows: rows.len(),
            ..Filler::default()
        };
        // Without rows, one pass over nothing makes the columns.
        for some in rows
            .chunks(super::TOGETHER)
            .chain(rows.is_empty().then_some(rows))
        {
            filler.at = 0;
            pass(&mut filler, some);
        }
        Table {
            columns: filler.columns,
        }
    }

    /// What the names of the next columns begin with.
    pub fn prefix(&mut self, prefix: &'static str) {
        self.prefix = prefix;
    }

    fn values(&mut self, name: &str, new: fn(usize) -> Values) -> &mut Values {
        if self.at == self.columns.len() {
            self.columns.push(Column {
                name: format!("{}{name}", self.prefix),
                values: new(self.rows),
            });
        }
        self.at += 1;
        &mut self.columns[self.at - 1].values
    }

    pub fn integer(&mut self, name: &str, add: impl Iterator<Item = i64>) {
        if let Values::Integer(values, _) =
            self.values(name, |rows| Values::Integer(Vec::with_capacity(rows), None))
        {
            values.extend(add);
        }
    }

    pub fn integer_or_null(&mut self, name: &str, add: impl Iterator<Item = Option<i64>>) {
        let new = |rows| Values::Integer(Vec::with_capacity(rows), Some(Vec::with_capacity(rows)));
        if let Values::Integer(values, Some(mask)) = self.values(name, new) {
            for value in add {
                values.push(value.unwrap_or(0));
                mask.push(u8::from(value.is_some()));
            }
        }
    }

    pub fn number(&mut self, name: &str, add: impl Iterator<Item = Option<f64>>) {
        if let Values::Number(values) =
            self.values(name, |rows| Values::Number(Vec::with_capacity(rows)))
        {
            values.extend(add.map(|value| value.unwrap_or(f64::NAN)));
        }
    }

    pub fn seconds(&mut self, name: &str, add: impl Iterator<Item = Option<Duration>>) {
        self.number(name, add.map(|length| length.map(Duration::as_secs_f64)));
    }

    pub fn boolean(&mut self, name: &str, add: impl Iterator<Item = bool>) {
        if let Values::Boolean(values) =
            self.values(name, |rows| Values::Boolean(Vec::with_capacity(rows)))
        {
            values.extend(add.map(u8::from));
        }
    }

    pub fn text<'t>(&mut self, name: &str, add: impl Iterator<Item = Option<&'t str>>) {
        let new = |rows| Values::Text(Vec::with_capacity(rows), Texts::default());
        if let Values::Text(values, texts) = self.values(name, new) {
            values.extend(add.map(|text| text.map_or(-1, |text| texts.word(text))));
        }
    }

    pub fn flow(&mut self, name: &str, add: impl Iterator<Item = FlowKey>) {
        let new = |rows| Values::Text(Vec::with_capacity(rows), Texts::default());
        if let Values::Text(values, texts) = self.values(name, new) {
            values.extend(add.map(|flow| texts.flow(flow)));
        }
    }

    pub fn flow_or_null(&mut self, name: &str, add: impl Iterator<Item = Option<FlowKey>>) {
        let new = |rows| Values::Text(Vec::with_capacity(rows), Texts::default());
        if let Values::Text(values, texts) = self.values(name, new) {
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

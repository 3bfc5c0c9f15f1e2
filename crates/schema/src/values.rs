//! The rows of a table as columns: a few buffers for each column, no object for each value.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use crate::Kind;

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
    pub declared: &'static crate::Column,
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
    /// True or false. The mask as with whole numbers.
    Boolean(Vec<bool>, Option<Vec<bool>>),
    /// For each row the number of its text; −1 is null.
    Text(Vec<i32>, Texts),
}

impl Values {
    /// No values yet of a column that is declared so; there is room for those of `rows`.
    #[must_use]
    pub fn new(declared: &crate::Column, rows: usize) -> Self {
        let mask = declared.nullable.then(|| Vec::with_capacity(rows));
        match declared.kind {
            Kind::Integer => Values::Integer(Vec::with_capacity(rows), mask),
            Kind::Number => Values::Number(Vec::with_capacity(rows)),
            Kind::Boolean => Values::Boolean(Vec::with_capacity(rows), mask),
            Kind::Text => Values::Text(Vec::with_capacity(rows), Texts::default()),
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Integer(values, _) => values.len(),
            Values::Number(values) => values.len(),
            Values::Boolean(values, _) => values.len(),
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
            Values::Integer(_, mask) | Values::Boolean(_, mask) => {
                mask.iter().flatten().any(|there| !there)
            }
            Values::Number(values) => values.iter().any(|value| value.is_nan()),
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
}

impl Texts {
    /// The number of a word, of which there are few: it is kept once.
    pub fn word(&mut self, word: &str) -> i32 {
        if let Some(index) = self.known.get(word) {
            return *index;
        }
        self.all.push_str(word);
        let index = self.end();
        self.known.insert(word.to_owned(), index);
        index
    }

    /// The number of a text that most likely was not there before.
    pub fn push(&mut self, text: impl Display) -> i32 {
        // Writing to a String cannot fail.
        let _ = write!(self.all, "{text}");
        self.end()
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

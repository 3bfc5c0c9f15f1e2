//! How the columns of a table are filled.

use rexmit_schema::values::{Column, Table, Values};
use rexmit_schema::Kind;
use rexmit_time::{Duration, Time};
use rexmit_wire::FlowKey;

use super::Purpose;

/// Fills a table as it is declared: each pass goes through all columns in their order and adds some rows to each.
#[derive(Debug)]
pub(crate) struct Filler {
    columns: Vec<(&'static rexmit_schema::Column, Option<Values>)>,
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
        purpose: Purpose,
        rows: &[T],
        mut pass: impl FnMut(&mut Filler, &[T]),
    ) -> Table {
        let mut filler = Filler::new(declared, purpose, rows.len());
        // Without rows, one pass over nothing shows whether the columns are those that are declared.
        for some in rows
            .chunks(super::TOGETHER)
            .chain(rows.is_empty().then_some(rows))
        {
            filler.pass(declared, some, &mut pass);
        }
        filler.table(declared)
    }

    /// As [`Filler::fill`], of rows that are made one after the other, about so many: they are never all there at a time.
    pub fn fill_each<T>(
        declared: &'static rexmit_schema::Table,
        purpose: Purpose,
        about: usize,
        mut rows: impl Iterator<Item = T>,
        mut pass: impl FnMut(&mut Filler, &[T]),
    ) -> Table {
        let mut filler = Filler::new(declared, purpose, about);
        let mut some = Vec::with_capacity(super::TOGETHER);
        loop {
            some.extend(rows.by_ref().take(super::TOGETHER));
            filler.pass(declared, &some, &mut pass);
            if some.len() < super::TOGETHER {
                return filler.table(declared);
            }
            some.clear();
        }
    }

    fn new(declared: &'static rexmit_schema::Table, purpose: Purpose, rows: usize) -> Self {
        let column = |declared: &'static rexmit_schema::Column| {
            let is_wanted = match purpose {
                Purpose::Tables => true,
                Purpose::Page => declared.on_page,
                Purpose::Nothing => false,
            };
            (declared, is_wanted.then(|| Values::new(declared, rows)))
        };
        Filler {
            columns: declared.columns().map(column).collect(),
            at: 0,
        }
    }

    fn pass<T>(
        &mut self,
        declared: &rexmit_schema::Table,
        rows: &[T],
        pass: &mut impl FnMut(&mut Filler, &[T]),
    ) {
        self.at = 0;
        pass(self, rows);
        assert_eq!(self.at, self.columns.len(), "{}", declared.name);
    }

    fn table(self, declared: &rexmit_schema::Table) -> Table {
        let column = |(declared, values): (_, Option<Values>)| {
            values.map(|values| Column { declared, values })
        };
        Table {
            name: declared.name,
            columns: self.columns.into_iter().filter_map(column).collect(),
        }
    }

    /// The values of the next column, which must be the one that is declared; none where none are wanted.
    fn values(&mut self, name: &str, kind: Kind) -> Option<&mut Values> {
        let (declared, values) = &mut self.columns[self.at];
        self.at += 1;
        assert!(
            declared.name == name && declared.kind == kind,
            "{name} is filled where {} is declared",
            declared.name,
        );
        values.as_mut()
    }

    /// Whole numbers of rows.
    ///
    /// # Panics
    ///
    /// If one is null in a column that is declared without nulls.
    pub fn integer<T, V: Whole>(&mut self, name: &str, rows: &[T], value: impl Fn(&T) -> V) {
        let all = rows.iter().map(|row| value(row).whole());
        match self.values(name, Kind::Integer) {
            Some(Values::Integer(values, None)) => {
                values.extend(all.map(|value| value.expect("no null is declared")));
            }
            Some(Values::Integer(values, Some(mask))) => {
                for value in all {
                    values.push(value.unwrap_or(0));
                    mask.push(value.is_some());
                }
            }
            _ => {}
        }
    }

    pub fn number<T, V: Into<Option<f64>>>(
        &mut self,
        name: &str,
        rows: &[T],
        value: impl Fn(&T) -> V,
    ) {
        if let Some(Values::Number(values)) = self.values(name, Kind::Number) {
            values.extend(rows.iter().map(|row| value(row).into().unwrap_or(f64::NAN)));
        }
    }

    pub fn seconds<T, V: Into<Option<Duration>>>(
        &mut self,
        name: &str,
        rows: &[T],
        value: impl Fn(&T) -> V,
    ) {
        self.number(name, rows, |row| {
            value(row).into().map(Duration::as_secs_f64)
        });
    }

    pub fn boolean<T>(&mut self, name: &str, rows: &[T], value: impl Fn(&T) -> bool) {
        match self.values(name, Kind::Boolean) {
            Some(Values::Boolean(values, None)) => values.extend(rows.iter().map(value)),
            None => {}
            Some(_) => panic!("{name} is declared with nulls"),
        }
    }

    pub fn text<'t, T, V: Into<Option<&'t str>>>(
        &mut self,
        name: &str,
        rows: &'t [T],
        value: impl Fn(&'t T) -> V,
    ) {
        if let Some(Values::Text(values, texts)) = self.values(name, Kind::Text) {
            // A row mostly has the word of the one before.
            let mut last = None;
            values.extend(rows.iter().map(|row| match (value(row).into(), last) {
                (None, _) => -1,
                (Some(text), Some((before, index))) if text == before => index,
                (Some(text), _) => {
                    let index = texts.word(text);
                    last = Some((text, index));
                    index
                }
            }));
        }
    }

    pub fn flow<T, V: Into<Option<FlowKey>>>(
        &mut self,
        name: &str,
        rows: &[T],
        value: impl Fn(&T) -> V,
    ) {
        if let Some(Values::Text(values, texts)) = self.values(name, Kind::Text) {
            // Rows of a flow stand together.
            let mut last = None;
            values.extend(rows.iter().map(|row| match (value(row).into(), last) {
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
pub(super) fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 / 1e9
}

/// What a column of whole numbers takes: numbers, times of a clock and lengths in nanoseconds; none is null.
pub(crate) trait Whole {
    /// The number, which is never as large as the type's bound.
    fn whole(self) -> Option<i64>;
}

impl Whole for i64 {
    fn whole(self) -> Option<i64> {
        Some(self)
    }
}

impl Whole for u64 {
    fn whole(self) -> Option<i64> {
        Some(i64::try_from(self).unwrap_or(i64::MAX))
    }
}

impl Whole for Time {
    fn whole(self) -> Option<i64> {
        self.as_nanos().whole()
    }
}

impl Whole for Duration {
    fn whole(self) -> Option<i64> {
        Some(self.as_nanos())
    }
}

macro_rules! whole {
    ($($type:ty),+) => {$(
        impl Whole for $type {
            fn whole(self) -> Option<i64> {
                Some(self.into())
            }
        }
    )+};
}
whole!(u8, u16, u32);

impl<V: Whole> Whole for Option<V> {
    fn whole(self) -> Option<i64> {
        self?.whole()
    }
}

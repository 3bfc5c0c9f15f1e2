//! Rows of an engine as the columns that are declared for them.

use anyhow::{bail, Context, Result};
use rexmit_schema::values::{Column, Table, Values};
use rexmit_schema::{run, Kind};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::events::{line, Events};

/// A table of what an engine says of its rows: without the columns that only who asks for them knows.
#[derive(Debug)]
pub struct Columns {
    name: &'static str,
    /// Each with the field that it comes from, and how many of that one's unit make one of its own.
    columns: Vec<(Column, String, u32)>,
}

impl Columns {
    /// No rows yet.
    #[must_use]
    pub fn new(declared: &'static rexmit_schema::Table) -> Self {
        Self::of(declared.name, declared.columns())
    }

    /// No rows yet of these columns of a table.
    pub fn of(
        name: &'static str,
        columns: impl Iterator<Item = &'static rexmit_schema::Column>,
    ) -> Self {
        let column = |declared: &'static rexmit_schema::Column| {
            let (field, per) = declared.field()?;
            let values = Values::new(declared, 0);
            Some((Column { declared, values }, field, per))
        };
        Self {
            name,
            columns: columns.filter_map(column).collect(),
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let first = self.columns.first();
        first.map_or(0, |(column, ..)| column.values.len())
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a row, a struct or a map. Fields that no column has are left out; a field that may be null may be missing.
    ///
    /// # Errors
    /// When it lacks a field, or one has a value that cannot stand in its column; nothing is added then.
    pub fn push(&mut self, row: &impl Serialize) -> Result<()> {
        let Value::Object(row) = serde_json::to_value(row)? else {
            bail!("it is no object");
        };
        self.check(&row)?;
        for (Column { values, .. }, field, per) in &mut self.columns {
            put(values, row.get(field).unwrap_or(&Value::Null), *per);
        }
        Ok(())
    }

    fn check(&self, row: &Map<String, Value>) -> Result<()> {
        let lacks = |(column, field, _): &&(Column, String, u32)| {
            !column.declared.nullable && !row.contains_key(field)
        };
        let mut missing: Vec<&str> = self
            .columns
            .iter()
            .filter(lacks)
            .map(|(_, field, _)| &**field)
            .collect();
        if !missing.is_empty() {
            missing.sort_unstable();
            bail!("{} is missing", missing.join(", "));
        }
        for (Column { declared, .. }, field, _) in &self.columns {
            let value = row.get(field).unwrap_or(&Value::Null);
            let fits = match declared.kind {
                _ if value.is_null() => declared.nullable,
                Kind::Text => value.is_string(),
                Kind::Boolean => value.is_boolean(),
                Kind::Integer => value.is_i64(),
                Kind::Number => value.is_number(),
            };
            if !fits {
                bail!("{field} is {:.40}", value.to_string());
            }
        }
        Ok(())
    }

    /// The table.
    #[must_use]
    pub fn finish(self) -> Table {
        let columns = self.columns.into_iter().map(|(column, ..)| column);
        Table {
            name: self.name,
            columns: columns.collect(),
        }
    }
}

/// Adds a value that fits its column.
fn put(values: &mut Values, value: &Value, per: u32) {
    match values {
        Values::Integer(values, mask) => {
            values.push(value.as_i64().unwrap_or(0));
            if let Some(mask) = mask {
                mask.push(!value.is_null());
            }
        }
        Values::Number(values) => {
            values.push(
                value
                    .as_f64()
                    .map_or(f64::NAN, |value| value / f64::from(per)),
            );
        }
        Values::Boolean(values, mask) => {
            values.push(value.as_bool().unwrap_or(false));
            if let Some(mask) = mask {
                mask.push(!value.is_null());
            }
        }
        Values::Text(places, texts) => {
            places.push(value.as_str().map_or(-1, |text| texts.word(text)));
        }
    }
}

/// The tables of a run, and the events that are their rows.
const TABLES: [(&str, &rexmit_schema::Table); 4] = [
    ("transfer", &run::TRANSFERS),
    ("retransmission", &run::RETRANSMISSIONS),
    ("burst", &run::BURSTS),
    ("subflow", &run::SUBFLOWS),
];

/// What an engine says: its rows as columns, all else a JSON object a line.
#[derive(Debug)]
pub struct Answer {
    tables: [Columns; 4],
    /// The events that are no rows.
    pub others: Vec<u8>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            tables: TABLES.map(|(_, table)| Columns::new(table)),
            others: Vec::new(),
        }
    }
}

impl Answer {
    /// Takes the row that an event of type `kind` is; false where such events are none.
    ///
    /// # Errors
    /// Those of [`Columns::push`].
    pub fn row(&mut self, kind: &str, body: &impl Serialize) -> Result<bool> {
        let place = TABLES.iter().position(|(event, _)| *event == kind);
        place.map_or(Ok(false), |place| {
            self.tables[place].push(body).map(|()| true)
        })
    }

    /// The tables of a run.
    #[must_use]
    pub fn finish(self) -> [Table; 4] {
        self.tables.map(Columns::finish)
    }
}

impl Events for Answer {
    fn event(&mut self, kind: &str, body: &impl Serialize) -> Result<()> {
        if !self.row(kind, body).with_context(|| kind.to_owned())? {
            line(&mut self.others, kind, body)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row() -> Value {
        json!({"repetition": 3, "path": 1, "client_port": 5, "t_confirmed_ns": 1_500_000_000, "packets": 2,
               "retransmissions": 0, "reinjections": 0, "srtt_us": 250, "rto_us": null, "cwnd": 10, "cell": 0})
    }

    fn column(table: &Table, name: &str) -> Values {
        let found = table.columns.iter().find(|one| one.declared.name == name);
        found.unwrap().values.clone()
    }

    #[test]
    fn times_become_seconds_and_what_only_the_asker_knows_is_left_out() {
        let mut columns = Columns::new(&run::SUBFLOWS);
        columns.push(&row()).unwrap();
        let table = columns.finish();
        assert_eq!(column(&table, "t_confirmed_s"), Values::Number(vec![1.5]));
        assert_eq!(column(&table, "srtt_s"), Values::Number(vec![0.000_25]));
        assert!(column(&table, "rto_s").has_nulls());
        let cwnd = Values::Integer(vec![10], Some(vec![true]));
        assert_eq!(column(&table, "cwnd"), cwnd);
        let known = ["cell", "network", "config"];
        let names = table.columns.iter().map(|one| one.declared.name);
        assert!(names.into_iter().all(|name| !known.contains(&name)));
    }

    #[test]
    fn a_null_stays_one_in_every_kind_of_column() {
        let mut columns = Columns::new(&run::TRANSFERS);
        let mut row = Map::new();
        for (Column { declared, .. }, field, _) in &columns.columns {
            let value = match declared.kind {
                _ if declared.nullable => Value::Null,
                Kind::Text => json!("x"),
                Kind::Boolean => json!(true),
                Kind::Integer | Kind::Number => json!(1),
            };
            row.insert(field.clone(), value);
        }
        columns.push(&row).unwrap();
        for column in columns.finish().columns {
            let declared = column.declared;
            assert_eq!(
                column.values.has_nulls(),
                declared.nullable,
                "{}",
                declared.name
            );
        }
    }

    #[test]
    fn a_row_that_is_none_is_refused_and_leaves_nothing() {
        let mut columns = Columns::new(&run::SUBFLOWS);
        let mut refusal = |change: Value| {
            let mut row = row();
            let Value::Object(change) = change else {
                panic!()
            };
            for (name, value) in change {
                if value == json!("gone") {
                    row.as_object_mut().unwrap().remove(&name);
                } else {
                    row[name] = value;
                }
            }
            let refusal = columns.push(&row).map_err(|error| error.to_string());
            assert_eq!(columns.len(), 0);
            refusal.unwrap_err()
        };
        assert_eq!(
            refusal(json!({"packets": "gone", "retransmissions": "gone", "cwnd": "gone"})),
            "packets, retransmissions is missing"
        );
        assert_eq!(refusal(json!({"packets": null})), "packets is null");
        assert_eq!(refusal(json!({"packets": "2"})), "packets is \"2\"");
        assert_eq!(refusal(json!({"packets": true})), "packets is true");
        assert_eq!(refusal(json!({"packets": 1.5})), "packets is 1.5");
        assert_eq!(refusal(json!({"srtt_us": "250"})), "srtt_us is \"250\"");
        assert_eq!(
            columns.push(&[1]).unwrap_err().to_string(),
            "it is no object"
        );
    }
}

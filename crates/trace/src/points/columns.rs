//! Packets followed over points, as columns.

use rexmit_schema::points;
use rexmit_schema::values::Table;
use rexmit_tcp::Need;

use super::rows::{Followed, Leg, Lost, Rows};
use crate::columns::{Filler, Purpose};

/// The tables of some rows; `points` are the points' names. To which connection a row belongs the analysis of the captures says.
#[must_use]
pub fn tables(rows: &Rows, points: &[String]) -> [Table; 2] {
    [legs(&rows.legs, points), followed(&rows.followed, points)]
}

fn legs(rows: &[Leg], names: &[String]) -> Table {
    let name = |point: usize| names.get(point).map(String::as_str);
    let delay = |row: &Leg, which: usize| row.delays.map(|all| all[which] as f64 / 1e9);
    Filler::fill(&points::LEGS, Purpose::Tables, rows, |table, rows| {
        table.integer("connection", rows, |_| None::<i64>);
        table.flow("flow", rows, |row| row.flows.0);
        table.text("direction", rows, |_| None::<&str>);
        table.text("from_point", rows, |row| name(row.points.0));
        table.text("to_point", rows, |row| name(row.points.1));
        table.text("first_point", rows, |row| name(row.ends.0));
        table.text("last_point", rows, |row| name(row.ends.1));
        table.flow("to_flow", rows, |row| row.flows.1);
        let since = |time: u64| (time > 0).then_some(time);
        table.integer("from_start_ns", rows, |row| since(row.firsts.0));
        table.integer("to_start_ns", rows, |row| since(row.firsts.1));
        table.integer("packets", rows, |row| row.packets);
        table.integer("lost", rows, |row| row.lost);
        table.integer("data_lost", rows, |row| row.data_lost);
        table.integer("acks_lost", rows, |row| row.acks_lost);
        table.integer("missed", rows, |row| row.missed);
        table.integer("unseen", rows, |row| row.unseen);
        table.number("delay_min_s", rows, |row| delay(row, 0));
        table.number("delay_median_s", rows, |row| delay(row, 1));
        table.number("delay_p95_s", rows, |row| delay(row, 2));
        table.number("delay_max_s", rows, |row| delay(row, 3));
    })
}

fn followed(rows: &[Followed], names: &[String]) -> Table {
    let name = |point: usize| names.get(point).map(String::as_str);
    let place = |lost: Option<Lost>| {
        Some(match lost? {
            Lost::Before(point) => format!("before {}", name(point)?),
            Lost::Between(one, other) => format!("{} to {}", name(one)?, name(other)?),
            Lost::Beyond(point) => format!("beyond {}", name(point)?),
        })
    };
    let seconds = |nanos: i64| nanos as f64 / 1e9;
    Filler::fill(&points::FOLLOWED, Purpose::Tables, rows, |table, rows| {
        table.integer("connection", rows, |_| None::<i64>);
        table.flow("flow", rows, |row| row.flow);
        table.text("direction", rows, |_| None::<&str>);
        table.text("point", rows, |row| name(row.points.0));
        table.integer("time_ns", rows, |row| row.times.0);
        table.text("last_point", rows, |row| name(row.points.1));
        table.integer("last_ns", rows, |row| row.times.1);
        table.number("sent_s", rows, |row| seconds(row.aligned.0));
        let arrived = |row: &Followed| row.lost.is_none().then(|| seconds(row.aligned.1));
        table.number("arrived_s", rows, arrived);
        table.integer("seq_start", rows, |row| row.range.start.get());
        table.integer("seq_end", rows, |row| row.range.end.get());
        table.text("kind", rows, |row| row.kind.as_str());
        table.boolean("again", rows, |row| row.again);
        table.text("need", rows, |row| row.need.map(Need::as_str));
        let lost: Vec<_> = rows.iter().map(|row| place(row.lost)).collect();
        table.text("lost", &lost, Option::as_deref);
        let previous: Vec<_> = rows.iter().map(|row| place(row.previous)).collect();
        table.text("previous_lost", &previous, Option::as_deref);
    })
}

//! Packets followed over points, as columns.

use rexmit_schema::points;
use rexmit_schema::values::Table;
use rexmit_tcp::Need;

use super::rows::{Followed, Leg, Lost, Rows};
use crate::columns::{whole, Filler};

/// The tables of some rows; `points` are the points' names. To which connection a row belongs the analysis of the captures says.
#[must_use]
pub fn tables(rows: &Rows, points: &[String]) -> [Table; 2] {
    [legs(&rows.legs, points), followed(&rows.followed, points)]
}

fn legs(rows: &[Leg], names: &[String]) -> Table {
    let name = |point: usize| names.get(point).map(String::as_str);
    let delay = |row: &Leg, which: usize| row.delays.map(|all| all[which] as f64 / 1e9);
    Filler::fill(&points::LEGS, rows, |table, rows| {
        table.integer_or_null("connection", rows.iter().map(|_| None));
        table.flow("flow", rows.iter().map(|row| Some(row.flows.0)));
        table.text("direction", rows.iter().map(|_| None));
        table.text("from_point", rows.iter().map(|row| name(row.points.0)));
        table.text("to_point", rows.iter().map(|row| name(row.points.1)));
        table.text("first_point", rows.iter().map(|row| name(row.ends.0)));
        table.text("last_point", rows.iter().map(|row| name(row.ends.1)));
        table.flow("to_flow", rows.iter().map(|row| Some(row.flows.1)));
        let since = |time: u64| (time > 0).then(|| whole(time));
        table.integer_or_null("from_start_ns", rows.iter().map(|row| since(row.firsts.0)));
        table.integer_or_null("to_start_ns", rows.iter().map(|row| since(row.firsts.1)));
        table.integer("packets", rows.iter().map(|row| whole(row.packets)));
        table.integer("lost", rows.iter().map(|row| whole(row.lost)));
        table.integer("data_lost", rows.iter().map(|row| whole(row.data_lost)));
        table.integer("acks_lost", rows.iter().map(|row| whole(row.acks_lost)));
        table.integer("missed", rows.iter().map(|row| whole(row.missed)));
        table.integer("unseen", rows.iter().map(|row| whole(row.unseen)));
        table.number("delay_min_s", rows.iter().map(|row| delay(row, 0)));
        table.number("delay_median_s", rows.iter().map(|row| delay(row, 1)));
        table.number("delay_p95_s", rows.iter().map(|row| delay(row, 2)));
        table.number("delay_max_s", rows.iter().map(|row| delay(row, 3)));
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
    let seconds = |nanos: i64| Some(nanos as f64 / 1e9);
    Filler::fill(&points::FOLLOWED, rows, |table, rows| {
        table.integer_or_null("connection", rows.iter().map(|_| None));
        table.flow("flow", rows.iter().map(|row| Some(row.flow)));
        table.text("direction", rows.iter().map(|_| None));
        table.text("point", rows.iter().map(|row| name(row.points.0)));
        table.integer("time_ns", rows.iter().map(|row| whole(row.times.0)));
        table.text("last_point", rows.iter().map(|row| name(row.points.1)));
        table.integer("last_ns", rows.iter().map(|row| whole(row.times.1)));
        table.number("sent_s", rows.iter().map(|row| seconds(row.aligned.0)));
        let arrived = |row: &Followed| seconds(row.aligned.1).filter(|_| row.lost.is_none());
        table.number("arrived_s", rows.iter().map(arrived));
        table.integer(
            "seq_start",
            rows.iter().map(|row| i64::from(row.range.start.get())),
        );
        table.integer(
            "seq_end",
            rows.iter().map(|row| i64::from(row.range.end.get())),
        );
        table.text("kind", rows.iter().map(|row| Some(row.kind.as_str())));
        table.boolean("again", rows.iter().map(|row| row.again));
        table.text("need", rows.iter().map(|row| row.need.map(Need::as_str)));
        let lost: Vec<_> = rows.iter().map(|row| place(row.lost)).collect();
        table.text("lost", lost.iter().map(Option::as_deref));
        let previous: Vec<_> = rows.iter().map(|row| place(row.previous)).collect();
        table.text("previous_lost", previous.iter().map(Option::as_deref));
    })
}

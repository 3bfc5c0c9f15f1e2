//! Requests, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::{nanos, whole, Filler};
use crate::analyzer::Of;
use crate::requests::Request;

pub(super) fn table(requests: &[Of<Request>], capture: &str) -> Table {
    Filler::fill(&trace::REQUESTS, requests, |table, rows| {
        let all = || rows.iter().map(|of| &of.row);
        table.text("capture", rows.iter().map(|_| Some(capture)));
        table.integer("connection", rows.iter().map(|of| whole(of.connection)));
        table.flow("flow", rows.iter().map(|of| Some(of.flow)));
        table.integer("number", all().map(|row| row.number.into()));
        table.text("kind", all().map(|row| Some(row.kind.as_str())));
        table.integer("start_ns", all().map(|row| nanos(row.start)));
        table.integer("asked_ns", all().map(|row| nanos(row.asked)));
        table.integer_or_null("first_ns", all().map(|row| row.first.map(nanos)));
        table.integer_or_null("last_ns", all().map(|row| row.last.map(nanos)));
        table.integer("sent_bytes", all().map(|row| whole(row.sent_bytes)));
        table.integer("received_bytes", all().map(|row| whole(row.received_bytes)));
        table.integer("requests", all().map(|row| row.count.into()));
        table.text("owner", all().map(|row| Some(row.owner.as_str())));
        table.integer("owner_ns", all().map(|row| row.owned.as_nanos()));
        table.text("name", all().map(|row| row.name.as_deref()));
        table.text("method", all().map(|row| row.method.as_deref()));
        table.text("path", all().map(|row| row.path.as_deref()));
        table.integer_or_null("status", all().map(|row| row.status.map(i64::from)));
    })
}

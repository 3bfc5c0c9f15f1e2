//! Requests, as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::Filler;
use super::Purpose;
use crate::analyzer::Of;
use crate::requests::Request;

pub(super) fn table(requests: &[Of<Request>], capture: &str, purpose: Purpose) -> Table {
    Filler::fill(&trace::REQUESTS, purpose, requests, |table, rows| {
        table.text("capture", rows, |_| capture);
        table.integer("connection", rows, |of| of.connection);
        table.flow("flow", rows, |of| of.flow);
        table.integer("number", rows, |of| of.row.number);
        table.text("kind", rows, |of| of.row.kind.as_str());
        table.integer("start_ns", rows, |of| of.row.start);
        table.integer("asked_ns", rows, |of| of.row.asked);
        table.integer("first_ns", rows, |of| of.row.first);
        table.integer("last_ns", rows, |of| of.row.last);
        table.integer("sent_bytes", rows, |of| of.row.sent_bytes);
        table.integer("received_bytes", rows, |of| of.row.received_bytes);
        table.integer("requests", rows, |of| of.row.count);
        table.text("owner", rows, |of| of.row.owner.as_str());
        table.integer("owner_ns", rows, |of| of.row.owned);
        table.text("name", rows, |of| of.row.name.as_deref());
        table.text("method", rows, |of| of.row.method.as_deref());
        table.text("path", rows, |of| of.row.path.as_deref());
        table.integer("status", rows, |of| of.row.status);
    })
}

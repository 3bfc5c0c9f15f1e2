//! Connections as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;
use rexmit_wire::tls;

use super::filler::{seconds, Filler};
use super::Purpose;
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::Connection;

pub(super) fn table(rows: &[Of<Box<Connection>>], capture: &str, purpose: Purpose) -> Table {
    Filler::fill(&trace::CONNECTIONS, purpose, rows, |table, rows| {
        table.text("capture", rows, |_| capture);
        table.integer("connection", rows, |of| of.connection);
        table.flow("flow", rows, |of| of.row.flow);
        table.number("start_s", rows, |of| seconds(of.row.start));
        table.number("end_s", rows, |of| seconds(of.row.end));
        table.seconds("duration_s", rows, |of| of.row.end.since(of.row.start));
        table.seconds("waited_s", rows, |of| of.row.waited());
        table.seconds("handshake_rtt_s", rows, |of| Some(of.row.handshake_rtt?.0));
        table.seconds("handshake_server_s", rows, |of| {
            Some(of.row.handshake_rtt?.1)
        });
        table.boolean("mid_stream", rows, |of| of.row.mid_stream);
        table.boolean("one_sided", rows, |of| of.row.one_sided);
        table.text("closed", rows, |of| of.row.closed);
        table.boolean("evicted", rows, |of| of.row.evicted);
        table.text("handshake", rows, |of| of.row.handshake.as_str());
        table.text("reset_by", rows, |of| Some(side(of.row.reset?.by)));
        table.text("reset_state", rows, |of| Some(of.row.reset?.state.as_str()));
        table.text("reset_after", rows, |of| Some(of.row.reset?.after.as_str()));
        table.seconds("reset_silence_s", rows, |of| Some(of.row.reset?.silence));
        table.text("alert_by", rows, |of| Some(side(of.row.alert?.by)));
        table.text("alert", rows, |of| tls::alert(of.row.alert?.description));
        table.integer("mptcp_connection", rows, |of| {
            Some(of.row.multipath?.connection)
        });
        table.integer("mptcp_subflow", rows, |of| Some(of.row.multipath?.number));
        table.text("mptcp_role", rows, |of| {
            Some(of.row.multipath?.role?.as_str())
        });
        table.integer("mptcp_version", rows, |of| of.row.multipath?.version);
    })
}

/// A direction by who sends in it.
const fn side(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "client",
        Direction::Backward => "server",
    }
}

//! Connections as columns.

use rexmit_schema::trace;
use rexmit_schema::values::Table;

use super::filler::{seconds, whole, Filler};
use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::{Connection, Role};

pub(super) fn table(rows: &[Of<Box<Connection>>], capture: &str) -> Table {
    Filler::fill(&trace::CONNECTIONS, rows, |table, rows| {
        table.text("capture", rows.iter().map(|_| Some(capture)));
        table.integer("connection", rows.iter().map(|of| whole(of.connection)));
        table.flow("flow", rows.iter().map(|of| Some(of.row.flow)));
        let all = || rows.iter().map(|of| &*of.row);
        table.number("start_s", all().map(|row| seconds(row.start)));
        table.number("end_s", all().map(|row| seconds(row.end)));
        table.seconds(
            "duration_s",
            all().map(|row| Some(row.end.since(row.start))),
        );
        table.seconds("waited_s", all().map(|row| Some(row.waited())));
        let handshake = || all().map(|row| row.handshake_rtt);
        table.seconds(
            "handshake_rtt_s",
            handshake().map(|rtt| rtt.map(|(whole, _)| whole)),
        );
        table.seconds(
            "handshake_server_s",
            handshake().map(|rtt| rtt.map(|(_, part)| part)),
        );
        table.boolean("mid_stream", all().map(|row| row.mid_stream));
        table.boolean("one_sided", all().map(|row| row.one_sided));
        table.text("closed", all().map(|row| Some(row.closed)));
        table.boolean("evicted", all().map(|row| row.evicted));
        table.text("handshake", all().map(|row| Some(row.handshake.as_str())));
        let reset = || all().map(|row| row.reset.as_ref());
        table.text("reset_by", reset().map(|of| of.map(|of| side(of.by))));
        table.text(
            "reset_state",
            reset().map(|of| of.map(|of| of.state.as_str())),
        );
        table.text(
            "reset_after",
            reset().map(|of| of.map(|of| of.after.as_str())),
        );
        table.seconds("reset_silence_s", reset().map(|of| of.map(|of| of.silence)));
        let multipath = || all().map(|row| row.multipath.as_ref());
        table.integer_or_null(
            "mptcp_connection",
            multipath().map(|of| of.map(|of| whole(of.connection))),
        );
        table.integer_or_null(
            "mptcp_subflow",
            multipath().map(|of| of.map(|of| i64::from(of.number))),
        );
        table.text(
            "mptcp_role",
            multipath().map(|of| of?.role.map(Role::as_str)),
        );
        table.integer_or_null(
            "mptcp_version",
            multipath().map(|of| of?.version.map(i64::from)),
        );
    })
}

/// A direction by who sends in it.
const fn side(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "client",
        Direction::Backward => "server",
    }
}

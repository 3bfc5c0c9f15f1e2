//! The tables of a run: what the lab knows of its own transfers.

use crate::column::{boolean, integer, number, text, Column, Table};
use crate::Place;

/// A run's folder.
pub const PLACE: Place = Place {
    name: "run",
    about: "What `rexmit run` writes. Times `t_…_s` and `time_s` count from the start of the virtual clock of the kernel, or \
            model, that ran the row's cell.",
    tables: &[TRANSFERS, RETRANSMISSIONS, BURSTS, SUBFLOWS],
};

/// Pages and connections with bursts.
pub const TRANSFERS: Table = Table {
    name: "transfers",
    about: "One page fetched once, or one connection with bursts: then it is about the last of them. Flow K is row K.",
    order: &["cell", "repetition"],
    groups: &[TRANSFER],
};

/// Packets that were sent again.
pub const RETRANSMISSIONS: Table = Table {
    name: "retransmissions",
    about: "One data packet (or a bare FIN) that was sent again, on its own path or another.",
    order: &["cell", "repetition", "time_s", "seq"],
    groups: &[RETRANSMISSION],
};

/// Bursts.
pub const BURSTS: Table = Table {
    name: "bursts",
    about: "One burst of a connection with bursts; a run without them has no such table.",
    order: &["cell", "repetition", "burst"],
    groups: &[CELL, BURST],
};

/// Subflows.
pub const SUBFLOWS: Table = Table {
    name: "subflows",
    about: "One subflow of a connection with bursts; a run without them has no such table.",
    order: &["cell", "repetition", "path"],
    groups: &[CELL, SUBFLOW],
};

const TRANSFER: &[Column] = &[
    text("network", "network of the scenario").known(),
    text("config", "set of kernel settings of the scenario").known(),
    integer("lost_segments", "data segments asked to be lost at the end of the transfer"),
    integer("repetition", "number of the transfer within its cell, from 0"),
    integer("transfer_size_bytes", "HTTP head and body together, as sent on the wire; as planned where nothing was sent"),
    integer("transfer_segments", "data segments of the transfer, retransmissions not counted"),
    integer("dropped_segments", "data segments that the rule dropped"),
    number("t_total_s", "t_end - t_start").or_null(),
    number("t_recover_s", "t_retransmit - t_drop").or_null(),
    boolean("is_tlp", "the first retransmission held the highest sequence sent; null for 0 or 1 drops").or_null(),
    boolean("fin_on_data", "the FIN travelled on the last data segment; null where no FIN was sent").or_null(),
    text("mechanism", "what made the first retransmission of dropped bytes (without drops: the first one), by the kernel's own counters").or_null(),
    integer("retransmissions", "packets that carried anything sent before"),
    integer("timeouts", "retransmission timeouts that fired"),
    integer("probes", "tail loss probes that were sent"),
    integer("spurious_retransmissions", "retransmissions of what had already arrived; null where unknown").or_null(),
    integer("dsacks", "duplicate-SACK reports that came back"),
    number("srtt_s", "the sender's smoothed round-trip time at the first drop").or_null().in_micros(),
    number("rto_s", "the sender's retransmission timeout at the first drop").or_null().in_micros(),
    number("client_s", "from connect to end of file at the client").or_null(),
    number("t_start_s", "the HTTP head left the server").or_null(),
    number("t_drop_s", "the first drop").or_null(),
    number("t_retransmit_s", "the first retransmission of any dropped byte").or_null(),
    number("t_fin_retransmit_s", "the first retransmission of the FIN").or_null(),
    number("t_end_s", "the last of the dropped data, FIN included, was sent again").or_null(),
    integer("dropped_packets", "packets that the rule dropped, a bare FIN included"),
    integer("mss_bytes", "the largest payload seen in the transfer").or_null(),
    boolean("exact", "precisely the asked tail was dropped"),
    boolean("stalled", "holding packets back stopped the sender (hold mode)"),
    boolean("complete", "the client got every byte"),
    number("phase_s", "start of the transfer after a multiple of the phase period"),
    text("congestion_control", "congestion control algorithm asked for").known(),
    text("client", "program that fetched the page").known(),
    text("loss_mode", "how the tail was found: sequence or hold"),
    text("loss_pattern", "what was lost instead of the tail, by position").or_null(),
    integer("page_segments", "segments asked for; null where a size was asked for").or_null().known(),
    integer("receive_window_bytes", "the client's receive window; null is the kernel's own").or_null().known(),
    number("line_loss", "random loss asked for on a link, 0 to 1 (the larger where links differ)").known(),
    integer("isn_server", "initial sequence number of the server").or_null(),
    integer("isn_client", "initial sequence number of the client").or_null(),
    integer("client_port", "the client's TCP port").or_null(),
    integer("cell", "number of the cell in the grid, from 0").known(),
    text("note", "what a reader should know about this row").or_null(),
    text("protocol", "tcp or mptcp; null for a page over TCP, which minds no paths").or_null(),
    integer("first_path", "the path on which the connection was opened, from 1").or_null(),
    integer("subflows", "subflows that were confirmed, for bursts before the first").or_null(),
    text("scheduler", "the packet scheduler, as the kernel or stack names it").or_null(),
    text("path_packets", "packets of new data of the last burst by path, like 41 39").or_null(),
    integer("reinjections", "packets with data that went first on another path; not among the retransmissions").or_null(),
    integer("reinjected_bytes", "payload bytes of the re-injections").or_null(),
    integer("mptcp_retransmissions", "what the connection sent again by its own count (MPTCPRetrans)").or_null(),
    integer("probe_reinjections", "re-injections that tail loss probes caused, where something counts them").or_null(),
    text("ended", "how the client's transfer ended: finished; short (the server closed before all had come); timed-out (the scenario's timeout); gave-up (its TCP sent too often without an answer); reset; refused; not-connected (a path of a connection with bursts did not come up); failed (the client's program, see the note)").or_null(),
    number("t_recover_printed_s", "t_recover as Ryll 2013 writes it: from t_drop until the packet of t_drop was sent again; a probe is the last packet, not that one").or_null(),
    number("t_total_printed_s", "t_total as Ryll 2013 writes it: t_fin_retransmit - t_start; a probe that has the FIN ends it before the rest is repaired").or_null(),
];

/// The packet was sent again.
pub(crate) const TIME: Column = number("time_s", "the packet was sent again");
pub(crate) const LENGTH: Column = integer("length_bytes", "payload bytes");
pub(crate) const MECHANISM: Column = text("mechanism", "what made the sender retransmit").or_null();
pub(crate) const NEED: Column = text("need", "needed, spurious or unknown");
pub(crate) const FIRST_SENT: Column =
    number("first_sent_s", "its first byte was sent for the first time").or_null();

/// What is known of every retransmission, of a run or in a capture.
pub const EVERY_RETRANSMISSION: &[Column] = &[TIME, LENGTH, MECHANISM, NEED, FIRST_SENT];

const RETRANSMISSION: &[Column] = &[
    text("network", "network of the scenario").known(),
    text("config", "set of kernel settings of the scenario").known(),
    integer(
        "lost_segments",
        "data segments asked to be lost at the end of the transfer",
    ),
    integer(
        "repetition",
        "number of the transfer within its cell, from 0",
    ),
    TIME,
    integer(
        "seq",
        "first byte, counted from the initial sequence number (first data byte = 1)",
    ),
    LENGTH,
    boolean("fin", "the packet carried the FIN"),
    MECHANISM,
    NEED,
    FIRST_SENT,
    boolean("dropped", "this copy was dropped as well"),
    integer("cell", "number of the cell in the grid, from 0").known(),
    integer(
        "path",
        "the path that this copy went, from 1; null with one path",
    )
    .or_null(),
    integer("first_path", "the path on which its data went first").or_null(),
    integer(
        "data_seq",
        "first byte in the stream of all bursts, whatever path (first = 1)",
    )
    .or_null(),
];

const CELL: &[Column] = &[
    text("network", "network of the scenario").known(),
    text("config", "set of kernel settings of the scenario").known(),
    integer(
        "repetition",
        "number of the connection within its cell, from 0",
    ),
];

const BURST: &[Column] = &[
    integer("burst", "number of the burst, from 1"),
    number(
        "t_start_s",
        "the server's first write of it, or the client's write of the request for it",
    ),
    number(
        "completion_s",
        "from there to the client's read of its last byte; null when that never came",
    )
    .or_null(),
    integer("bytes", "bytes of the burst"),
    integer("packets", "packets of new data, on all paths"),
    text("path_packets", "those by path, like 41 39"),
    integer("cell", "number of the cell in the grid, from 0").known(),
];

const SUBFLOW: &[Column] = &[
    integer("path", "the path, from 1"),
    integer("client_port", "the client's TCP port"),
    number("t_confirmed_s", "both ends could use it").or_null(),
    integer("packets", "packets of new data, of all bursts"),
    integer(
        "retransmissions",
        "packets sent again under their own sequence numbers",
    ),
    integer(
        "reinjections",
        "packets with data that went first elsewhere",
    ),
    number("srtt_s", "smoothed round-trip time after the last burst")
        .or_null()
        .in_micros(),
    number("rto_s", "retransmission timeout after the last burst")
        .or_null()
        .in_micros(),
    integer("cwnd", "congestion window then, segments").or_null(),
    integer("cell", "number of the cell in the grid, from 0").known(),
];

"""The columns of a run's tables: the one place that names them, with type, unit and meaning.

A `transfers` row is one page fetched once, or one connection with bursts: then it is about the last
of them. A `retransmissions` row is one data packet (or a bare FIN) that was sent again, on its own
path or another. `bursts` and `subflows` are of connections with bursts alone. Names end in their
unit (`_s`, `_bytes`); counts are plural nouns; null says "did not happen" or "not valid". Times
`t_…_s` and `time_s` count from the start of the virtual clock of the kernel that ran the row's
cell.

A retransmission of a run and one that was found in a capture (`trace_schema`) share the columns of
`EVERY_RETRANSMISSION`; what identifies them differs, and what the one knows and the other has to
infer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import polars

Kind = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, type, meaning, and whether a row may leave it null. A `later` one came
    after the first tables of this format: where a table lacks it, all is null.
    """

    name: str
    kind: Kind
    meaning: str
    nullable: bool = False
    later: bool = False


def _later(name: str, kind: Kind, meaning: str) -> Column:
    return Column(name, kind, meaning, nullable=True, later=True)


TRANSFERS: Final[tuple[Column, ...]] = (
    Column("network", "text", "network of the scenario"),
    Column("config", "text", "set of kernel settings of the scenario"),
    Column("lost_segments", "integer", "data segments asked to be lost at the end of the transfer"),
    Column("repetition", "integer", "number of the transfer within its cell, from 0"),
    Column(
        "transfer_size_bytes",
        "integer",
        "HTTP head and body together, as sent on the wire; as planned where nothing was sent",
    ),
    Column(
        "transfer_segments", "integer", "data segments of the transfer, retransmissions not counted"
    ),
    Column("dropped_segments", "integer", "data segments that the rule dropped"),
    Column("t_total_s", "number", "t_end - t_start", nullable=True),
    Column("t_recover_s", "number", "t_retransmit - t_drop", nullable=True),
    Column(
        "is_tlp",
        "boolean",
        "the first retransmission held the highest sequence sent; null for 0 or 1 drops",
        nullable=True,
    ),
    Column(
        "fin_on_data",
        "boolean",
        "the FIN travelled on the last data segment; null where no FIN was sent",
        nullable=True,
    ),
    Column(
        "mechanism",
        "text",
        "what made the first retransmission of dropped bytes (without drops: the first one), by "
        "the kernel's own counters",
        nullable=True,
    ),
    Column("retransmissions", "integer", "packets that carried anything sent before"),
    Column("timeouts", "integer", "retransmission timeouts that fired"),
    Column("probes", "integer", "tail loss probes that were sent"),
    Column(
        "spurious_retransmissions",
        "integer",
        "retransmissions of what had already arrived; null where unknown",
        nullable=True,
    ),
    Column("dsacks", "integer", "duplicate-SACK reports that came back"),
    Column(
        "srtt_s", "number", "the sender's smoothed round-trip time at the first drop", nullable=True
    ),
    Column(
        "rto_s", "number", "the sender's retransmission timeout at the first drop", nullable=True
    ),
    Column("client_s", "number", "from connect to end of file at the client", nullable=True),
    Column("t_start_s", "number", "the HTTP head left the server", nullable=True),
    Column("t_drop_s", "number", "the first drop", nullable=True),
    Column(
        "t_retransmit_s", "number", "the first retransmission of any dropped byte", nullable=True
    ),
    Column("t_fin_retransmit_s", "number", "the first retransmission of the FIN", nullable=True),
    Column(
        "t_end_s",
        "number",
        "the last of the dropped data, FIN included, was sent again",
        nullable=True,
    ),
    Column("dropped_packets", "integer", "packets that the rule dropped, a bare FIN included"),
    Column("mss_bytes", "integer", "the largest payload seen in the transfer", nullable=True),
    Column("exact", "boolean", "precisely the asked tail was dropped"),
    Column("stalled", "boolean", "holding packets back stopped the sender (hold mode)"),
    Column("complete", "boolean", "the client got every byte"),
    Column("phase_s", "number", "start of the transfer after a multiple of the phase period"),
    Column("congestion_control", "text", "congestion control algorithm asked for"),
    Column("client", "text", "program that fetched the page"),
    Column("loss_mode", "text", "how the tail was found: sequence or hold"),
    Column(
        "loss_pattern",
        "text",
        "what was lost instead of the tail, by position",
        nullable=True,
        later=True,
    ),
    Column(
        "page_segments",
        "integer",
        "segments asked for; null where a size was asked for",
        nullable=True,
    ),
    Column(
        "receive_window_bytes",
        "integer",
        "the client's receive window; null is the kernel's own",
        nullable=True,
    ),
    Column(
        "line_loss",
        "number",
        "random loss asked for on a link, 0 to 1 (the larger where links differ)",
    ),
    Column("isn_server", "integer", "initial sequence number of the server", nullable=True),
    Column("isn_client", "integer", "initial sequence number of the client", nullable=True),
    Column("client_port", "integer", "the client's TCP port", nullable=True),
    Column("cell", "integer", "number of the cell in the grid, from 0"),
    Column("note", "text", "what a reader should know about this row", nullable=True),
    _later("protocol", "text", "tcp or mptcp; null for a page over TCP, which minds no paths"),
    _later("first_path", "integer", "the path on which the connection was opened, from 1"),
    _later("subflows", "integer", "subflows that were confirmed, for bursts before the first"),
    _later("scheduler", "text", "the packet scheduler, as the kernel or stack names it"),
    _later("path_packets", "text", "packets of new data of the last burst by path, like 41 39"),
    _later(
        "reinjections",
        "integer",
        "packets with data that went first on another path; not among the retransmissions",
    ),
    _later("reinjected_bytes", "integer", "payload bytes of the re-injections"),
    _later(
        "mptcp_retransmissions",
        "integer",
        "what the connection sent again by its own count (MPTCPRetrans)",
    ),
    _later(
        "probe_reinjections",
        "integer",
        "re-injections that tail loss probes caused, where something counts them",
    ),
    _later(
        "ended",
        "text",
        "how the client's transfer ended: finished; short (the server closed before all had come); "
        "timed-out (the scenario's timeout); gave-up (its TCP sent too often without an answer); "
        "reset; refused; not-connected (a path of a connection with bursts did not come up); "
        "failed (the client's program, see the note)",
    ),
)

TIME = Column("time_s", "number", "the packet was sent again")
LENGTH = Column("length_bytes", "integer", "payload bytes")
MECHANISM = Column("mechanism", "text", "what made the sender retransmit", nullable=True)
NEED = Column("need", "text", "needed, spurious or unknown")
FIRST_SENT = Column(
    "first_sent_s", "number", "its first byte was sent for the first time", nullable=True
)

EVERY_RETRANSMISSION: Final = (TIME, LENGTH, MECHANISM, NEED, FIRST_SENT)
"""What is known of every retransmission, of a run or in a capture."""

RETRANSMISSIONS: Final[tuple[Column, ...]] = (
    Column("network", "text", "network of the scenario"),
    Column("config", "text", "set of kernel settings of the scenario"),
    Column("lost_segments", "integer", "data segments asked to be lost at the end of the transfer"),
    Column("repetition", "integer", "number of the transfer within its cell, from 0"),
    TIME,
    Column(
        "seq",
        "integer",
        "first byte, counted from the initial sequence number (first data byte = 1)",
    ),
    LENGTH,
    Column("fin", "boolean", "the packet carried the FIN"),
    MECHANISM,
    NEED,
    FIRST_SENT,
    Column("dropped", "boolean", "this copy was dropped as well"),
    Column("cell", "integer", "number of the cell in the grid, from 0"),
    _later("path", "integer", "the path that this copy went, from 1; null with one path"),
    _later("first_path", "integer", "the path on which its data went first"),
    _later(
        "data_seq", "integer", "first byte in the stream of all bursts, whatever path (first = 1)"
    ),
)

_CELL: Final = (
    Column("network", "text", "network of the scenario"),
    Column("config", "text", "set of kernel settings of the scenario"),
    Column("repetition", "integer", "number of the connection within its cell, from 0"),
)

BURSTS: Final[tuple[Column, ...]] = (
    *_CELL,
    Column("burst", "integer", "number of the burst, from 1"),
    Column("t_start_s", "number", "the server's first write of it"),
    Column(
        "completion_s",
        "number",
        "from there to the client's read of its last byte; null when that never came",
        nullable=True,
    ),
    Column("bytes", "integer", "bytes of the burst"),
    Column("packets", "integer", "packets of new data, on all paths"),
    Column("path_packets", "text", "those by path, like 41 39"),
    Column("cell", "integer", "number of the cell in the grid, from 0"),
)

SUBFLOWS: Final[tuple[Column, ...]] = (
    *_CELL,
    Column("path", "integer", "the path, from 1"),
    Column("client_port", "integer", "the client's TCP port"),
    Column("t_confirmed_s", "number", "both ends could use it", nullable=True),
    Column("packets", "integer", "packets of new data, of all bursts"),
    Column("retransmissions", "integer", "packets sent again under their own sequence numbers"),
    Column("reinjections", "integer", "packets with data that went first elsewhere"),
    Column("srtt_s", "number", "smoothed round-trip time after the last burst", nullable=True),
    Column("rto_s", "number", "retransmission timeout after the last burst", nullable=True),
    Column("cwnd", "integer", "congestion window then, segments", nullable=True),
    Column("cell", "integer", "number of the cell in the grid, from 0"),
)

TRANSFER_ORDER: Final = ("cell", "repetition")
"""The columns that `transfers` rows are sorted by; flow K is row K in this order."""

RETRANSMISSION_ORDER: Final = ("cell", "repetition", "time_s", "seq")
"""The columns that `retransmissions` rows are sorted by."""

ORDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "transfers": TRANSFER_ORDER,
    "retransmissions": RETRANSMISSION_ORDER,
    "bursts": ("cell", "repetition", "burst"),
    "subflows": ("cell", "repetition", "path"),
}
"""By table, the columns that its rows are sorted by."""

ALWAYS: Final = ("transfers", "retransmissions")
"""Tables that every run has; the others are written where there are rows."""


def polars_schema(columns: tuple[Column, ...]) -> dict[str, polars.DataType]:
    """The columns as a Polars schema, in order."""
    import polars as pl

    types: dict[Kind, polars.DataType] = {
        "text": pl.String(),
        "integer": pl.Int64(),
        "number": pl.Float64(),
        "boolean": pl.Boolean(),
    }
    return {column.name: types[column.kind] for column in columns}

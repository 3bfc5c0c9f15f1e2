"""The columns of a run's tables: the one place that names them, with type, unit and meaning.

A `transfers` row is one page fetched once; a `retransmissions` row is one data packet (or a bare
FIN) that was sent again. Names end in their unit (`_s`, `_bytes`); counts are plural nouns; null
says "did not happen" or "not valid". Times `t_…_s` and `time_s` count from the start of the virtual
clock of the kernel that ran the row's cell.

A resend of a run and one that was found in a capture (`trace_schema`) share the columns of
`EVERY_RESEND`; what identifies them differs, and what the one knows and the other has to infer.
"""

from __future__ import annotations

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


TRANSFERS: Final[tuple[Column, ...]] = (
    Column("network", "text", "network of the scenario"),
    Column("config", "text", "set of kernel settings of the scenario"),
    Column("lost_segments", "integer", "data segments asked to be lost at the end of the transfer"),
    Column("repetition", "integer", "number of the transfer within its cell, from 0"),
    Column("transfer_size_bytes", "integer", "HTTP head and body together, as sent on the wire"),
    Column("transfer_segments", "integer", "data segments of the transfer, resends not counted"),
    Column("dropped_segments", "integer", "data segments that the rule dropped"),
    Column("t_total_s", "number", "t_end - t_start", nullable=True),
    Column("t_recover_s", "number", "t_retransmit - t_drop", nullable=True),
    Column(
        "is_tlp",
        "boolean",
        "the first resend held the highest sequence sent; null for 0 or 1 drops",
        nullable=True,
    ),
    Column("fin_on_data", "boolean", "the FIN travelled on the last data segment"),
    Column(
        "mechanism",
        "text",
        "what made the first resend of dropped bytes (without drops: the first resend), by the "
        "kernel's own counters",
        nullable=True,
    ),
    Column("resends", "integer", "packets that carried anything sent before"),
    Column("timeouts", "integer", "retransmission timeouts that fired"),
    Column("probes", "integer", "tail loss probes that were sent"),
    Column(
        "needless_resends",
        "integer",
        "resends of what had already arrived; null where unknown",
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
    Column("t_retransmit_s", "number", "the first resend of any dropped byte", nullable=True),
    Column("t_fin_retransmit_s", "number", "the first resend of the FIN", nullable=True),
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
)

TIME = Column("time_s", "number", "the packet was sent again")
LENGTH = Column("length_bytes", "integer", "payload bytes")
MECHANISM = Column("mechanism", "text", "what made the sender resend", nullable=True)
NEED = Column("need", "text", "needed, spurious or unknown")
FIRST_SENT = Column(
    "first_sent_s", "number", "its first byte was sent for the first time", nullable=True
)

EVERY_RESEND: Final = (TIME, LENGTH, MECHANISM, NEED, FIRST_SENT)
"""What is known of every resend, of a run or in a capture."""

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
)

TRANSFER_ORDER: Final = ("cell", "repetition")
"""The columns that `transfers` rows are sorted by; flow K is row K in this order."""

RETRANSMISSION_ORDER: Final = ("cell", "repetition", "time_s", "seq")
"""The columns that `retransmissions` rows are sorted by."""


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

"""What is said of a connection's sides, beside what is said of the connection."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.store.trace_schema import SIDES
from rexmit.tracing.folder import Trace

_ENDS: Final = pl.col("flow").str.split_exact(" > ", 1).struct
CLIENT: Final = _ENDS.field("field_0")
SERVER: Final = _ENDS.field("field_1")
"""The ends of a connection's `flow`."""


FLOW: Final = (
    pl.when(pl.col("direction") == SIDES[0])
    .then("flow")
    .otherwise(pl.concat_str(SERVER, pl.lit(" > "), CLIENT))
)
"""The flow of a side, of rows that have its connection's."""


def host(end: pl.Expr) -> pl.Expr:
    """The address of an end, `10.0.0.1` or `fd00::1`; the whole of what is no end."""
    return end.str.extract(r"^\[?(.*?)\]?:\d+$").fill_null(end)


def port(end: pl.Expr) -> pl.Expr:
    """The port of an end; the whole of what is no end."""
    return end.str.extract(r":(\d+)$").fill_null(end)


def beside(connections: pl.LazyFrame, trace: Trace, *columns: str) -> pl.LazyFrame:
    """Connections of the trace with columns of `sides` beside: `forward_bytes` of the client,
    `backward_bytes` of the server."""
    return joined(connections, trace.scan("sides"), *columns)


def joined(connections: pl.LazyFrame, sides: pl.LazyFrame, *columns: str) -> pl.LazyFrame:
    """As `beside`, of a table of sides."""
    frame = connections
    for side in SIDES:
        names = [pl.col(name).alias(f"{side}_{name}") for name in columns]
        of = sides.filter(pl.col("direction") == side).select("connection", *names)
        frame = frame.join(of, on="connection", how="left", maintain_order="left")
    return frame


def other(side: pl.Expr) -> pl.Expr:
    """The side across from this one."""
    return pl.when(side == SIDES[0]).then(pl.lit(SIDES[1])).otherwise(pl.lit(SIDES[0]))


def both(name: str) -> pl.Expr:
    """The sum over both sides, of a column that stands beside."""
    return pl.col(f"forward_{name}") + pl.col(f"backward_{name}")

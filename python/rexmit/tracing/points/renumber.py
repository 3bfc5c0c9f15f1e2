"""Rows of a point's tables as rows of the whole trace, by its numbers of connections."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import POINT_TABLES, SIDES
from rexmit.tracing.points.directions import Directions


def renumbered(
    rows: pl.DataFrame, of_sides: pl.DataFrame, chosen: pl.DataFrame, number: int
) -> pl.DataFrame:
    """The rows of a point's sides that were chosen, as rows of the whole trace."""
    columns = rows.columns
    new = of_sides.select(
        pl.col("connection").alias("new"),
        pl.col("direction").alias("new_direction"),
        pl.col("flow").alias("new_flow"),
        pl.col("of_connection").alias("connection"),
        pl.col("of_direction").alias("direction"),
    )
    renamed = rows.join(new, on=["connection", "direction"], how="inner", maintain_order="left")
    renamed = renamed.with_columns(
        pl.col("new").alias("connection"),
        pl.col("new_direction").alias("direction"),
        pl.col("new_flow").alias("flow"),
    )
    return _subflows(renamed, chosen, number).select(columns)


def connections_of(rows: pl.DataFrame, chosen: pl.DataFrame, number: int) -> pl.DataFrame:
    """The rows of the connections whose client a point is nearest to."""
    columns = rows.columns
    new = chosen.filter(pl.col("point") == number, pl.col("direction") == SIDES[0]).select(
        pl.col("connection").alias("new"),
        pl.col("flow").alias("new_flow"),
        pl.col("of_connection").alias("connection"),
    )
    renamed = rows.join(new, on="connection", how="inner", maintain_order="left").with_columns(
        pl.col("new").alias("connection"), pl.col("new_flow").alias("flow")
    )
    return _subflows(renamed, chosen, number).select(columns)


def with_connections(
    rows: pl.DataFrame,
    name: str,
    directions: Directions,
    chosen: pl.DataFrame,
    names: Sequence[str],
) -> pl.DataFrame:
    """With the connection and direction that each row belongs to."""
    new = {
        directions.root((point, connection, direction)): (now, side)
        for now, side, point, connection, direction in chosen.select(
            "connection", "direction", "point", "of_connection", "of_direction"
        ).iter_rows()
    }
    if name == "legs":
        nodes = directions.find_all(rows, "from_point", "flow", "from_start_ns", names)
        beyond = directions.find_all(rows, "to_point", "to_flow", "to_start_ns", names)
        nodes = [one or other for one, other in zip(nodes, beyond, strict=True)]
    else:
        nodes = directions.find_all(rows, "point", "flow", "time_ns", names)
    known = [None if node is None else new.get(directions.root(node)) for node in nodes]
    types = polars_schema(POINT_TABLES[name])
    return rows.with_columns(
        pl.Series("connection", [one and one[0] for one in known], dtype=pl.Int64),
        pl.Series("direction", [one and one[1] for one in known], dtype=pl.String),
    ).select(list(types))


def _numbers(chosen: pl.DataFrame, number: int) -> pl.DataFrame:
    """The new numbers of a point's connections."""
    mine = chosen.filter(pl.col("point") == number)
    return mine.select(
        pl.col("of_connection").alias("mptcp_connection"), pl.col("connection").alias("now")
    ).unique("mptcp_connection", keep="first", maintain_order=True)


def _subflows(rows: pl.DataFrame, chosen: pl.DataFrame, number: int) -> pl.DataFrame:
    if "mptcp_connection" not in rows.columns:
        return rows
    renamed = rows.join(
        _numbers(chosen, number), on="mptcp_connection", how="left", maintain_order="left"
    )
    return renamed.with_columns(pl.col("now").alias("mptcp_connection")).drop("now")

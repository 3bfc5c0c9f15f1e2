"""Sums over retransmissions, after rows have come or changed."""

from __future__ import annotations

import polars as pl

from rexmit.tracing.mechanisms import NEEDS


def with_more(mechanisms: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """The counts by mechanism with further retransmissions."""
    if more.is_empty():
        return mechanisms
    keys = ["capture", "connection", "flow", "direction", "mechanism"]
    counts = more.group_by(keys, maintain_order=True).agg(
        *(_of_need(need).alias(need) for need in NEEDS), pl.sum("waited_s")
    )
    both = pl.concat([mechanisms, counts.select(mechanisms.columns)])
    return (
        both.group_by(keys[1:], maintain_order=True)
        .agg(pl.col("capture").first(), pl.col(*NEEDS, "waited_s").sum())
        .select(mechanisms.columns)
    )


def counted(mechanisms: pl.DataFrame, changed: pl.DataFrame) -> pl.DataFrame:
    """The counts by need after the needs of some retransmissions have changed."""
    keys = ["connection", "direction", "mechanism"]
    more = {need: _of_need(need) - _of_need(need, "was") for need in NEEDS}
    by = changed.group_by(keys).agg(value.alias(f"more_{need}") for need, value in more.items())
    joined = mechanisms.join(by, on=keys, how="left", maintain_order="left")
    return joined.with_columns(
        pl.col(need) + pl.col(f"more_{need}").fill_null(0) for need in NEEDS
    ).drop(f"more_{need}" for need in NEEDS)


def _of_need(need: str, column: str = "need") -> pl.Expr:
    return (pl.col(column) == need).sum().cast(pl.Int64)


def waited(connections: pl.DataFrame, mechanisms: pl.DataFrame) -> pl.DataFrame:
    """The time waited is the sum over a connection's mechanisms."""
    waited = mechanisms.group_by("connection").agg(pl.sum("waited_s").alias("now"))
    joined = connections.join(waited, on="connection", how="left", maintain_order="left")
    return joined.with_columns(pl.col("now").fill_null(0.0).alias("waited_s")).drop("now")

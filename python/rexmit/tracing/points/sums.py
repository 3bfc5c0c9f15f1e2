"""Sums over retransmissions, after rows have come or changed."""

from __future__ import annotations

import polars as pl


def with_more(mechanisms: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """The counts by mechanism with further retransmissions."""
    if more.is_empty():
        return mechanisms
    keys = ["capture", "connection", "flow", "direction", "mechanism"]
    counts = more.group_by(keys, maintain_order=True).agg(
        (pl.col("need") != "spurious").sum().cast(pl.Int64).alias("needed"),
        (pl.col("need") == "spurious").sum().cast(pl.Int64).alias("spurious"),
        pl.sum("waited_s"),
    )
    both = pl.concat([mechanisms, counts.select(mechanisms.columns)])
    return (
        both.group_by(keys[1:], maintain_order=True)
        .agg(pl.col("capture").first(), pl.col("needed", "spurious", "waited_s").sum())
        .select(mechanisms.columns)
    )


def counted(mechanisms: pl.DataFrame, changed: pl.DataFrame) -> pl.DataFrame:
    """The counts of needed and spurious retransmissions after some of them have changed."""
    keys = ["connection", "direction", "mechanism"]
    more = (pl.col("need") == "spurious").cast(pl.Int64) - (pl.col("was") == "spurious").cast(
        pl.Int64
    )
    by = changed.group_by(keys).agg(more.sum().alias("more"))
    joined = mechanisms.join(by, on=keys, how="left", maintain_order="left")
    shift = pl.col("more").fill_null(0)
    return joined.with_columns(
        (pl.col("needed") - shift).alias("needed"), (pl.col("spurious") + shift).alias("spurious")
    ).drop("more")


def waited(connections: pl.DataFrame, mechanisms: pl.DataFrame) -> pl.DataFrame:
    """The time waited is the sum over a connection's mechanisms."""
    waited = mechanisms.group_by("connection").agg(pl.sum("waited_s").alias("now"))
    joined = connections.join(waited, on="connection", how="left", maintain_order="left")
    return joined.with_columns(pl.col("now").fill_null(0.0).alias("waited_s")).drop("now")

"""Axes of a grid beside network, configuration and losses: what differs there is never averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

#: Columns of transfers.parquet that a scenario may sweep.
SWEPT = (
    "page_segments",
    "page_bytes",
    "receive_window_bytes",
    "line_loss",
    "congestion_control",
    "client",
    "loss_mode",
)

#: Cells that differ in something no column tells are numbered by this one.
VARIANT = "variant"

Value: TypeAlias = str | int | float | None

_NAMES = {
    "page_segments": "page of {} segments",
    "page_bytes": "page of {} bytes",
    "receive_window_bytes": "receive window {} bytes",
    "line_loss": "line loss {}",
    "congestion_control": "{}",
    "client": "client {}",
    "loss_mode": "{} mode",
    VARIANT: "variant {}",
}


@dataclass(frozen=True)
class Group:
    """The values a set of cells shares on the other axes; empty when there are none."""

    values: tuple[tuple[str, Value], ...] = ()

    @property
    def words(self) -> str:
        """For a heading: `bbr, receive window 65536 bytes`."""
        return ", ".join(_words(name, value) for name, value in self.values)

    @property
    def slug(self) -> str:
        """For a file name: `bbr-receive-window-65536`."""
        parts = []
        for name, value in self.values:
            text = (
                "default"
                if value is None
                else f"{value:g}"
                if isinstance(value, float)
                else str(value)
            )
            key = (
                ""
                if name == "congestion_control"
                else name.removesuffix("_bytes").replace("_", "-") + "-"
            )
            parts.append(key + "".join(c if c.isalnum() or c in ".-" else "-" for c in text))
        return "-".join(parts)

    def filter(self) -> pl.Expr:
        """The rows of this group."""
        expr = pl.lit(True)
        for name, value in self.values:
            expr = expr & pl.col(name).eq_missing(pl.lit(value))
        return expr


def _words(name: str, value: Value) -> str:
    if value is None:
        return {"receive_window_bytes": "default receive window"}.get(name, f"{name} not set")
    if name == "line_loss":
        return f"line loss {float(value) * 100:g}%"
    return _NAMES[name].format(value)


def with_axes(transfers: pl.DataFrame) -> pl.DataFrame:
    """Adds `page_bytes` (the cell's size where the page is not given in segments) and `variant`."""
    frame = transfers.with_columns(
        pl.when(pl.col("page_segments").is_null())
        .then(pl.col("transfer_size_bytes").drop_nulls().max().over("cell"))
        .otherwise(None)
        .alias("page_bytes")
    )
    known = ["network", "config", "lost_segments", *SWEPT]
    return frame.with_columns(
        pl.col("cell").rank("dense").over(known).cast(pl.Int64).alias(VARIANT)
    )


def groups(frame: pl.DataFrame) -> list[Group]:
    """The groups of a frame made by `with_axes`, in the order of the grid.

    A column is an axis only if it varies for one network and configuration: a value that comes with
    the network (its line's loss) is part of what the network's name means.
    """
    axes = [name for name in (*SWEPT, VARIANT) if _varies(frame, name)]
    if not axes:
        return [Group()]
    rows = frame.select(axes).unique(maintain_order=True).rows()
    return [Group(tuple(zip(axes, row, strict=True))) for row in rows]


def _varies(frame: pl.DataFrame, name: str) -> bool:
    counts = frame.group_by("network", "config").agg(pl.col(name).n_unique().alias("n"))
    return bool((counts["n"] > 1).any())

"""Axes of a grid beside network, configuration and losses: what differs there is never averaged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

import polars as pl

from rexmit.errors import UserError, choice
from rexmit.scenario.units import SIZE
from rexmit.store.schema import GRID
from rexmit.wording import count

#: The two ways to say how long a page is: one of them is null, together they are one axis.
PAGE = ("page_segments", "page_bytes")

#: What a scenario may sweep beside networks, configurations and lost segments.
SWEPT = (*PAGE, *(name for name in GRID[2:-1] if name not in PAGE))

#: Cells that differ in something no column tells are numbered by this one.
VARIANT = "variant"

#: The columns that tell cells apart, the outermost first.
AXES = (*GRID[:2], *SWEPT, VARIANT, *GRID[-1:])

#: What a user may write for a column: what a scenario calls it, or a word of it.
_ALIASES = {
    "lost": "lost_segments",
    "loss.segments": "lost_segments",
    "page": "page_segments",
    "workload.segments": "page_segments",
    "workload.size": "page_bytes",
    "window": "receive_window_bytes",
    "receive_window": "receive_window_bytes",
    "workload.receive_window": "receive_window_bytes",
    "workload.client": "client",
    "tcp.congestion_control": "congestion_control",
    "loss.mode": "loss_mode",
    "loss.pattern": "loss_pattern",
}

#: Axes whose values say what they are.
_NAMES = ("network", "config", "congestion_control")

Value: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class AxisGroup:
    """The values a set of cells shares on the other axes; empty when there are none.

    `departing` names the values that set it apart from the others, None for all of them: in a grid
    that varies one setting at a time, what departs; nothing for the group from which the others
    depart.
    """

    values: tuple[tuple[str, Value], ...] = ()
    departing: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def is_base(self) -> bool:
        """Whether the other groups depart from this one in one setting each."""
        return self.departing == ()

    @property
    def words(self) -> str:
        """For a heading: `bbr, receive window 64 KiB`. All values, if others depart from these."""
        return ", ".join(filter(None, (words(*pair) for pair in self._apart() or self.values)))

    @property
    def slug(self) -> str:
        """For a file name: `bbr-receive-window-65536`. Nothing, if others depart from this one."""
        parts = []
        for name, value in self._apart():
            if name in PAGE and value is None:
                continue
            key = name.removesuffix("_bytes").replace("_", "-") + "-"
            text = "default" if value is None else f"{value:g}" if name == "line_loss" else value
            parts.append(f"{'' if name in _NAMES else key}{text}")
        return "-".join("".join(c if c.isalnum() or c in ".-" else "-" for c in p) for p in parts)

    def value(self, name: str) -> Value:
        """The value on an axis; None where that is no axis."""
        return dict(self.values).get(name)

    def filter(self) -> pl.Expr:
        """The rows of this group."""
        expr = pl.lit(True)
        for name, value in self.values:
            expr = expr & pl.col(name).eq_missing(pl.lit(value))
        return expr

    def _apart(self) -> tuple[tuple[str, Value], ...]:
        if self.departing is None:
            return self.values
        return tuple(pair for pair in self.values if pair[0] in self.departing)


def axis_named(name: str, where: str, axes: tuple[str, ...] = AXES) -> str:
    """The axis of `axes` that a user means. Raises UserError (usage), which begins with `where`."""
    aliases = {alias: axis for alias, axis in _ALIASES.items() if axis in axes}
    meant = aliases.get(name, name)
    known = [axis for axis in axes if axis != VARIANT]
    if meant not in axes:
        raise UserError(
            f"{where}: there is no axis {name}",
            choice(name, known, "axes", also=aliases),
            usage=True,
        )
    return meant


def value_text(value: Value) -> str:
    """A value as a user writes it."""
    return "default" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def words(name: str, value: Value) -> str:
    """A value as a reader has it: `receive window 64 KiB`; nothing for the unused page length."""
    if name in PAGE and value is None:
        return ""
    if name == "page_segments":
        return f"page of {value} segments"
    if name == "page_bytes":
        return f"page of {size_words(value)}"
    if name == "receive_window_bytes":
        return "default receive window" if value is None else f"receive window {size_words(value)}"
    if name == "line_loss":
        return "no line loss" if not value else f"line loss {percent_words(value)}"
    if name == "lost_segments":
        return count(int(value or 0), "lost segment")
    if name in _NAMES:
        return str(value)
    if name == "loss_pattern":
        return f"lost: {value}" if value else ""
    return f"{value} mode" if name == "loss_mode" else f"{name} {value}"


def size_words(value: Value) -> str:
    """`144 kB`, `64 KiB`, `20,011 bytes`."""
    text = SIZE.text(int(value or 0))
    number = text.rstrip("BkKMGi")
    unit = text[len(number) :]
    return f"{int(number):,} bytes" if unit == "B" else f"{number} {unit}"


def percent_words(value: Value) -> str:
    """A share as percent: `0.1%`."""
    return f"{float(value or 0) * 100:g}%"


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


def groups(frame: pl.DataFrame) -> list[AxisGroup]:
    """The groups of a frame made by `with_axes`, in the order of the grid.

    A column is an axis only if it varies for one network and configuration: a value that comes with
    the network (its line's loss) is part of what the network's name means.
    """
    axes = [name for name in (*SWEPT, VARIANT) if _varies(frame, name)]
    if not axes:
        return [AxisGroup()]
    rows = frame.select(axes).unique(maintain_order=True).rows()
    base = _base(axes, rows)
    return [
        AxisGroup(
            tuple(zip(axes, row, strict=True)),
            None if base is None else _departs(axes, row, base),
        )
        for row in rows
    ]


def _base(axes: list[str], rows: list[tuple[Value, ...]]) -> tuple[Value, ...] | None:
    """The row from which every other departs in one setting; None for another kind of grid."""
    if len({_setting(name) for name in axes}) < 2:
        return None
    usual = []
    for column in zip(*rows, strict=True):
        ranked = Counter(column).most_common(2)
        if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            return None
        usual.append(ranked[0][0])
    base = tuple(usual)
    apart = ({_setting(name) for name in _departs(axes, row, base)} for row in rows)
    return base if base in rows and all(len(names) <= 1 for names in apart) else None


def _departs(axes: list[str], row: tuple[Value, ...], base: tuple[Value, ...]) -> tuple[str, ...]:
    return tuple(name for name, mine, usual in zip(axes, row, base, strict=True) if mine != usual)


def _setting(name: str) -> str:
    return "page" if name in PAGE else name


def _varies(frame: pl.DataFrame, name: str) -> bool:
    counts = frame.group_by("network", "config").agg(pl.col(name).n_unique().alias("n"))
    return bool((counts["n"] > 1).any())

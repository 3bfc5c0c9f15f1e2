"""What a page is made of, whatever it is about: printed blocks, tables, figures, packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import polars as pl

from rexmit.result.blocks import Block
from rexmit.store.schema import declared


@dataclass(frozen=True)
class Opens:
    """What a row of a table opens: a view (connection, transfer, pair) by a column's number."""

    view: str
    column: str


@dataclass(frozen=True)
class Table:
    """A table to sort, filter and search. `about` has unit and meaning of columns by name,
    `command` what prints the same numbers; rows stand by `sort`, a column, with - before it from
    the largest down.
    """

    name: str
    title: str
    frame: pl.DataFrame
    command: str
    about: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    sort: str = ""
    opens: Opens | None = None


def meanings(kind: str, *tables: str) -> dict[str, tuple[str, str]]:
    """Unit and meaning of the columns that tables of a "trace" or a "run" have as declared."""
    return {
        column.name: (column.unit or "", column.meaning)
        for table in tables
        for column in declared(kind)[table].columns
    }


@dataclass(frozen=True)
class Mark:
    """A value with its spread at a place of the x axis; `spread` is 0 where there is none. A bar
    to one side alone goes `to` a value. What is of `few` is drawn hollow.
    """

    at: float
    value: float
    spread: float = 0.0
    to: float | None = None
    few: bool = False


@dataclass(frozen=True)
class FigureLine:
    """One line of a figure: marks of a shape, or where there is none steps or a straight line, as
    the figure says. Hollow marks are `of` another source, which it names. `colour` is a place in
    the page's palette.
    """

    name: str
    marks: tuple[Mark, ...]
    of: str = ""
    colour: int = 0
    shape: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Figure:
    """Lines over an axis. `ticks` are places with words, where the places are not numbers
    themselves. `draws` is what lines without a shape are: "marks", "steps" (of shares, 0 to 100) or
    "slope" (a reference line among marks). Axes are "linear", "log", or "asinh": linear about 0,
    logarithmic beyond; `ends` are those of the x axis where its marks have others.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    x: str
    y: str
    lines: tuple[FigureLine, ...]
    command: str
    ticks: tuple[tuple[float, str], ...] | None = None
    draws: str = "marks"
    x_axis: str = "linear"
    y_axis: str = "linear"
    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class Packets:
    """One connection's packets. `key` names it in addresses: its number, and behind a point the
    path of a subflow. `about` is plain data: title, both ends, words, the command; `tables` are
    those of `packets.Drawn`.
    """

    key: str
    about: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class TimeLine:
    """The whole of a trace over its time. `steps` has a row a step, as `tracing.course` has them,
    and `about` what they are; `command` prints the page of a stretch of it.
    """

    about: Mapping[str, Any]
    steps: pl.DataFrame
    command: str


@dataclass(frozen=True)
class Section:
    """A heading, and what is printed below it."""

    title: str
    blocks: Sequence[Block]
    command: str


@dataclass(frozen=True)
class Part:
    """One thing that a page is about: a trace, a run, a diff or an agreement.

    `names` are the paths that it was made of, and `written_by` the command that makes a page of
    them; a diff has none of its own. `view` is what its
    connections are called in addresses, `rule` says in words which connections' packets are in the
    page. `pairs` are connections to lay beside each other, and where they part.
    """

    kind: str
    name: str
    names: Sequence[str]
    sections: Sequence[Section]
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    view: str = "connection"
    packets: Sequence[Packets] = ()
    rule: str = ""
    missing: str = ""
    """The command that makes a page with the packets of connection {number}."""
    whatif: Mapping[str, Any] | None = None
    pairs: Sequence[Mapping[str, Any]] = ()
    time: TimeLine | None = None
    written_by: Sequence[str] = ("report",)


@runtime_checkable
class Shown(Protocol):
    """What another package has pages be about."""

    def page_part(self, place: int) -> Part:
        """Its part of a page; `place` is its own among the parts."""

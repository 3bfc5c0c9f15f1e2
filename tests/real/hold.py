"""The analyser's rows of a capture held against what is certain in it.

Rows and packets belong together by flow, time and overlapping numbers: both read the same file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from tests.real import oracle, packets
from tests.real.oracle import Seen

from rexmit.tracing.memory import tables

SPACE = 1 << 32


@dataclass(frozen=True, slots=True)
class Held:
    """What became of the certain retransmissions of a capture (or of several), and of the rows."""

    files: int = 0
    """Captures with a certain retransmission or a row."""
    certain: int = 0
    rows: int = 0
    """All rows of the analyser."""
    missed: tuple[Seen, ...] = ()
    """Certain ones without a row."""
    by_kind: Counter[str] = field(default_factory=Counter)
    """Rows by what the oracle calls their packet; `none` where it has no such packet."""
    said: tuple[tuple[Seen | None, dict[str, Any]], ...] = ()
    """Each row with its packet."""

    @property
    def on_new(self) -> int:
        """Rows on data that the capture does not show before."""
        return self.by_kind["new"] + self.by_kind["hole"]

    @property
    def doubles(self) -> int:
        """Rows on packets that the capture has twice."""
        return self.by_kind["double"]

    def of(self, kind: str) -> Iterator[dict[str, Any]]:
        """The rows whose packets are of this kind."""
        return (row for one, row in self.said if kind_of(one) == kind)

    def __add__(self, other: Held) -> Held:
        return Held(
            self.files + other.files,
            self.certain + other.certain,
            self.rows + other.rows,
            self.missed + other.missed,
            self.by_kind + other.by_kind,
            self.said + other.said,
        )


def hold(capture: Path) -> Held:
    """A capture's rows against the oracle's account of it."""
    return compare(oracle.account(packets.read(capture)), tables(capture).retransmissions)


def compare(seen: Iterable[Seen], rows: pl.DataFrame) -> Held:
    """Rows of the table `retransmissions` against an account."""
    waiting: defaultdict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        waiting[row["flow"], row["time_ns"]].append(row)
    # Packets of one time and one number: the row is of the one that repeats the other.
    ordered = sorted(seen, key=lambda one: one.kind != "certain")
    said: list[tuple[Seen | None, dict[str, Any]]] = []
    # One row each first: several packets of one time may carry the same numbers. A packet that was
    # merged has several rows.
    for most in (1, None):
        for one in ordered:
            left = waiting.get((_flow(one), one.packet.time_ns), [])
            for row in [row for row in left if _overlap(one, row)][:most]:
                left.remove(row)
                said.append((one, row))
    of_packets = {id(one) for one, _ in said}
    certain = [one for one in ordered if one.kind == "certain"]
    said += [(None, row) for left in waiting.values() for row in left]
    return Held(
        files=int(bool(certain) or rows.height > 0),
        certain=len(certain),
        rows=rows.height,
        missed=tuple(one for one in certain if id(one) not in of_packets),
        by_kind=Counter(kind_of(one) for one, _ in said),
        said=tuple(said),
    )


def kind_of(one: Seen | None) -> str:
    """What a row's packet is; `none` where the oracle has no such packet."""
    return one.kind if one else "none"


def _flow(one: Seen) -> str:
    source, port, sink, other = one.packet.flow
    return f"{_address(source)}:{port} > {_address(sink)}:{other}"


def _address(text: str) -> str:
    return f"[{text}]" if ":" in text else text


def _overlap(one: Seen, row: dict[str, Any]) -> bool:
    """The row has a number that the packet carries; a probe that carries none has that below."""
    length = max(one.end - one.start, 1)
    start, end = int(row["seq_start"]), int(row["seq_end"])
    after = (start - one.packet.seq) % SPACE
    return after < length or SPACE - after < (end - start) % SPACE

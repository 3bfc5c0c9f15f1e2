"""A corpus: captures of several points of the network, and what really happened in each.

`rexmit validate truth` (real kernels) and `rexmit validate synth` (the model) write the same
folder: `truth.json`, `retransmissions.parquet`, `connections.parquet`, `captures/PART-POINT.pcapng`
(or `.pcap`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit.errors import UserError, argument, closest
from rexmit.store import digests
from rexmit.store.plain_json import (
    Check,
    anything,
    either,
    list_of,
    nothing,
    read,
    shape,
    text,
    whole,
)

VERSION: Final = 1
"""The version of truth.json."""

POINTS: Final = ("sender", "switch", "receiver")
"""Where captures are taken, from the sender of the data on."""

PLAIN: Final = "plain"
"""The kind of a part whose headers and captures are as they were made."""

_ENDINGS: Final = (".pcapng", ".pcap", ".pcapng.gz", ".pcap.gz", ".pcapng.zst", ".pcap.zst")

_RETRANSMISSIONS: Final = ("part", "flow", "seq_start", "seq_end", "mechanism", "need", "dropped")
_CONNECTIONS: Final = ("part", "flow", "stack")
_WAITS: Final = (
    *("part", "flow", "owner"),
    *(f"{point}_{edge}_ns" for point in POINTS for edge in ("from", "to")),
)


_CHECK: Final[Check] = shape(
    {
        "version": whole(),
        "kind": text,
        "kernels": either(nothing, list_of(anything)),
        "seed": either(nothing, whole(0, 2**64 - 1)),
        digests.KEY: digests.CHECK,
    },
    needed=("version",),
)
"""What this program reads of a truth.json."""


@dataclass(frozen=True)
class Capture:
    """One capture of a corpus."""

    part: str
    point: str
    path: Path


@dataclass(frozen=True)
class Group:
    """Captures of one part that are analysed together, from the sender on: one of each point."""

    captures: tuple[Capture, ...]

    @property
    def part(self) -> str:
        """The part of all of them."""
        return self.captures[0].part

    @property
    def points(self) -> tuple[str, ...]:
        """Their points, from the sender on."""
        return tuple(capture.point for capture in self.captures)

    @property
    def name(self) -> str:
        """What it is called while it is at work."""
        return " + ".join(capture.path.name for capture in self.captures)


@dataclass(frozen=True)
class Corpus:
    """`retransmissions` has a row for each packet that carried anything again, whoever captured it;
    `connections` one for each connection. `waits` has whose the time of each direction was, stretch
    by stretch, where a kernel recorded it.
    """

    path: Path
    meta: dict[str, Any]
    captures: tuple[Capture, ...]
    retransmissions: pl.DataFrame
    connections: pl.DataFrame
    waits: pl.DataFrame | None = None

    @property
    def points(self) -> tuple[str, ...]:
        """The points that there are captures of, from the sender on."""
        return tuple(p for p in POINTS if any(c.point == p for c in self.captures))

    def alone(self) -> list[Group]:
        """Each capture by itself."""
        return [Group((capture,)) for capture in self.captures]

    def together(self, points: Sequence[str]) -> list[Group]:
        """Of each part the captures of these points together. Raises UserError where no part has
        all of them.
        """
        of_part: dict[str, dict[str, Capture]] = {}
        for capture in self.captures:
            of_part.setdefault(capture.part, {})[capture.point] = capture
        order = [point for point in POINTS if point in points]
        groups = [
            Group(tuple(there[point] for point in order))
            for there in of_part.values()
            if all(point in there for point in order)
        ]
        if not groups:
            raise UserError(
                f"{self.path}: no part has captures at {' and '.join(order)}",
                f"it has captures at {', '.join(self.points)}",
            )
        return groups

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each part; none for a corpus that does not say."""
        if "kind" not in self.connections.columns:
            return {}
        named = self.connections.select("part", pl.col("kind").fill_null(PLAIN)).unique()
        return dict(named.sort("part", "kind").iter_rows())

    def truth(self, capture: Capture) -> pl.DataFrame:
        """The retransmissions that this capture has, with `at_ns`, when it has them."""
        at = f"{capture.point}_ns"
        if at not in self.retransmissions.columns:
            raise UserError(
                f"{self.path / 'retransmissions.parquet'}: column {at} is missing",
                f"make the corpus again, or leave its captures at the {capture.point} out: "
                f"{argument('point')}",
            )
        return (
            self.retransmissions.filter(pl.col("part") == capture.part, pl.col(at).is_not_null())
            .with_columns(pl.col(at).cast(pl.Int64).alias("at_ns"))
            .sort("at_ns", "flow", "seq_start")
        )

    def time(self, capture: Capture) -> pl.DataFrame | None:
        """Whose the time of connections of this capture was: `owner` from `from_ns` to `to_ns`, as
        it sees that. None where nobody recorded it.
        """
        if self.waits is None:
            return None
        begin, end = (pl.col(f"{capture.point}_{edge}_ns") for edge in ("from", "to"))
        rows = self.waits.filter(pl.col("part") == capture.part)
        if rows.is_empty():
            return None
        return rows.select("flow", begin.alias("from_ns"), end.alias("to_ns"), "owner")

    def ways(self, part: str) -> tuple[pl.Series, pl.Series]:
        """The flows of a part that go from the point `sender` to the point `receiver`, and those
        that go the other way.

        The retransmissions' `home` tells, or their times; where they do not, the connection's flow
        in connections.parquet goes from the sender.
        """
        here = self.retransmissions.filter(pl.col("part") == part)
        known: dict[str, bool] = {}
        if "home" in here.columns:
            for flow, home in here.select("flow", "home").unique().iter_rows():
                known[flow] = home == "sender"
        elif {"sender_ns", "receiver_ns"} <= set(here.columns) and here["receiver_ns"].count():
            sender, receiver = pl.col("sender_ns"), pl.col("receiver_ns")
            against = receiver.is_not_null() & (sender.is_null() | (sender > receiver))
            seen = here.filter(sender.is_not_null() | receiver.is_not_null())
            shares = seen.group_by("flow").agg(against.mean().alias("against"))
            for flow, share in shares.iter_rows():
                known[flow] = share < 0.5
        for flow, is_along in list(known.items()):
            known.setdefault(turned(flow), not is_along)
        along: list[str] = []
        against_it: list[str] = []
        for flow in self.connections.filter(pl.col("part") == part)["flow"]:
            first, second = (along, against_it) if known.get(flow, True) else (against_it, along)
            first.append(flow)
            second.append(turned(flow))
        return _flows(along), _flows(against_it)

    def narrowed(
        self, *, point: str | None = None, part: str | None = None, flow: str | None = None
    ) -> Corpus:
        """Only this point, this part, this flow (either way round). Raises UserError where that
        leaves no capture, or the flow has no row.
        """
        captures = tuple(
            c for c in self.captures if point in (None, c.point) and part in (None, c.part)
        )
        if not captures:
            parts = sorted({c.part for c in self.captures})
            near = closest(part, parts) if part else None
            raise UserError(
                f"{self.path}: no capture of {part or 'any part'} at {point or 'any point'}",
                f"did you mean {near}?"
                if near
                else f"parts: {', '.join(parts[:20])}; points: {', '.join(self.points)}",
                usage=True,
            )
        chosen = replace(self, captures=captures)
        if flow is None:
            return chosen
        wanted = pl.col("flow").is_in([flow, turned(flow)])
        connections = self.connections.filter(wanted)
        if connections.is_empty():
            raise UserError(
                f"{self.path}: no connection {flow}",
                "flows are written as in connections.parquet: 10.0.0.1:80 > 10.0.0.2:40000",
                usage=True,
            )
        return replace(
            chosen,
            retransmissions=self.retransmissions.filter(wanted),
            connections=connections,
            waits=None if self.waits is None else self.waits.filter(wanted),
        )


def _flows(flows: list[str]) -> pl.Series:
    return pl.Series("flow", flows, dtype=pl.String)


def turned(flow: str) -> str:
    """The other direction of `A > B`."""
    left, _, right = flow.partition(" > ")
    return f"{right} > {left}"


def open_corpus(path: Path) -> Corpus:
    """Reads a truth folder. Raises UserError for no such folder, another version, tables that
    cannot be read, no captures.
    """
    if not (path / "truth.json").is_file():
        raise UserError(
            f"{path}: no corpus of known retransmissions (it has no truth.json)",
            "`rexmit validate truth` and `rexmit validate synth` make one",
        )
    meta = _meta(path / "truth.json")
    fault = digests.fault(path, meta)
    if fault is not None:
        raise UserError(fault, "make the corpus again")
    retransmissions = _table(path / "retransmissions.parquet", _RETRANSMISSIONS)
    connections = _table(path / "connections.parquet", _CONNECTIONS)
    waits = path / "waits.parquet"
    known = _table(waits, _WAITS) if waits.is_file() else None
    captures = tuple(_captures(path / "captures"))
    if not captures:
        raise UserError(
            f"{path / 'captures'}: no captures",
            f"they are named PART-POINT.pcapng, where POINT is one of {', '.join(POINTS)}",
        )
    return Corpus(path, meta, captures, retransmissions, connections, known)


def _meta(file: Path) -> dict[str, Any]:
    try:
        meta = read(file)
        _CHECK(meta, "")
        version = meta["version"]
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: cannot be read: {error}", "make the corpus again") from error
    if version != VERSION:
        raise UserError(
            f"{file}: the corpus has version {version}, this program reads version {VERSION}",
            "make the corpus again",
        )
    return meta


def _table(file: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(file, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{file}: cannot be read: {error}", "make the corpus again") from error
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise UserError(f"{file}: column {', '.join(missing)} is missing", "make the corpus again")
    return frame


def _captures(folder: Path) -> list[Capture]:
    captures = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        stem = next((path.name[: -len(e)] for e in _ENDINGS if path.name.endswith(e)), None)
        part, _, point = (stem or "").rpartition("-")
        if part and point in POINTS:
            captures.append(Capture(part, point, path))
    return sorted(captures, key=lambda c: (POINTS.index(c.point), c.part))

"""A connection that was captured at several points: each packet with its times at the two outer
ones, that of the client and that of the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit import _core
from rexmit.errors import UserError
from rexmit.ladder.match import Passage, match
from rexmit.ladder.packets import Packet, packet_of
from rexmit.store.trace_tables import ANALYSE
from rexmit.tracing.folder import Trace
from rexmit.tracing.points.clocks import aligned

_LATER_NS: Final = 2_000_000_000
"""A connection's last packet comes by so much later at most at another point than at its own."""

_SLACK_NS: Final = 1_000
"""Seconds as a number are not exact."""


@dataclass(frozen=True)
class Ends:
    """The points next to the client and next to the server, the passages between them in their
    order, and what was captured of each where it was sent (or else where it arrived).
    """

    client: str
    server: str
    passages: list[Passage]
    captured: list[_core.Packet]


def ends(trace: Trace, row: Mapping[str, Any]) -> Ends | None:
    """None for a connection that came by at one point only. Raises UserError for captures that
    cannot be read any more.
    """
    mine = pl.col("connection") == row["connection"]
    legs = trace.scan("legs").filter(mine).collect()
    forward = legs.filter(pl.col("direction") == "forward")
    if forward.is_empty():
        return None
    client, server = forward["first_point"][0], forward["last_point"][0]
    lost = trace.scan("followed").filter(mine, pl.col("lost").is_not_null()).collect()
    by_id: dict[int, _core.Packet] = {}
    seen = {
        place: _at(trace, place, legs, row["duration_s"], lost, by_id) for place in (client, server)
    }
    passages = match(seen[server], seen[client])
    captured = [by_id[id(passage.packet)] for passage in passages]
    return Ends(client, server, passages, captured)


def _at(
    trace: Trace,
    place: str,
    legs: pl.DataFrame,
    duration_s: float,
    lost: pl.DataFrame,
    by_id: dict[int, _core.Packet],
) -> list[Packet]:
    """The connection's packets at a point, by the first point's clock."""
    known = [
        (row[flow], row[start], row["direction"])
        for row in legs.iter_rows(named=True)
        for point, flow, start in (
            ("from_point", "flow", "from_start_ns"),
            ("to_point", "to_flow", "to_start_ns"),
        )
        if row[point] == place
    ]
    starts = [start for _, start, _ in known if start is not None]
    flow, _, direction = next(one for one in known if one[1] is not None)
    source, _, target = flow.partition(" > ")
    client, server = (source, target) if direction == "forward" else (target, source)
    point = next(one for one in trace.meta["points"] if one["name"] == place)
    since, until = min(starts) - _SLACK_NS, max(starts) + round(duration_s * 1e9) + _LATER_NS
    files = [Path(name) for name in point["files"]]
    (raw,) = read_flows(trace, files, [(client, server, since, until)])
    times = aligned(point["clock"], [one.time_ns for one in raw])
    gone = set(lost.filter(pl.col("point") == place).select("time_ns", "seq_start").iter_rows())
    packets = []
    for one, at in zip(raw, times, strict=True):
        packet = packet_of(
            one,
            from_server=not is_from(one, client),
            time_ns=at,
            dropped=(one.time_ns, one.seq) in gone,
        )
        by_id[id(packet)] = one
        packets.append(packet)
    return packets


def is_from(raw: _core.Packet, end: str) -> bool:
    """Whether an end, as flows name it, sent the packet."""
    return end in (f"{raw.src}:{raw.sport}", f"[{raw.src}]:{raw.sport}")


def read_flows(
    trace: Trace, files: Sequence[Path], wanted: Sequence[tuple[str, str, int, int]]
) -> list[list[_core.Packet]]:
    """The packets of connections as a trace's tables name them: two ends, from when to when. Raises
    UserError.
    """
    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise UserError(
            f"{trace.path}: the packets are in {', '.join(missing)}, which is not there any more",
            "put the capture back, or analyse it where it is now",
        )
    try:
        return _core.read_flows(files, wanted)
    except OSError as error:
        raise UserError(f"cannot be read: {error}") from error
    except (ValueError, OverflowError) as error:
        # Of a row that no analysis wrote.
        raise UserError(f"{trace.path}: a table names no connection: {error}", ANALYSE) from error


def told(passage: Passage, mechanism: str | None, need: str | None) -> Passage:
    """With what made its sender retransmit."""
    if passage.sent is None or mechanism is None:
        return passage
    return Passage(replace(passage.sent, mechanism=mechanism, need=need), passage.arrived)

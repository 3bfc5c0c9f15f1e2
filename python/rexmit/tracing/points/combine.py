"""One trace of the analyses of several points.

Of each direction of a connection the analysis of the point nearest to its sender counts: it knows
best when what was sent, and what the sender had heard. What became of its packets the other points
show, so need is known where the last point stands beside the receiver, or where nothing of a packet
ever came to the last point. Where the nearest point's capture begins late or ends early, the next
one tells what it has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.store.trace_schema import ORDERS, POINT_ORDERS, SIDES
from rexmit.tracing.points.beyond import beyond
from rexmit.tracing.points.captured import Captured, Span, by_first_clock
from rexmit.tracing.points.choose import as_clients_waited, chosen_of, from_one
from rexmit.tracing.points.directions import Directions, Frames
from rexmit.tracing.points.follow import Ways
from rexmit.tracing.points.nearer import by_nearer
from rexmit.tracing.points.needs import with_needs
from rexmit.tracing.points.renumber import connections_of, renumbered, with_connections
from rexmit.tracing.points.sums import counted, waited, with_more
from rexmit.tracing.source import conformed

OF_SIDES: Final = ("sides", "mechanisms", "parameters", "retransmissions", "whatif", "account")
"""Tables whose rows belong to one side of a connection."""

OF_CLIENTS: Final = ("connections", "requests")
"""Those of which the point nearest to the client knows best."""

OF_ROWS: Final = ("mechanisms", "retransmissions")
"""Those of them that are of retransmissions one by one."""


@dataclass(frozen=True)
class Combined:
    """The tables of a trace, and those of its points, with their connections."""

    tables: dict[str, pl.DataFrame]
    ways: dict[str, pl.DataFrame]


def combine(points: Sequence[Frames], ways: Ways, spans: Sequence[Span]) -> Combined:
    """`points` are the tables of the points in their order, as analysed each by itself, `spans` the
    times of their captures. Times in seconds, and those of `account`, are of the first point's
    clock then, other times in nanoseconds of the point's own.
    """
    names = ways.points["point"].to_list()
    directions = Directions(points, ways.legs, names)
    points = [by_first_clock(one, clock) for one, clock in zip(points, ways.clocks, strict=True)]
    captured = Captured.by_first(spans, ways)
    nearest = chosen_of(points, directions)
    chosen = chosen_of(points, directions, captured)
    waited_by = as_clients_waited(points, nearest, chosen)
    by_table = dict.fromkeys(OF_SIDES, chosen) | dict.fromkeys(OF_ROWS, nearest)
    by_table["account"] = waited_by
    frames: dict[str, list[pl.DataFrame]] = {name: [] for name in points[0]}
    for name, of in by_table.items():
        frames[name].append(_of_sides(name, points, of))
    for number, tables in enumerate(points):
        for name in OF_CLIENTS:
            frames[name].append(connections_of(tables[name], waited_by, number))
    at_client, at_server = (
        _of_sides("account", points, from_one(of, side))
        for of, side in zip((waited_by, chosen), SIDES, strict=True)
    )
    # Sums over senders are of all senders that a point saw: the first point's stand.
    frames["whatif_totals"].append(points[0]["whatif_totals"])
    tables = {name: pl.concat(parts) for name, parts in frames.items()}
    tables["account"] = by_nearer(tables["account"], at_client, at_server)
    of_points = {"points": ways.points}
    for name in ("legs", "followed"):
        rows = with_connections(getattr(ways, name), name, directions, chosen, names)
        of_points[name] = rows.sort(*POINT_ORDERS[name], maintain_order=True, nulls_last=True)
    more = beyond(points, tables["retransmissions"], directions, nearest, captured)
    tables["retransmissions"] = pl.concat([tables["retransmissions"], more.rows])
    tables["mechanisms"] = with_more(tables["mechanisms"], more.rows)
    tables["retransmissions"], changed = with_needs(
        points, tables, of_points["followed"], nearest, more.sides, names
    )
    tables["mechanisms"] = counted(tables["mechanisms"], changed)
    tables["connections"] = waited(tables["connections"], tables["mechanisms"])
    in_order = {
        name: conformed(name, rows.sort(*ORDERS[name], maintain_order=True))
        for name, rows in tables.items()
    }
    return Combined(in_order, of_points)


def _of_sides(name: str, points: Sequence[Frames], of: pl.DataFrame) -> pl.DataFrame:
    """The rows of a table at the points that `of` has for each side."""
    return pl.concat(
        renumbered(tables[name], of.filter(pl.col("point") == number), of, number)
        for number, tables in enumerate(points)
    )

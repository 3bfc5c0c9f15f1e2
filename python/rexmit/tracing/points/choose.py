"""Which point's analysis counts for each direction of a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rexmit.store.trace_schema import SIDES
from rexmit.tracing.owners import LEAST_S
from rexmit.tracing.points.captured import Captured
from rexmit.tracing.points.directions import Directions, Frames, Node, turned


def chosen_of(
    points: Sequence[Frames], directions: Directions, captured: Captured | None = None
) -> pl.DataFrame:
    """A row for each side of each connection of the trace: its new number, flow and direction, and
    of which point's connection and direction its rows are: the first on its way, or with `captured`
    the first whose captures hold no less of the connection than others. `last` is the last point
    on its way.
    """
    members: dict[Node, list[Node]] = {}
    best: dict[tuple[int, int], tuple[str, bool, float, float]] = {}
    for number, tables in enumerate(points):
        rows = tables["connections"].select("connection", "flow", "mid_stream", "start_s", "end_s")
        for connection, flow, middle, at, end in rows.iter_rows():
            best[number, connection] = (flow, middle, at, end)
            here = (number, connection, SIDES[0])
            which = min(directions.root(here), directions.root(turned(here)))
            members.setdefault(which, []).append(here)

    def began(group: list[Node]) -> float:
        return min(best[point, connection][2] for point, connection, _ in group)

    chosen = []
    for number, group in enumerate(sorted(members.values(), key=began)):
        # Who is the client, a point that saw the handshake knows.
        base = min(group, key=lambda node: (best[node[0], node[1]][1], node))
        forward = directions.root(base)
        times = [best[node[0], node[1]] for node in group]
        misses = {
            node[0]: captured.misses_s(node[0], min(t[2] for t in times), max(t[3] for t in times))
            for node in group
            if captured is not None
        }
        # What a capture's begin and its end leave out may have been on its way, once each way.
        ways = (forward, directions.root(turned(base)))
        longest = sum(directions.longest_s.get(way, 0.0) for way in ways)
        by_root: dict[tuple[Node, int], Node] = {}
        for one in group:
            for each in (one, turned(one)):
                by_root.setdefault((directions.root(each), each[0]), each)
        client, _, server = best[base[0], base[1]][0].partition(" > ")
        for side, flow in zip(SIDES, (f"{client} > {server}", f"{server} > {client}"), strict=True):
            root = forward if side == SIDES[0] else directions.root(turned(base))
            begun, ended = directions.first.get(root, (base[0], base[0]))
            if captured is not None:
                most = min(misses.values()) + longest
                begun = next(
                    (
                        point
                        for point in sorted(misses, key=lambda at: (at != begun, at == ended))
                        if misses[point] <= most and (root, point) in by_root
                    ),
                    begun,
                )
            near = by_root.get((root, begun)) or (base if side == SIDES[0] else turned(base))
            far = by_root.get((root, ended))
            chosen.append((number, side, flow, *near, ended, far and far[1], far and far[2]))
    return pl.DataFrame(
        chosen,
        schema={
            "connection": pl.Int64,
            "direction": pl.String,
            "flow": pl.String,
            "point": pl.Int64,
            "of_connection": pl.Int64,
            "of_direction": pl.String,
            "last": pl.Int64,
            "last_connection": pl.Int64,
            "last_direction": pl.String,
        },
        orient="row",
    )


def as_clients_waited(
    points: Sequence[Frames], nearest: pl.DataFrame, chosen: pl.DataFrame
) -> pl.DataFrame:
    """`chosen` for what somebody waited for: of a connection whose client sent what never came to
    the point beside its server, or waited for what it sent again and that point did not see lost,
    what that point saw says nothing of it, and the point beside the client tells of both
    directions.
    """
    sent = {
        (number, connection, direction): octets
        for number, tables in enumerate(points)
        for connection, direction, octets in tables["sides"]
        .select("connection", "direction", "unique_bytes")
        .iter_rows()
    }
    repairs = _told(points)
    begun = {row["connection"]: _node(row) for row in nearest.to_dicts() if _is_client(row)}
    whole = {row["connection"]: _node(row) for row in chosen.to_dicts() if _is_client(row)}
    rows = chosen.to_dicts()
    for row in rows:
        client, beside = begun[row["connection"]], whole[row["connection"]]
        server = _node(row) if _is_client(row) else turned(_node(row))
        more_ns = repairs.get(turned(beside), 0) - repairs.get(turned(server), 0)
        if sent[client] > sent[server]:
            here = client
        elif more_ns >= round(LEAST_S * 1e9):
            here = beside
        else:
            continue
        here = here if _is_client(row) else turned(here)
        row["point"], row["of_connection"], row["of_direction"] = here
    return pl.DataFrame(rows, schema=chosen.schema)


def from_one(chosen: pl.DataFrame, direction: str) -> pl.DataFrame:
    """`chosen` with both directions of a connection from the point that tells of this one."""
    rows = chosen.to_dicts()
    nodes = {row["connection"]: _node(row) for row in rows if row["direction"] == direction}
    for row in rows:
        node = nodes[row["connection"]]
        here = node if row["direction"] == direction else turned(node)
        row["point"], row["of_connection"], row["of_direction"] = here
    return pl.DataFrame(rows, schema=chosen.schema)


def _told(points: Sequence[Frames]) -> dict[Node, int]:
    """How long a direction's peer is known to have waited for what it sent again, less the time of
    which the point does not tell."""
    owner, length = pl.col("owner"), pl.col("length_ns")
    repairs = pl.col("other_ns").filter(owner.str.starts_with("recovery-")).sum()
    untold = length.filter(owner.is_in(["late-or-lost", "unknown"])).sum()
    return {
        (number, connection, direction): told_ns
        for number, tables in enumerate(points)
        for connection, direction, told_ns in tables["account"]
        .group_by("connection", "direction")
        .agg(repairs - untold)
        .iter_rows()
    }


def _is_client(row: Mapping[str, Any]) -> bool:
    return bool(row["direction"] == SIDES[0])


def _node(row: Mapping[str, Any]) -> Node:
    """The direction at the point that was chosen."""
    return row["point"], row["of_connection"], row["of_direction"]

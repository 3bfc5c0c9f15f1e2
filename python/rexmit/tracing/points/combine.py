"""One trace of the analyses of several points.

Of each direction of a connection the analysis of the point nearest to its sender counts: it knows
best when what was sent, and what the sender had heard. What became of its packets the other points
show, so need is known where the last point stands beside the receiver, or where nothing of a packet
ever came to the last point. Where the nearest point's capture begins late or ends early, the next
one tells what it has not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import ORDERS, POINT_ORDERS, POINT_TABLES, SIDES
from rexmit.tracing.points.clocks import aligned
from rexmit.tracing.points.follow import Ways

Frames = Mapping[str, pl.DataFrame]
"""The tables of one point by name."""

OF_SIDES: Final = ("sides", "mechanisms", "parameters", "retransmissions", "whatif")
"""Tables whose rows belong to one side of a connection."""

OF_ROWS: Final = ("mechanisms", "retransmissions")
"""Those of them that are of retransmissions one by one."""

_NOTHING: Final = 200
"""A way is none where it takes less than such a part of the other one: as `clock.rs` has it."""

_SPACE: Final = 1 << 32

_NEAR_NS: Final = 1_000
"""A time in seconds since 1970, as connections have it, is exact to a fraction of this."""

Node = tuple[int, int, str]
"""A direction of a connection of a point: the point, the connection's number there, the word."""


@dataclass(frozen=True)
class Combined:
    """The tables of a trace, and those of its points, with their connections."""

    tables: dict[str, pl.DataFrame]
    ways: dict[str, pl.DataFrame]


Span = tuple[float, float] | None
"""The first and the last time stamp of a point's captures, seconds since 1970."""


def combine(points: Sequence[Frames], ways: Ways, spans: Sequence[Span]) -> Combined:
    """`points` are the tables of the points in their order, as analysed each by itself, `spans` the
    times of their captures. Times in seconds are of the first point's clock then, times in
    nanoseconds of the point's own.
    """
    names = ways.points["point"].to_list()
    nodes = _Nodes(points, ways.legs, names)
    points = [_aligned(one, clock) for one, clock in zip(points, ways.clocks, strict=True)]
    captured = Captured.of(spans, ways)
    nearest = _chosen(points, nodes)
    chosen = _chosen(points, nodes, captured)
    made: dict[str, list[pl.DataFrame]] = {name: [] for name in points[0]}
    for number, tables in enumerate(points):
        for name in OF_SIDES:
            of = nearest if name in OF_ROWS else chosen
            of_sides = of.filter(pl.col("point") == number)
            made[name].append(_renumbered(tables[name], of_sides, of, number))
        made["connections"].append(_connections(tables["connections"], chosen, number))
    # Sums over senders are of all senders that a point saw: the first point's stand.
    made["whatif_totals"].append(points[0]["whatif_totals"])
    tables = {name: pl.concat(parts) for name, parts in made.items()}
    of_points = {"points": ways.points}
    for name in ("legs", "followed"):
        rows = _of_connections(getattr(ways, name), name, nodes, chosen, names)
        of_points[name] = rows.sort(*POINT_ORDERS[name], maintain_order=True, nulls_last=True)
    more = _beyond(points, tables["retransmissions"], nodes, nearest, captured)
    tables["retransmissions"] = pl.concat([tables["retransmissions"], more.rows])
    tables["mechanisms"] = _with(tables["mechanisms"], more.rows)
    tables["retransmissions"], changed = _needs(
        points, tables, of_points["followed"], nearest, more.sides, names
    )
    tables["mechanisms"] = _counted(tables["mechanisms"], changed)
    tables["connections"] = _waited(tables["connections"], tables["mechanisms"])
    sort = {name: rows.sort(*ORDERS[name], maintain_order=True) for name, rows in tables.items()}
    return Combined(sort, of_points)


@dataclass(frozen=True)
class Captured:
    """When the points' captures begin and end, by the first point's clock; `longest_s` is the
    longest that a packet took from point to point: what a capture's end leaves out may have been on
    its way.
    """

    spans: tuple[Span, ...]
    longest_s: float

    @classmethod
    def of(cls, spans: Sequence[Span], ways: Ways) -> Captured:
        """`spans` are by the points' own clocks."""

        def told(span: Span, clock: list[Any]) -> Span:
            if span is None or not clock:
                return span
            first, last = aligned(clock, [round(at * 1e9) for at in span])
            return first / 1e9, last / 1e9

        delays = ways.legs["delay_max_s"].drop_nulls()
        return cls(
            tuple(told(span, clock) for span, clock in zip(spans, ways.clocks, strict=True)),
            max(0.0, *delays) if delays.len() else 0.0,
        )

    def misses_s(self, point: int, begun: float, ended: float) -> float:
        """How much of this time the captures of a point do not hold."""
        span = self.spans[point]
        if span is None:
            return ended - begun
        return max(0.0, span[0] - begun) + max(0.0, ended - span[1])

    def outside(self, point: int, times: pl.Expr, *, on_way: bool = False) -> pl.Expr:
        """Whether what came by at a further point at these times came by at this one before or
        after its captures; with `on_way` also where it may have been on its way when they ended.
        """
        span = self.spans[point]
        if span is None:
            return pl.lit(value=True)
        return (times < span[0]) | (times > span[1] + (0.0 if on_way else self.longest_s))


_TIMES: Final = {
    "connections": ("start_s", "end_s"),
    "retransmissions": ("time_s", "first_sent_s"),
}
"""Columns with times since 1970."""


def _aligned(tables: Frames, clock: list[Any]) -> Frames:
    """With the times of the first point's clock."""
    if not clock:
        return tables

    def times(column: pl.Series) -> pl.Series:
        known = column.drop_nulls()
        there = aligned(clock, (known * 1e9).round().cast(pl.Int64).to_list())
        made = pl.Series(column.name, [None] * column.len(), dtype=pl.Float64)
        at = column.is_not_null().arg_true()
        return made.scatter(at, pl.Series(there, dtype=pl.Int64).cast(pl.Float64) / 1e9)

    made = dict(tables)
    for name, columns in _TIMES.items():
        made[name] = made[name].with_columns(times(made[name][column]) for column in columns)
    return made


class _Nodes:
    """Directions of connections at points, those that are one joined."""

    def __init__(self, points: Sequence[Frames], legs: pl.DataFrame, names: Sequence[str]) -> None:
        self._flows = [_flows(tables["connections"]) for tables in points]
        self._up: dict[Node, Node] = {}
        self.first: dict[Node, tuple[int, int]] = {}
        self.longest_s: dict[Node, float] = {}
        ends = [
            (self.find_all(legs, point, flow, start, names), legs[order])
            for point, flow, start, order in (
                ("from_point", "flow", "from_start_ns", "first_point"),
                ("to_point", "to_flow", "to_start_ns", "last_point"),
            )
        ]
        places = {name: number for number, name in enumerate(names)}
        (here, first), (there, last) = ends
        for one, other in zip(here, there, strict=True):
            if one is not None and other is not None:
                self._join(one, other)
        delays = legs["delay_max_s"].fill_null(0.0)
        for one, other, begun, ended, delay in zip(here, there, first, last, delays, strict=True):
            known = one if one is not None else other
            if known is not None:
                root = self.root(known)
                self.first[root] = (places[begun], places[ended])
                self.longest_s[root] = max(delay, self.longest_s.get(root, 0.0))

    def find_all(
        self, rows: pl.DataFrame, point: str, flow: str, time: str, names: Sequence[str]
    ) -> list[Node | None]:
        """Of each row the direction of the connection that its flow was then at its point."""
        wanted = rows.select(
            pl.col(point).alias("at"), pl.col(flow).alias("flow"), pl.col(time).alias("ns")
        ).with_row_index("row")
        found: list[Node | None] = [None] * rows.height
        for number, name in enumerate(names):
            mine = wanted.filter(pl.col("at") == name, pl.col("ns").is_not_null())
            mine = mine.with_columns(pl.col("ns") + _NEAR_NS).sort("ns")
            joined = mine.join_asof(
                self._flows[number],
                left_on="ns",
                right_on="start_ns",
                by="flow",
                strategy="backward",
                check_sortedness=False,
            )
            joined = joined.filter(pl.col("connection").is_not_null())
            for row, connection, direction in joined.select(
                "row", "connection", "direction"
            ).iter_rows():
                found[row] = (number, connection, direction)
        return found

    def root(self, node: Node) -> Node:
        """The one of the joined directions that stands for all of them."""
        top = node
        while (above := self._up.get(top, top)) != top:
            top = above
        while (above := self._up.get(node, node)) != top:
            self._up[node] = top
            node = above
        return top

    def _join(self, one: Node, other: Node) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._up[second] = first
        for end, turned in ((one, other), (_turned(one), _turned(other))):
            low, high = sorted((self.root(end), self.root(turned)))
            self._up[high] = low


def _turned(node: Node) -> Node:
    point, connection, direction = node
    return point, connection, SIDES[1 - SIDES.index(direction)]


def _flows(connections: pl.DataFrame) -> pl.DataFrame:
    """Both directions of each connection, with when it began, in that order."""
    start = (pl.col("start_s") * 1e9).round().cast(pl.Int64).alias("start_ns")
    ends = pl.col("flow").str.split(" > ")
    both = (
        pl.col("flow"),
        pl.concat_str(ends.list.get(1), pl.lit(" > "), ends.list.get(0)).alias("flow"),
    )
    return pl.concat(
        connections.select("connection", flow, start, pl.lit(side).alias("direction"))
        for side, flow in zip(SIDES, both, strict=True)
    ).sort("start_ns", maintain_order=True)


def _chosen(
    points: Sequence[Frames], nodes: _Nodes, captured: Captured | None = None
) -> pl.DataFrame:
    """A row for each side of each connection of the trace: its new number, flow and direction, and
    of which point's connection and direction its rows are: the first on its way, or with `captured`
    the first whose captures hold no less of the connection than others. `last` is the last point
    on its way.
    """
    members: dict[Node, list[Node]] = {}
    told: dict[tuple[int, int], tuple[str, bool, float, float]] = {}
    for number, tables in enumerate(points):
        rows = tables["connections"].select("connection", "flow", "mid_stream", "start_s", "end_s")
        for connection, flow, middle, at, end in rows.iter_rows():
            told[number, connection] = (flow, middle, at, end)
            here = (number, connection, SIDES[0])
            which = min(nodes.root(here), nodes.root(_turned(here)))
            members.setdefault(which, []).append(here)

    def began(group: list[Node]) -> float:
        return min(told[point, connection][2] for point, connection, _ in group)

    made = []
    for number, group in enumerate(sorted(members.values(), key=began)):
        # Who is the client, a point that saw the handshake knows.
        base = min(group, key=lambda node: (told[node[0], node[1]][1], node))
        forward = nodes.root(base)
        times = [told[node[0], node[1]] for node in group]
        misses = {
            node[0]: captured.misses_s(node[0], min(t[2] for t in times), max(t[3] for t in times))
            for node in group
            if captured is not None
        }
        # What a capture's end leaves out may have been on its way.
        ways = (forward, nodes.root(_turned(base)))
        longest = max(nodes.longest_s.get(way, 0.0) for way in ways)
        by_root: dict[tuple[Node, int], Node] = {}
        for one in group:
            for each in (one, _turned(one)):
                by_root.setdefault((nodes.root(each), each[0]), each)
        client, _, server = told[base[0], base[1]][0].partition(" > ")
        for side, flow in zip(SIDES, (f"{client} > {server}", f"{server} > {client}"), strict=True):
            root = forward if side == SIDES[0] else nodes.root(_turned(base))
            begun, ended = nodes.first.get(root, (base[0], base[0]))
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
            near = by_root.get((root, begun)) or (base if side == SIDES[0] else _turned(base))
            far = by_root.get((root, ended))
            made.append((number, side, flow, *near, ended, far and far[1], far and far[2]))
    return pl.DataFrame(
        made,
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


def _numbers(chosen: pl.DataFrame, number: int) -> pl.DataFrame:
    """The new numbers of a point's connections."""
    mine = chosen.filter(pl.col("point") == number)
    return mine.select(
        pl.col("of_connection").alias("mptcp_connection"), pl.col("connection").alias("now")
    ).unique("mptcp_connection", keep="first", maintain_order=True)


def _renumbered(
    rows: pl.DataFrame, of_sides: pl.DataFrame, chosen: pl.DataFrame, number: int
) -> pl.DataFrame:
    """The rows of a point's sides that were chosen, as rows of the whole trace."""
    columns = rows.columns
    new = of_sides.select(
        pl.col("connection").alias("new"),
        pl.col("direction").alias("new_direction"),
        pl.col("flow").alias("new_flow"),
        pl.col("of_connection").alias("connection"),
        pl.col("of_direction").alias("direction"),
    )
    made = rows.join(new, on=["connection", "direction"], how="inner", maintain_order="left")
    made = made.with_columns(
        pl.col("new").alias("connection"),
        pl.col("new_direction").alias("direction"),
        pl.col("new_flow").alias("flow"),
    )
    return _subflows(made, chosen, number).select(columns)


def _subflows(rows: pl.DataFrame, chosen: pl.DataFrame, number: int) -> pl.DataFrame:
    if "mptcp_connection" not in rows.columns:
        return rows
    made = rows.join(
        _numbers(chosen, number), on="mptcp_connection", how="left", maintain_order="left"
    )
    return made.with_columns(pl.col("now").alias("mptcp_connection")).drop("now")


def _connections(rows: pl.DataFrame, chosen: pl.DataFrame, number: int) -> pl.DataFrame:
    """The rows of the connections whose client a point is nearest to."""
    columns = rows.columns
    new = chosen.filter(pl.col("point") == number, pl.col("direction") == SIDES[0]).select(
        pl.col("connection").alias("new"),
        pl.col("flow").alias("new_flow"),
        pl.col("of_connection").alias("connection"),
    )
    made = rows.join(new, on="connection", how="inner", maintain_order="left").with_columns(
        pl.col("new").alias("connection"), pl.col("new_flow").alias("flow")
    )
    return _subflows(made, chosen, number).select(columns)


def _of_connections(
    rows: pl.DataFrame, name: str, nodes: _Nodes, chosen: pl.DataFrame, names: Sequence[str]
) -> pl.DataFrame:
    """With the connection and direction that each row belongs to."""
    new = {
        nodes.root((point, connection, direction)): (now, side)
        for now, side, point, connection, direction in chosen.select(
            "connection", "direction", "point", "of_connection", "of_direction"
        ).iter_rows()
    }
    if name == "legs":
        found = nodes.find_all(rows, "from_point", "flow", "from_start_ns", names)
        beyond = nodes.find_all(rows, "to_point", "to_flow", "to_start_ns", names)
        found = [one or other for one, other in zip(found, beyond, strict=True)]
    else:
        found = nodes.find_all(rows, "point", "flow", "time_ns", names)
    known = [None if node is None else new.get(nodes.root(node)) for node in found]
    types = polars_schema(POINT_TABLES[name])
    return rows.with_columns(
        pl.Series("connection", [one and one[0] for one in known], dtype=pl.Int64),
        pl.Series("direction", [one and one[1] for one in known], dtype=pl.String),
    ).select(list(types))


def _at_receiver(points: Sequence[Frames], chosen: pl.DataFrame) -> pl.DataFrame:
    """Of each side whether its last point stands beside its receiver: no time is spent beyond."""
    delays = pl.concat(
        tables["sides"].select(
            pl.lit(number, dtype=pl.Int64).alias("last"),
            pl.col("connection").alias("last_connection"),
            pl.col("direction").alias("last_direction"),
            pl.col("monitor_delay_s").alias("back"),
        )
        for number, tables in enumerate(points)
    )
    keys = ["last", "last_connection", "last_direction"]
    other = pl.when(pl.col("last_direction") == SIDES[0]).then(pl.lit(SIDES[1]))
    beyond = delays.with_columns(other.otherwise(pl.lit(SIDES[0])).alias("last_direction"))
    beside = chosen.join(delays, on=keys, how="left").join(
        beyond.rename({"back": "beyond"}), on=keys, how="left"
    )
    is_beside = (pl.col("beyond") * _NOTHING <= pl.col("back")).fill_null(value=False)
    return beside.select("connection", "direction", is_beside.alias("at_receiver"))


def _needs(
    points: Sequence[Frames],
    tables: Mapping[str, pl.DataFrame],
    followed: pl.DataFrame,
    chosen: pl.DataFrame,
    more: pl.DataFrame,
    names: Sequence[str],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The retransmissions with what the points know of their need, and those whose need is another
    now, with `was`. `more` are sides at further points that rows are of, too.
    """
    rows = tables["retransmissions"]
    told = _known(rows, followed, pl.concat([chosen, more]), names)
    far = _far(points, chosen)
    joined = (
        rows.with_row_index("row")
        .join(told, on="row", how="left", maintain_order="left")
        .join(
            _at_receiver(points, chosen),
            on=["connection", "direction"],
            how="left",
            maintain_order="left",
        )
        .join(
            far,
            left_on=["connection", "direction", "last", "last_ns", "seq_start"],
            right_on=["connection", "direction", "last", "time_ns", "seq_start"],
            how="left",
            maintain_order="left",
        )
    )
    never = pl.col("known") == "needed"
    came = (pl.col("known") == "spurious") & pl.col("at_receiver")
    # Beyond the last point the analysis there knows best, of what came by.
    there = (pl.col("known") == "spurious") & pl.col("far_need").is_not_null()

    def settled(column: str, known: pl.Expr, seen: pl.Expr) -> pl.Expr:
        far = pl.col(f"far_{column}")
        chain = pl.when(never).then(known).when(came).then(seen).when(there).then(far)
        return chain.otherwise(pl.col(column)).alias(column)

    made = joined.with_columns(
        pl.col("need").alias("was"),
        settled("need", pl.lit("needed"), pl.lit("spurious")),
        settled("evidence", pl.lit("original-unseen"), pl.lit("original-seen")),
        settled("need_confidence", pl.lit(1.0), pl.lit(1.0)),
    )
    changed = made.filter(pl.col("was") != pl.col("need"))
    return made.select(rows.columns), changed


def _known(
    rows: pl.DataFrame, followed: pl.DataFrame, chosen: pl.DataFrame, names: Sequence[str]
) -> pl.DataFrame:
    """By `row`, the place in `rows`: the need `known`, and the `last` point that it came by at and
    when. Where a network card cut the packet up, it was needed if any part of it was.
    """
    places = {name: number for number, name in enumerate(names)}
    near = chosen.select("connection", "direction", "point")
    told = (
        followed.filter("again", pl.col("connection").is_not_null())
        .with_columns(
            pl.col("point").replace_strict(places, return_dtype=pl.Int64),
            pl.col("last_point").replace_strict(places, return_dtype=pl.Int64).alias("last"),
        )
        .join(near, on=["connection", "direction", "point"], how="semi")
    )
    keys = ["connection", "direction", "time_ns"]
    mine = rows.with_row_index("row").select(
        "row", *keys, pl.col("seq_start").alias("from"), pl.col("seq_end").alias("to")
    )
    ahead = (pl.col("seq_start") - pl.col("from")) % _SPACE
    behind = (pl.col("from") - pl.col("seq_start")) % _SPACE
    meets = (ahead < (pl.col("to") - pl.col("from")) % _SPACE) | (
        behind < (pl.col("seq_end") - pl.col("seq_start")) % _SPACE
    )
    known = pl.when((pl.col("need") == "needed").any()).then(pl.lit("needed"))
    return (
        told.join(mine, on=keys, how="inner")
        .filter(meets)
        .group_by("row", maintain_order=True)
        .agg(
            known.otherwise(pl.col("need").first()).alias("known"),
            pl.col("last", "last_ns").first(),
        )
    )


def _far(points: Sequence[Frames], chosen: pl.DataFrame) -> pl.DataFrame:
    """What the last point's analysis says of each retransmission that came by there."""
    parts = []
    for number, tables in enumerate(points):
        mine = chosen.filter(pl.col("last") == number, pl.col("point") != number).select(
            pl.col("connection").alias("new"),
            pl.col("direction").alias("new_direction"),
            pl.col("last_connection").alias("connection"),
            pl.col("last_direction").alias("direction"),
        )
        rows = tables["retransmissions"].join(mine, on=["connection", "direction"], how="inner")
        parts.append(
            rows.select(
                pl.col("new").alias("connection"),
                pl.col("new_direction").alias("direction"),
                pl.lit(number, dtype=pl.Int64).alias("last"),
                "time_ns",
                "seq_start",
                *(pl.col(c).alias(f"far_{c}") for c in ("need", "evidence", "need_confidence")),
            )
        )
    keys = ["connection", "direction", "last", "time_ns", "seq_start"]
    return pl.concat(parts).unique(keys, keep="first", maintain_order=True)


@dataclass(frozen=True)
class _More:
    """Retransmissions that other points tell of, and the sides of connections at these points."""

    rows: pl.DataFrame
    sides: pl.DataFrame


def _beyond(
    points: Sequence[Frames],
    told: pl.DataFrame,
    nodes: _Nodes,
    nearest: pl.DataFrame,
    captured: Captured,
) -> _More:
    """Retransmissions that came by at a further point while the nearest one was not captured;
    `told` are those that the nearest points tell of.
    """
    rows = [points[0]["retransmissions"].clear()]
    sides = [nearest.clear()]
    roots = {
        nodes.root((point, connection, direction)): place
        for place, (point, connection, direction) in enumerate(
            nearest.select("point", "of_connection", "of_direction").iter_rows()
        )
    }
    for number, tables in enumerate(points):
        at = [
            (place, connection, side)
            for connection in tables["connections"]["connection"]
            for side in SIDES
            if (place := roots.get(nodes.root((number, connection, side)))) is not None
        ]
        there = pl.DataFrame(
            at,
            schema={"place": pl.Int64, "there": pl.Int64, "there_direction": pl.String},
            orient="row",
        )
        here = (
            nearest.with_row_index("place")
            .with_columns(pl.col("place").cast(pl.Int64))
            .join(there, on="place", how="inner")
            .filter(pl.col("point") != number)
        )
        for near in here["point"].unique(maintain_order=True):
            mine = here.filter(pl.col("point") == near).select(
                "connection",
                "direction",
                "flow",
                pl.lit(number, dtype=pl.Int64).alias("point"),
                pl.col("there").alias("of_connection"),
                pl.col("there_direction").alias("of_direction"),
                "last",
                "last_connection",
                "last_direction",
            )
            time = pl.col("time_s")
            maybe = _renumbered(
                tables["retransmissions"].filter(captured.outside(near, time, on_way=True)),
                mine,
                mine,
                number,
            )
            sure = captured.outside(near, time)
            # What was on its way when the captures ended may be in both.
            keys = ["connection", "direction", "seq_start"]
            here_too = (
                maybe.filter(~sure)
                .join(told.select(*keys, pl.col("time_s").alias("before")), on=keys)
                .filter((time - pl.col("before")).is_between(0.0, captured.longest_s))
            )
            found = maybe.join(here_too, on=[*keys, "time_ns"], how="anti")
            rows.append(found)
            sides.append(mine.join(found, on=["connection", "direction"], how="semi"))
    return _More(pl.concat(rows), pl.concat(sides))


def _with(mechanisms: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
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


def _counted(mechanisms: pl.DataFrame, changed: pl.DataFrame) -> pl.DataFrame:
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


def _waited(connections: pl.DataFrame, mechanisms: pl.DataFrame) -> pl.DataFrame:
    """The time waited is the sum over a connection's mechanisms."""
    waited = mechanisms.group_by("connection").agg(pl.sum("waited_s").alias("now"))
    joined = connections.join(waited, on="connection", how="left", maintain_order="left")
    return joined.with_columns(pl.col("now").fill_null(0.0).alias("waited_s")).drop("now")

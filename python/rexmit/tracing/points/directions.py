"""Directions of connections, as several points see them: which of them are the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SIDES

Frames = Mapping[str, pl.DataFrame]
"""The tables of one point by name."""

_NEAR_NS: Final = 1_000
"""A time in seconds since 1970, as connections have it, is exact to a fraction of this."""

Node = tuple[int, int, str]
"""A direction of a connection of a point: the point, the connection's number there, the word."""


class Directions:
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
        nodes: list[Node | None] = [None] * rows.height
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
                nodes[row] = (number, connection, direction)
        return nodes

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
        for end, same in ((one, other), (turned(one), turned(other))):
            low, high = sorted((self.root(end), self.root(same)))
            self._up[high] = low


def turned(node: Node) -> Node:
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

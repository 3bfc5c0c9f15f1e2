"""Packets followed from point to point, as frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from rexmit import _core
from rexmit.progress import Progress
from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import POINT_TABLES
from rexmit.tracing.points.recognise import Recognised
from rexmit.tracing.source import Failure, failures_of


@dataclass(frozen=True)
class Ways:
    """What became of packets: the tables `points`, `legs` and `followed`, the last two without
    their connections (docs/reference/columns.md). `clocks` are stretches of the points' clocks, by
    which `_core.align` tells times; `failed` connections could not be followed, as `Facts` has
    them; `warnings` are sentences.
    """

    points: pl.DataFrame
    legs: pl.DataFrame
    followed: pl.DataFrame
    clocks: list[list[Any]]
    failed: int
    failed_packets: int
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def follow(recognised: Recognised, progress: Progress) -> Ways:
    """Reads the captures of all points side by side."""
    names = [point.name for point in recognised.points]
    following = _core.Points(recognised.samples, recognised.groups(), names)
    parts: dict[str, list[pl.DataFrame]] = {
        name: [pl.DataFrame(schema=polars_schema(POINT_TABLES[name]))]
        for name in ("legs", "followed")
    }
    done = 0
    while (batch := following.next_batch()) is not None:
        for name, rows in batch.items():
            frame = pl.DataFrame(rows)
            if frame.height:
                parts[name].append(frame)
        now = following.progress()
        progress.advance(now - done)
        done = now
    clocks = following.clocks()
    points = [
        {
            "point": point.name,
            "files": ",".join(map(str, recognised.paths(point))),
            **{name: clock[name] for name in clock if name not in ("apart", "contradicted")},
        }
        for point, clock in zip(recognised.points, clocks, strict=True)
    ]
    columns = polars_schema(POINT_TABLES["points"])
    failed = following.failures()
    return Ways(
        pl.DataFrame(points, schema=columns),
        pl.concat(parts["legs"]),
        pl.concat(parts["followed"]),
        following.stretches(),
        failed["failed"],
        failed["failed_packets"],
        failures_of(failed),
        tuple(_warnings(recognised, clocks)),
    )


def _warnings(recognised: Recognised, clocks: list[dict[str, Any]]) -> list[str]:
    texts = []
    for point, clock in zip(recognised.points[1:], clocks[1:], strict=True):
        if clock["apart"]:
            texts.append(f"no packet of {point.name} came by at another point")
        elif clock["offset_uncertainty_s"] is None:
            texts.append(
                f"{point.name} has packets in common with another point in one direction only: "
                "its clock is taken to be ahead by the least delay, too"
            )
        if clock["contradicted"]:
            texts.append(
                f"the clock of {point.name} went unevenly within moments: delays there may be wrong"
            )
        elif clock["stretches"] > 1:
            texts.append(
                f"the clock of {point.name} was set, or went faster or slower: "
                f"{clock['stretches']:,} stretches were aligned apart"
            )
    return texts

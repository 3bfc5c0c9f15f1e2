"""What to know before two traces are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from rexmit.comparison.traces.places import Pair
from rexmit.tracing.folder import Trace
from rexmit.wording import count

_SAME_S = 60.0
"""Two connections of the same ends that begin so near each other are one, on two clocks."""


def notes(a: Trace, b: Trace, names: tuple[str, str], pairs: Sequence[Pair]) -> list[str]:
    """Each a sentence."""
    return [*_of_clocks(a, b, names), *_of_views(a, b, pairs)]


def _of_clocks(a: Trace, b: Trace, names: tuple[str, str]) -> Iterator[str]:
    starts = [_starts(trace) for trace in (a, b)]
    # The nearest one alone: one flow may be that of very many connections, one after the other.
    nearest = starts[0].join_asof(
        starts[1].with_columns(pl.lit(True).alias("there")),
        on="start_s",
        by="flow",
        strategy="nearest",
        tolerance=_SAME_S,
        # Of all rows they are: of those of a flow, too.
        check_sortedness=False,
    )
    both = nearest.filter("there")["flow"].n_unique()
    if both:
        text = f"{count(both, 'connection')} {'is' if both == 1 else 'are'} in both"
        yield (
            f"{text}: these are captures of one time; of two points of the network "
            f"`rexmit trace {names[0]} {names[1]}` says more"
        )
    elif starts[0]["start_s"].min() > starts[1]["start_s"].max():  # type: ignore[operator]
        yield f"{names[0]} begins after {names[1]} by their clocks: A is held to be the earlier one"


def _starts(trace: Trace) -> pl.DataFrame:
    return trace.scan("connections").select("flow", "start_s").sort("start_s").collect()


def _of_views(a: Trace, b: Trace, pairs: Sequence[Pair]) -> Iterator[str]:
    moved = [
        pair
        for pair in pairs
        if pair.a.position and pair.b.position and pair.a.position != pair.b.position
    ]
    if moved:
        first = moved[0]
        others = f" and {count(len(moved) - 1, 'other')}" if len(moved) > 1 else ""
        yield (
            f"of {first.place}{others} A was captured at another place than B (of what the server "
            f"sends: {first.a.position}, {first.b.position}): round trips of data, times of "
            "requests and whose the time was may differ by that alone"
        )
    for letter, trace in (("A", a), ("B", b)):
        part = trace.scan("connections").select(pl.col("one_sided", "mid_stream").sum(), pl.len())
        one_sided, mid_stream, every = part.collect().row(0)
        if one_sided:
            yield f"{letter} has only one direction of {one_sided:,} of {every:,} connections"
        if mid_stream:
            yield f"{letter} lacks the beginning of {mid_stream:,} of {every:,} connections"
        yield from (f"{letter}: {warning}" for warning in trace.facts.warnings)

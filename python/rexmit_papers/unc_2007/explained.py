"""How many lossy connections stacks explain, and why not the others: of the paper's stacks beside
all that are emulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexmit.result.blocks import BLANK, Block, Column, heading, note, table
from rexmit.statistics.interval import Interval, of_share
from rexmit_papers.unc_2007.paper import TABLE_3
from rexmit_papers.unc_2007.senders import Study

SETS: Final = {"the paper's": ["unc-2007"], "all": []}
"""Whose stacks, and what `--stacks` calls them."""

NO_STACK: Final = "fit none of them"
SEVERAL: Final = "fit stacks of several systems"
NO_SYN: Final = "and no SYN names one"
"""Why a connection is not explained."""


@dataclass(frozen=True)
class Explained:
    """Of one set of stacks. `systems` counts the explained connections, `why` the others."""

    stacks: str
    lossy: int
    explained: int
    systems: dict[str, int]
    why: dict[str, int]

    @property
    def interval(self) -> Interval | None:
        """Of the share; None of no lossy connection."""
        return of_share(self.explained / self.lossy, self.lossy) if self.lossy else None


def explained(study: Study, stacks: str) -> Explained:
    """Counts a study's connections."""
    lossy = study.senders.filter("lossy")
    systems: Counter[str] = Counter()
    why: Counter[str] = Counter()
    columns = ("system", "stack", "stacks", "syn_system")
    for system, stack, fitting, syn in lossy.select(*columns).iter_rows():
        if system is not None:
            systems[system] += 1
        elif stack != "none" and (fitting or "").strip():
            why[SEVERAL if syn else f"{SEVERAL}, {NO_SYN}"] += 1
        else:
            why[f"{NO_STACK}; by their SYN {syn}" if syn else f"{NO_STACK}; no SYN"] += 1
    counts = (dict(one.most_common()) for one in (systems, why))
    return Explained(stacks, lossy.height, systems.total(), *counts)


def explained_blocks(sets: Sequence[Explained]) -> Iterator[Block]:
    """A line a set of stacks, then whose connections are explained, and why the others are not."""
    yield heading("Lossy connections that stacks explain")
    yield table(
        sets,
        Column("stacks", cell=lambda one: one.stacks),
        ("lossy", lambda one: f"{one.lossy:,}"),
        ("explained", lambda one: f"{one.explained:,}"),
        ("share (95 %)", _share),
    )
    for one in sets:
        yield BLANK
        yield heading(f"Stacks: {one.stacks}")
        yield table(
            [*((f"explained: {name}", n) for name, n in one.systems.items()), *one.why.items()],
            Column("", cell=lambda row: row[0]),
            ("connections", lambda row: f"{row[1]:,}"),
        )
    shares = [one.share for one in TABLE_3]
    yield note(f"the paper's Table III: {min(shares):.0f} to {max(shares):.0f} % of each trace's")
    yield note("connections of one host are no independent cases: intervals are too narrow by that")


def _share(one: Explained) -> str:
    if one.interval is None:
        return "none is lossy"
    low, high = one.interval.low, one.interval.high
    return f"{one.explained / one.lossy:.0%} ({low:.0%} to {high:.0%})"


def explained_data(sets: Sequence[Explained]) -> list[dict[str, Any]]:
    """As plain data."""
    return [
        {**vars(one), "interval": None if one.interval is None else one.interval.data}
        for one in sets
    ]

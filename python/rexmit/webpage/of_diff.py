"""The part of a page that is about two runs beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexmit.analysis.runner import tick_ns
from rexmit.comparison.compare import Comparison
from rexmit.comparison.packets import Compared, Parting, at_server, compare_packets
from rexmit.comparison.show_diff import comparison_blocks
from rexmit.errors import UserError
from rexmit.ladder.steps import Step
from rexmit.webpage import commands
from rexmit.webpage.part import Opens, Part, Section, Table

MOST: Final = 40
"""So many cells are compared packet by packet."""

_IGNORED: Final = frozenset({"push"})
"""As `rexmit diff --packets` has it where nobody says."""


@dataclass(frozen=True)
class Pairs:
    """Transfers of both runs that were compared packet by packet."""

    compared: Sequence[Compared]
    rule: str

    @property
    def numbers(self) -> tuple[list[int], list[int]]:
        """Of A and of B."""
        return [one.a.number for one in self.compared], [one.b.number for one in self.compared]


def pairs(comparison: Comparison) -> Pairs:
    """Of each cell, the cells that differ first, the first repetition in which the senders part."""
    compared = []
    a, b = comparison.a, comparison.b
    within = max(tick_ns(a.meta), tick_ns(b.meta))
    ordered = sorted(comparison.cells, key=lambda cell: not cell.differs)
    for cell in ordered[:MOST]:
        try:
            compared.append(compare_packets(a, b, cell.pair, None, within, _IGNORED))
        except UserError as error:
            return Pairs(compared, f"Packets are not compared: {error.what}.")
    return Pairs(
        compared,
        f"{len(compared):,} of {len(comparison.cells):,} cells are compared packet by packet, "
        "those that differ first; `rexmit diff --packets CELL` does others.",
    )


def part(comparison: Comparison, compared: Pairs, places: tuple[int, int]) -> Part:
    """`places` are those of the two runs among the parts of the page."""
    names = ["diff", str(comparison.a.path), str(comparison.b.path)]
    ran = [runner.words for runner in comparison.runners]
    return Part(
        kind="diff",
        name=f"{comparison.a.path} and {comparison.b.path}",
        names=[],
        sections=[
            Section(
                "Overview",
                list(comparison_blocks(comparison, every_cell=False)),
                commands.command(*names),
            )
        ],
        tables=[
            Table(
                "cells",
                "Cells",
                _cells(comparison),
                commands.report(names[1:], "--table", "cells"),
                _ABOUT,
                "-differs",
                Opens("pair", "pair"),
            )
        ],
        view="pair",
        rule=compared.rule,
        pairs=[_pair(one, places, names, ran) for one in compared.compared],
    )


_ABOUT: Final = {
    "pair": ("", "number of the cell in A; a row opens its packets beside each other"),
    "cell": ("", "network, configuration, lost segments, and what else varies"),
    "metric": ("", "what is compared: a time in seconds, or a count a transfer"),
    "differs": ("", "by more than chance and timers make"),
    "a": ("", "mean of A"),
    "a_sd": ("", "standard deviation of A"),
    "b": ("", "mean of B"),
    "b_sd": ("", "standard deviation of B"),
    "difference": ("", "B minus A"),
    "percent": ("%", "of A's mean"),
    "low": ("", "lower end of the difference's 95 % interval"),
    "high": ("", "upper end of the difference's 95 % interval"),
    "limit": ("", "what the difference would have to exceed"),
    "smallest": ("", "smallest difference that so many transfers tell from none, 4 times in 5"),
}


def _cells(comparison: Comparison) -> pl.DataFrame:
    """A row for each cell and quantity."""
    rows = [
        {
            "pair": cell.pair.a.number,
            "cell": cell.label,
            "metric": one.metric,
            "differs": one.beyond,
            "a": one.a.mean_s,
            "a_sd": one.a.sd_s,
            "b": one.b.mean_s,
            "b_sd": one.b.sd_s,
            "difference": one.difference,
            "percent": one.percent,
            **dict(
                zip(
                    ("low", "high"),
                    one.interval.data if one.interval else (None, None),
                    strict=True,
                )
            ),
            "limit": one.limit,
            "smallest": one.smallest,
        }
        for cell in comparison.cells
        for one in (*cell.measures, *cell.counts)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _pair(
    one: Compared, places: tuple[int, int], names: Sequence[str], ran: Sequence[str]
) -> dict[str, Any]:
    parting = one.first
    cell = one.a.row["cell"]
    return {
        "number": cell,
        "title": f"{one.label}, repetition {one.repetition}",
        "left": {"part": places[0], "key": str(one.a.number), "name": f"A: {ran[0]}"},
        "right": {"part": places[1], "key": str(one.b.number), "name": f"B: {ran[1]}"},
        "parting": None if parting is None else _parting(parting, one),
        "same": "every packet is alike, in time within a tick of the timers",
        "command": commands.command(*names, "--packets", f"{cell}/{one.repetition}"),
    }


def _parting(parting: Parting, one: Compared) -> dict[str, Any]:
    who = "client" if parting is one.clients else "sender"
    a, b = (None if step is None else at_server(step) / 1e9 for step in (parting.a, parting.b))
    return {
        "words": f"The {who}s part at their packet {parting.place:,}, in "
        f"{', '.join(parting.what)}: A {_packet(parting.a)}; B {_packet(parting.b)}",
        "left_s": a,
        "right_s": b,
    }


def _packet(step: Step | None) -> str:
    if step is None:
        return "sends no more"
    mechanism = f", {step.mechanism}" if step.mechanism else ""
    at = at_server(step) / 1e6
    return f"sequence number {step.seq:,}, {step.payload_bytes:,} bytes{mechanism}, at {at:.3f} ms"

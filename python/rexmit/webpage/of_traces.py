"""The part of a page that is about two traces, before and after."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.comparison.traces.compare import TraceComparison, table
from rexmit.comparison.traces.show_changes import changes_blocks
from rexmit.webpage import commands
from rexmit.webpage.part import Part, Section, Table


def part(comparison: TraceComparison) -> Part:
    """What got better and worse, and a table of every quantity."""
    names = list(comparison.names)
    return Part(
        kind="diff",
        name=" and ".join(names),
        names=names,
        sections=[
            Section(
                "Overview",
                list(changes_blocks(comparison, every=False)),
                commands.command("diff", *names),
            )
        ],
        tables=[
            Table(
                "changes",
                "Changes",
                table(comparison).with_columns(pl.col(pl.Float64).round(6)),
                commands.command("diff", *names, "--all"),
                _ABOUT,
            )
        ],
        written_by=("diff",),
    )


_ABOUT: Final = {
    "verdict": (
        "",
        "worse or better: more than chance; other: neither; not-known: one unit shows no error",
    ),
    "host": ("", "the server's address, of A"),
    "port": ("", "the server's"),
    "path": ("", "method, name and path of requests; none: of connections"),
    "metric": ("", "what is compared: times in seconds, shares of one, payload in bytes"),
    "owner": ("", "whose time it is, a connection"),
    "a": ("", "A's mean, or share of all"),
    "a_n": ("", "connections or requests of A"),
    "b": ("", "B's mean, or share of all"),
    "b_n": ("", "connections or requests of B"),
    "difference": ("", "B minus A"),
    "low": ("", "least of the 95 % interval of the difference"),
    "high": ("", "most of it"),
    "percent": ("%", "of A's"),
    "chance": ("", "how probable so large a difference is where nothing changed"),
    "weight_s": ("s", "what it costs all of B's connections or requests together; less is saved"),
}

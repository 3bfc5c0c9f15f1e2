"""A paper's claims on the terminal: whether each holds here, and by how much."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.console import Console

from rexmit.analysis.runner import column_heads, runner
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.statistics.verdict import Verdict
from rexmit.store.open_run import Run
from rexmit_papers.claim import Claim, Source, summed_up

_STYLES = {Verdict.HOLDS: "", Verdict.DOES_NOT: "yellow", Verdict.UNDECIDED: "cyan"}

_RULE = (
    "in brackets: 95 % intervals; holds: every interval lies where the words say, does not: one "
    "lies elsewhere, undecided: one reaches from the one into the other"
)

#: Columns of sentences: the claim's, the least of the other, and either in a pipe.
_CLAIMED, _LEAST, _WIDE = 44, 28, 90


def print_claims(claims: tuple[Claim, ...], console: Console, source: Source) -> None:
    """A line a claim, in the paper's order."""
    say(console, Text("Claims of the paper, each computed from this run", "bold"))
    # In a pipe a claim stands on one line, so that `grep` finds it whole.
    claimed = _CLAIMED if console.is_terminal else _WIDE
    room = max(console.width - claimed - 14, _LEAST) if console.is_terminal else _WIDE
    lines = [
        Line(
            (
                claim.word,
                tuple(textwrap.wrap(claim.words, claimed)),
                tuple(textwrap.wrap(claim.measured, room)),
            ),
            "dim" if claim.verdict is None or not claim.counted else _STYLES[claim.verdict],
        )
        for claim in claims
    ]
    print_grid(
        [Column(""), Column(source.year, before=2), Column("here", before=2)], lines, console
    )
    console.print()
    say(console, Text(summed_up(claims), "bold"))
    say(console, _RULE, "dim")
    say(console, source.meant, "dim")
    say(console, f"paper: {source.title}", "dim")


def print_claims_beside(
    claims: list[tuple[Claim, ...]],
    runs: Sequence[Run],
    console: Console,
    source: Source,
) -> None:
    """The paper's claims, a column a run, each with what ran it and its folder."""
    heads = column_heads([(runner(run.meta), run.path) for run in runs])
    console.print()
    say(console, Text("Claims of the paper (--claims of a single run says by how much)", "bold"))
    columns = [Column(source.year)]
    columns += [Column(head, right=True, least=8, before=2) for head in heads]
    rows = [
        Line((same[0].words, *(claim.word for claim in same))) for same in zip(*claims, strict=True)
    ]
    print_grid(columns, rows, console)

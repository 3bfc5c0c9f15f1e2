"""A paper's claims: whether each holds here, and by how much."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rexmit.analysis.runner import column_heads, runner
from rexmit.result.blocks import BLANK, Block, Column, Grid, Line, Room, heading, note, table
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


def claim_blocks(
    claims: Sequence[Claim], room: Room, source: Source, departures: Sequence[str] = ()
) -> Iterator[Block]:
    """A line a claim, in the paper's order; below them what the run has otherwise than the
    paper.
    """
    yield heading("Claims of the paper, each computed from this run")
    # In a pipe a claim stands on one line, so that `grep` finds it whole.
    claimed = _CLAIMED if room.wraps else _WIDE
    left = max(room.width - claimed - 14, _LEAST) if room.wraps else _WIDE
    yield table(
        claims,
        Column(cell=lambda one: one.word),
        Column(source.year, before=2, cell=lambda one: tuple(textwrap.wrap(one.words, claimed))),
        Column("here", before=2, cell=lambda one: tuple(textwrap.wrap(one.measured, left))),
        style=_style,
    )
    yield from (BLANK, heading(summed_up(claims)), note(_RULE))
    if departures:
        yield note(f"otherwise than in the paper: {'; '.join(departures)}")
    yield from (note(source.meant), note(f"paper: {source.title}"))


def _style(claim: Claim) -> str:
    return _STYLES[claim.verdict] if claim.verdict and claim.counted else "dim"


def claim_blocks_beside(
    claims: Sequence[tuple[Claim, ...]], runs: Sequence[Run], source: Source
) -> Iterator[Block]:
    """The paper's claims, a column a run, each with what ran it and its folder."""
    heads = column_heads([(runner(run.meta), run.path) for run in runs])
    yield BLANK
    yield heading("Claims of the paper (--claims of a single run says by how much)")
    yield Grid(
        (
            Column(source.year),
            *(Column(head, right=True, least=8, before=2) for head in heads),
        ),
        tuple(
            Line((same[0].words, *(claim.word for claim in same)))
            for same in zip(*claims, strict=True)
        ),
    )

"""A paper's claims: whether each holds here, and by how much."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rexmit.analysis.runner import column_heads, runner
from rexmit.result.blocks import BLANK, Block, Column, Grid, Line, Room, heading, note, table
from rexmit.store.open_run import Run
from rexmit_papers.claim import Claim, Source

_WORDS = {True: "holds", False: "no", None: "-"}
_STYLES = {True: "", False: "yellow", None: "dim"}

#: Columns of sentences: the claim's, the least of the other, and either in a pipe.
_CLAIMED, _LEAST, _WIDE = 44, 28, 90


def claim_blocks(claims: Sequence[Claim], room: Room, source: Source) -> Iterator[Block]:
    """A line a claim, in the paper's order."""
    yield heading("Claims of the paper, each computed from this run")
    # In a pipe a claim stands on one line, so that `grep` finds it whole.
    claimed = _CLAIMED if room.wraps else _WIDE
    left = max(room.width - claimed - 10, _LEAST) if room.wraps else _WIDE
    yield table(
        claims,
        Column(cell=lambda one: _WORDS[one.holds]),
        Column(source.year, before=2, cell=lambda one: tuple(textwrap.wrap(one.words, claimed))),
        Column("here", before=2, cell=lambda one: tuple(textwrap.wrap(one.measured, left))),
        style=lambda one: _STYLES[one.holds],
    )
    told = [claim for claim in claims if claim.holds is not None]
    holding = sum(claim.holds is True for claim in told)
    yield from (BLANK, heading(f"{holding} of {len(told)} hold"))
    yield from (note(source.meant), note(f"paper: {source.title}"))


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
            Line((same[0].words, *(_WORDS[claim.holds] for claim in same)))
            for same in zip(*claims, strict=True)
        ),
    )

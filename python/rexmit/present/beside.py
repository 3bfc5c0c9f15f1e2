"""Several runs in one table: a column a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rexmit.analysis.beside import Beside, ComparedTime, Section, Value
from rexmit.analysis.losses import numbers
from rexmit.analysis.runner import column_heads
from rexmit.errors import argument
from rexmit.result.blocks import BLANK, Block, Column, Grid, heading, note
from rexmit.result.blocks import Line as Row
from rexmit.statistics.words import LEGEND, Unit, fitting, gain, width
from rexmit.wording import NONE, count


@dataclass(frozen=True)
class Heads:
    """What stands above the table: its title, what the means are set against, and the column of
    these, where they are none of the runs.
    """

    title: str
    against: str
    reference: str | None = None


FIRST: Final = Heads("Times of these runs", "vs first")


def beside_blocks(table: Beside, heads: Heads = FIRST) -> Iterator[Block]:
    """A column a run: the mean, beside it what it is off the reference's, and below that what the
    configurations gain.
    """
    lost = count(table.lost_segments, "lost segment")
    lines = [line for section in table.sections for line in section.lines]
    unit = fitting(value.spread.mean_s for line in lines for value in line.values if value)
    yield heading(f"{heads.title}: {lost}, means in {unit.words}")
    columns = [Column(least=22)]
    if heads.reference is not None:
        columns.append(Column(heads.reference, right=True, least=8, before=2))
    runs = [(ran, run.path) for ran, run in zip(table.runners, table.runs, strict=True)]
    for number, head in enumerate(column_heads(runs)):
        columns.append(Column(head, right=True, least=8, before=3))
        columns.append(Column("", right=True, least=5))
        if number or heads.reference is not None:
            columns.append(Column(heads.against, right=True, least=7, before=1))
    rows: list[Row] = []
    network = None
    for section in table.sections:
        if rows:
            rows.append(Row())
        if (section.network, section.group) != network:
            network = (section.network, section.group)
            about = "; ".join(part for part in (section.title, section.group.words) if part)
            text = f"{section.network}: {about}" if about else section.network
            rows.append(Row((text,), "cyan", across=True))
        rows += _rows(section, unit, table.baseline, with_reference=heads.reference is not None)
    yield from (Grid(tuple(columns), tuple(rows)), BLANK)
    yield from map(note, LEGEND)
    if len(table.losses_in_run) > 1:
        there = f"{numbers(table.losses_in_run)} ({argument('losses')} N)"
        yield note(f"lost segments in the first run: {there}")


def _rows(section: Section, unit: Unit, baseline: str, *, with_reference: bool) -> list[Row]:
    rows = []
    for line in section.lines:
        texts = [f"  {section.measure}  {line.config}"]
        if with_reference:
            texts.append(unit.text(line.reference_s))
        for number, value in enumerate(line.values):
            texts += _mean(value, unit)[: 3 if number or with_reference else 2]
        rows.append(Row(tuple(texts)))
    for line in section.lines:
        if line.config != baseline:
            rows.append(_gain(line, baseline, with_reference=with_reference))
    return rows


def _mean(value: Value | None, unit: Unit) -> list[str]:
    if value is None:
        return [NONE, "", ""]
    mean = value.spread.estimate
    return [unit.text(value.spread.mean_s), width(mean), gain(value.against_reference)]


def _gain(line: ComparedTime, baseline: str, *, with_reference: bool) -> Row:
    texts = [f"    {line.config} vs {baseline}"]
    if with_reference:
        texts.append(gain(line.reference_against_baseline))
    for number, value in enumerate(line.values):
        texts += [gain(value.against_baseline) if value else "", "", ""][
            : 3 if number or with_reference else 2
        ]
    return Row(tuple(texts), "dim")

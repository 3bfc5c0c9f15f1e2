"""Several runs and the paper in one table on the terminal."""

from __future__ import annotations

from rich.console import Console

from rexmit.analysis.runner import column_heads
from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.beside import NEAR_PERCENT, Beside, Line, Section, Value
from rexmit.papers.ryll_2013.table4 import MEASURES
from rexmit.present.grid import Column, print_grid
from rexmit.present.grid import Line as Row
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import NONE, count, seconds, signed_percent


def print_beside(table: Beside, console: Console) -> None:
    """A column a run: the mean, below `vs 2013` what it is off the paper's, and below that what the
    configurations gain.
    """
    lost = count(table.lost_segments, "lost segment")
    say(console, Text(f"Table 4 of the paper and of these runs: {lost}, means in seconds", "bold"))
    columns = [Column(least=22), Column("paper,\n2013", right=True, least=8, before=2)]
    runs = [(ran, run.path) for ran, run in zip(table.runners, table.runs, strict=True)]
    for head in column_heads(runs):
        columns.append(Column(head, right=True, least=8, before=3))
        columns.append(Column("vs 2013", right=True, least=7, before=1))
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
        rows += _rows(section, table.baseline)
    print_grid(columns, rows, console)
    console.print()
    for run, ran, near in zip(table.runs, table.runners, table.near, strict=True):
        facts = [
            f"{measure} within {NEAR_PERCENT[measure]:g}% of the paper: {n} of {every}"
            for measure in reversed(MEASURES)
            for n, every in [near.counts[measure]]
            if every
        ]
        say(console, f"{ran.words}: {'; '.join([*facts, str(run.path)])}")
    say(console, f"paper: {paper.SOURCE}", "dim")


def _rows(section: Section, baseline: str) -> list[Row]:
    rows = []
    for line in section.lines:
        texts = [f"  {section.measure}  {line.config}", seconds(line.paper_s)]
        for value in line.values:
            texts += _mean(value)
        rows.append(Row(tuple(texts)))
    for line in section.lines:
        if line.config != baseline:
            rows.append(_gain(line, baseline))
    return rows


def _mean(value: Value | None) -> list[str]:
    if value is None:
        return [NONE, ""]
    return [seconds(value.spread.mean_s), signed_percent(value.against_paper)]


def _gain(line: Line, baseline: str) -> Row:
    texts = [f"    {line.config} vs {baseline}", signed_percent(line.paper_against_baseline)]
    for value in line.values:
        texts += [signed_percent(value.against_baseline) if value else "", ""]
    return Row(tuple(texts), "dim")

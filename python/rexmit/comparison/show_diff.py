"""What is said of two runs: which they are, a table a quantity, and a summary."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from rexmit.analysis.units import seed_words
from rexmit.comparison.compare import CellDiff, Comparison
from rexmit.comparison.gate import Gate, Judgement
from rexmit.comparison.measures import COUNTS, ESTIMATES, TIMES, Difference
from rexmit.result.blocks import (
    BLANK,
    Block,
    Column,
    Grid,
    Line,
    Paragraph,
    heading,
    note,
    table,
)
from rexmit.statistics.words import EXACT, Unit, fitting
from rexmit.wording import NONE, count, signed_percent

#: So many lines a table has unless all are asked for; so many names a sentence.
_LINES, _NAMES = 40, 6

_TITLES = {
    "t_total": "t_total: head sent to last lost data sent again",
    "t_recover": "t_recover: first drop to first retransmission",
    "client": "client: connect to end of file at the client",
    "burst": "burst: completion of every burst",
    "srtt": "smoothed round-trip time at the first drop",
    "rto": "retransmission timeout at the first drop",
}


def comparison_blocks(comparison: Comparison, *, every_cell: bool) -> Iterator[Block]:
    """Both runs, the cells that differ (`every_cell`: all), and in the end one line."""
    yield from _runs(comparison)
    for metric in comparison.metrics:
        if metric in TIMES or metric in ESTIMATES:
            yield from _measure(comparison, metric, every_cell=every_cell)
    yield from _counts(comparison, every_cell=every_cell)
    yield from _firsts(comparison, every_cell=every_cell)
    yield from _alone(comparison)
    yield BLANK
    yield from map(note, _rules(comparison, every_cell=every_cell))
    yield heading(summary(comparison))


def summary(comparison: Comparison) -> str:
    """`9 cells in both: 7 alike, 2 differ (t_recover in 2, most +12% in mobile, tlp, 7 lost)`."""
    cells, differing = comparison.cells, comparison.differing
    parts = [f"{count(len(cells), 'cell')} in both: {len(cells) - len(differing)} alike"]
    if differing:
        facts = [fact for metric in comparison.metrics if (fact := _most(comparison, metric))]
        retransmissions = sum(cell.firsts.beyond for cell in cells)
        if retransmissions:
            facts.append(f"another first retransmission in {retransmissions}")
        details = (
            f" ({'; '.join(facts)})" if facts else " (in numbers of retransmissions and the like)"
        )
        parts.append(f"{len(differing)} differ{details}")
    return ", ".join(parts)


def gate_blocks(gate: Gate, most: str) -> Iterator[Block]:
    """What is worse than A by more than the limit of `--worse-than`, what cannot be told, and what
    is better.
    """
    heads = {
        Judgement.WORSE: (f"worse than A by more than {most}", "bold red"),
        Judgement.CANNOT_TELL: (f"within {most} or not: more repetitions would tell", "yellow"),
        Judgement.BETTER: ("better than A", "bold green"),
    }
    for judgement, (head, style) in heads.items():
        there = gate.judged(judgement)
        if not there and judgement is not Judgement.WORSE:
            continue
        yield BLANK
        yield Paragraph(
            f"{head}: {count(len(there), 'difference')}", style if there else "bold green"
        )
        for one in there[:_LINES]:
            yield Paragraph(f"  {one.label}: {one.words}")
        if len(there) > _LINES:
            yield Paragraph(f"  and {len(there) - _LINES} more")


def _runs(comparison: Comparison) -> Iterator[Block]:
    runs = zip("AB", (comparison.a, comparison.b), comparison.runners, strict=True)
    for letter, run, ran in runs:
        text = f"{letter}: {run.path}: {ran.words}"
        if ran.differing:
            text += f" ({ran.differing})"
        yield heading("; ".join(filter(None, (text, seed_words(run)))))


def _shown(
    cells: Iterable[CellDiff], differs: Iterable[bool], *, every_cell: bool
) -> tuple[list[CellDiff], int]:
    """The cells to show and how many of them are left out."""
    chosen = [c for c, d in zip(cells, differs, strict=True) if every_cell or d]
    shown = chosen if every_cell else chosen[:_LINES]
    return shown, len(chosen) - len(shown)


def _measure(comparison: Comparison, metric: str, *, every_cell: bool) -> Iterator[Block]:
    differs = (cell.difference(metric).beyond for cell in comparison.cells)
    cells, left = _shown(comparison.cells, differs, every_cell=every_cell)
    every = [cell.difference(metric) for cell in cells]
    unit = fitting(side.mean_s for one in every for side in (one.a, one.b))
    yield from _head(f"{_TITLES[metric]}, {unit.words}", cells)
    if not cells:
        return
    columns = [
        Column("cell"),
        Column("A", right=True, least=8, before=2),
        Column("95 %", right=True, least=7),
        Column("B", right=True, least=8, before=2),
        Column("95 %", right=True, least=7),
        Column("B - A", right=True, least=8, before=2),
        Column("", right=True, least=6),
        Column("95 %", right=True, least=6, before=2),
        Column("transfers", right=True, before=2),
    ]
    undecided = any(not one.beyond for one in every)
    if undecided:
        columns.insert(8, Column("would show", right=True, before=2))
    lines = []
    for cell, here in zip(cells, every, strict=True):
        texts = _texts(here, unit)
        if undecided:
            smallest = "" if here.beyond else unit.text(here.smallest)
            texts = (*texts[:-1], smallest, texts[-1])
        lines.append(Line((cell.label, *texts), "yellow" if here.beyond else ""))
        lines += _percentiles(here, unit)
    yield Grid(tuple(columns), tuple(lines))
    yield from _more(left)


def _percentiles(difference: Difference, unit: Unit) -> Iterator[Line]:
    """Median and 95th percentile of both, and how far these are apart."""
    for name, share in (("median", 0.5), ("95th percentile", 0.95)):
        a, b = (side.percentile(share) for side in (difference.a, difference.b))
        if a is not None and b is not None and difference.a.n > 1:
            apart = unit.signed(b - a) if math.isfinite(a) and math.isfinite(b) else ""
            yield Line((f"  {name}", unit.text(a), "", unit.text(b), "", apart), "dim")


def _texts(difference: Difference, unit: Unit) -> tuple[str, ...]:
    texts = []
    for side in (difference.a, difference.b):
        half = unit.half(side.estimate)
        texts += [unit.text(side.mean_s), half if half in (NONE, EXACT) else f"±{half}"]
    size = (
        str(difference.pairs)
        if difference.pairs is not None
        else f"{difference.a.n}, {difference.b.n}"
    )
    if difference.a.endless or difference.b.endless:
        size += f" ({difference.a.endless}, {difference.b.endless} never ended)"
    mark = "" if difference.beyond else "="
    within = f"{mark}±{unit.text(difference.limit)}"
    percent = signed_percent(difference.percent)
    return (*texts, unit.signed(difference.difference), percent, within, size)


def _counts(comparison: Comparison, *, every_cell: bool) -> Iterator[Block]:
    names = [
        name
        for name in COUNTS
        if name in comparison.metrics
        or any(cell.difference(name).beyond for cell in comparison.cells)
    ]
    if not names:
        return
    differs = (any(cell.difference(name).beyond for name in names) for cell in comparison.cells)
    cells, left = _shown(comparison.cells, differs, every_cell=every_cell)
    yield from _head("numbers a transfer, A : B", cells)
    if not cells:
        return
    columns = (Column("cell"), *(Column(name, right=True, before=2) for name in names))
    lines = (
        Line((cell.label, *(_counted(cell.difference(name)) for name in names))) for cell in cells
    )
    yield Grid(columns, tuple(lines))
    yield from _more(left)


def _counted(difference: Difference) -> str:
    sides = [
        NONE if side.mean_s is None else f"{side.mean_s:.4g}"
        for side in (difference.a, difference.b)
    ]
    return " : ".join(sides) if difference.beyond else f"{sides[0]} = {sides[1]}"


def _firsts(comparison: Comparison, *, every_cell: bool) -> Iterator[Block]:
    differs = (cell.firsts.beyond for cell in comparison.cells)
    cells, left = _shown(comparison.cells, differs, every_cell=every_cell)
    if not cells:
        return
    yield from _head("first retransmission, transfers", cells)
    yield table(
        cells,
        Column("cell", cell=lambda cell: cell.label),
        Column("A", before=2, cell=lambda cell: _mechanisms(cell.firsts.a)),
        Column("B", before=2, cell=lambda cell: _mechanisms(cell.firsts.b)),
        ("other", _others),
    )
    yield from _more(left)


def _others(cell: CellDiff) -> str:
    return NONE if cell.firsts.differing is None else str(cell.firsts.differing)


def _mechanisms(firsts: dict[str | None, int]) -> str:
    return ", ".join(f"{n} {name or 'none'}" for name, n in firsts.items())


def _head(title: str, cells: Sequence[CellDiff]) -> Iterator[Block]:
    yield BLANK
    if cells:
        yield Paragraph(title, "bold cyan")
    else:
        yield Paragraph(f"{title}: no cell differs", "cyan")


def _more(left: int) -> Iterator[Block]:
    if left:
        yield note(f"and {left} more (--all)")


def _alone(comparison: Comparison) -> Iterator[Block]:
    sides = (("A", comparison.only_a), ("B", comparison.only_b))
    alone = [(letter, labels) for letter, labels in sides if labels]
    if alone or any(comparison.failed):
        yield BLANK
    for letter, labels in alone:
        names = "; ".join(labels[:_NAMES])
        more = f" and {len(labels) - _NAMES} more" if len(labels) > _NAMES else ""
        yield Paragraph(f"only in {letter}: {count(len(labels), 'cell')}: {names}{more}")
    for letter, failed in zip("AB", comparison.failed, strict=True):
        if failed:
            yield Paragraph(f"failed in {letter}: {count(failed, 'cell')}", "red")


def _rules(comparison: Comparison, *, every_cell: bool) -> list[str]:
    """What counts as a difference, and which transfers do."""
    tick = f"{comparison.tick_s * 1000:g} ms"
    halves = (
        "95 %: half the interval of a mean, and of the difference, which in times is at least a "
        f"timer's tick ({tick}); exact: one case; = is within"
    )
    texts = [halves]
    if every_cell:
        texts.append(
            "would show: the smallest difference that so many transfers tell from none four times "
            "in five"
        )
    below = [
        abs(one.difference or 0.0)
        for cell in comparison.cells
        for one in cell.measures
        if one.below_tick
    ]
    if below:
        most = max(below)
        words = fitting([most])
        texts.append(
            f"{count(len(below), 'difference')} by less than a tick, which may come of where the "
            f"ticks stand: the largest {words.text(most)} {words.name} (--all)"
        )
    paired = sum(cell.paired for cell in comparison.cells)
    if paired:
        texts.append(
            f"{count(paired, 'cell')} compared repetition by repetition, of several seeds seed by "
            "seed (same start phases); one number of transfers: the pairs"
        )
    left = [sum(cell.left_out[side] for cell in comparison.cells) for side in (0, 1)]
    if any(left):
        texts.append(
            f"left out, incomplete, stalled or inexact: {left[0]} transfers of A, {left[1]} of B"
        )
    return texts


def _most(comparison: Comparison, metric: str) -> str:
    every = [(cell.difference(metric), cell.label) for cell in comparison.cells]
    over = [(one, label) for one, label in every if one.beyond]
    if not over:
        return ""
    text = f"{metric} in {len(over)}"
    known = [(one.percent, label) for one, label in over if one.percent is not None]
    if not known:
        return text
    percent, label = max(known, key=lambda pair: abs(pair[0]))
    return f"{text}, most {signed_percent(percent)} in {label}"

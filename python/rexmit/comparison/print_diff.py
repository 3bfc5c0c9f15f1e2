"""A comparison on the terminal: what runs they are, a table a quantity, the sum of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console

from rexmit.analysis.units import seed_words
from rexmit.comparison.compare import CellDiff, Comparison
from rexmit.comparison.gate import Trip
from rexmit.comparison.measures import COUNTS, ESTIMATES, TIMES, Difference
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.statistics.words import EXACT, Unit, fitting
from rexmit.wording import NONE, count, signed_percent

#: So many lines a table has unless all are asked for; so many names a sentence.
_LINES, _NAMES = 40, 6

_TITLES = {
    "t_total": "t_total: head sent to last lost data sent again",
    "t_recover": "t_recover: first drop to first retransmission",
    "client": "client: connect to end of file at the client",
    "srtt": "smoothed round-trip time at the first drop",
    "rto": "retransmission timeout at the first drop",
}


def print_comparison(comparison: Comparison, console: Console, *, every_cell: bool) -> None:
    """Both runs, the cells that differ (`every_cell`: all), and in the end one line."""
    _print_runs(comparison, console)
    for metric in comparison.metrics:
        if metric in TIMES or metric in ESTIMATES:
            _print_measure(comparison, metric, console, every_cell=every_cell)
    _print_counts(comparison, console, every_cell=every_cell)
    _print_firsts(comparison, console, every_cell=every_cell)
    _print_alone(comparison, console)
    console.print()
    for text in _rule(comparison, every_cell=every_cell):
        say(console, text, "dim")
    say(console, Text(summary(comparison), "bold"))


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


def print_trips(trips: Sequence[Trip], most: str, console: Console) -> None:
    """What was over the limit of `--fail-over`."""
    console.print()
    head = f"more than {most} and more than chance: {count(len(trips), 'difference')}"
    say(console, Text(head, "bold red" if trips else "bold green"))
    for trip in trips[:_LINES]:
        percent = "none in one of the runs" if trip.percent is None else f"{trip.percent:+.1f}%"
        say(console, f"  {trip.label}: {trip.metric} {percent}")
    if len(trips) > _LINES:
        say(console, f"  and {len(trips) - _LINES} more")


def _print_runs(comparison: Comparison, console: Console) -> None:
    runs = zip("AB", (comparison.a, comparison.b), comparison.runners, strict=True)
    for letter, run, ran in runs:
        text = f"{letter}: {run.path}: {ran.words}"
        if ran.differing:
            text += f" ({ran.differing})"
        say(console, Text("; ".join(filter(None, (text, seed_words(run)))), "bold"))


def _shown(
    cells: Iterable[CellDiff], differs: Iterable[bool], *, every_cell: bool
) -> tuple[list[CellDiff], int]:
    """The cells to show and how many of them are left out."""
    chosen = [c for c, d in zip(cells, differs, strict=True) if every_cell or d]
    shown = chosen if every_cell else chosen[:_LINES]
    return shown, len(chosen) - len(shown)


def _print_measure(
    comparison: Comparison, metric: str, console: Console, *, every_cell: bool
) -> None:
    found = [cell.of(metric) for cell in comparison.cells]
    cells, left = _shown(comparison.cells, (d.beyond for d in found), every_cell=every_cell)
    unit = fitting(side.mean_s for cell in cells for side in (cell.of(metric).a, cell.of(metric).b))
    _head(f"{_TITLES[metric]}, {unit.words}", cells, console)
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
    undecided = any(not cell.of(metric).beyond for cell in cells)
    if undecided:
        columns.insert(8, Column("would show", right=True, before=2))
    lines = []
    for cell in cells:
        here = cell.of(metric)
        style = "" if not here.beyond else "yellow"
        texts = _texts(here, unit)
        if undecided:
            smallest = "" if here.beyond else unit.text(here.smallest)
            texts = (*texts[:-1], smallest, texts[-1])
        lines.append(Line((cell.label, *texts), style))
    print_grid(columns, lines, console)
    _more(left, console)


def _texts(found: Difference, unit: Unit) -> tuple[str, ...]:
    texts = []
    for side in (found.a, found.b):
        half = unit.half(side.estimate)
        texts += [unit.text(side.mean_s), half if half in (NONE, EXACT) else f"±{half}"]
    size = str(found.pairs) if found.pairs is not None else f"{found.a.n}, {found.b.n}"
    if found.a.endless or found.b.endless:
        size += f" ({found.a.endless}, {found.b.endless} never ended)"
    mark = "" if found.beyond else "="
    within = f"{mark}±{unit.text(found.limit)}"
    percent = signed_percent(found.percent)
    return (*texts, unit.signed(found.difference), percent, within, size)


def _print_counts(comparison: Comparison, console: Console, *, every_cell: bool) -> None:
    named = [name for name in COUNTS if name in comparison.metrics]
    there = [
        name
        for name in COUNTS
        if name in named or any(cell.of(name).beyond for cell in comparison.cells)
    ]
    differs = [any(cell.of(name).beyond for name in there) for cell in comparison.cells]
    if not there:
        return
    cells, left = _shown(comparison.cells, differs, every_cell=every_cell)
    _head("numbers a transfer, A : B", cells, console)
    if not cells:
        return
    columns = [Column("cell"), *(Column(name, right=True, before=2) for name in there)]
    lines = [Line((cell.label, *(_counted(cell.of(name)) for name in there))) for cell in cells]
    print_grid(columns, lines, console)
    _more(left, console)


def _counted(found: Difference) -> str:
    sides = [NONE if side.mean_s is None else f"{side.mean_s:.4g}" for side in (found.a, found.b)]
    return " : ".join(sides) if found.beyond else f"{sides[0]} = {sides[1]}"


def _print_firsts(comparison: Comparison, console: Console, *, every_cell: bool) -> None:
    cells, left = _shown(
        comparison.cells, (cell.firsts.beyond for cell in comparison.cells), every_cell=every_cell
    )
    if not cells:
        return
    _head("first retransmission, transfers", cells, console)
    columns = [
        Column("cell"),
        Column("A", before=2),
        Column("B", before=2),
        Column("other", right=True, before=2),
    ]
    lines = [
        Line(
            (
                cell.label,
                _mechanisms(cell.firsts.a),
                _mechanisms(cell.firsts.b),
                NONE if cell.firsts.differing is None else str(cell.firsts.differing),
            )
        )
        for cell in cells
    ]
    print_grid(columns, lines, console)
    _more(left, console)


def _mechanisms(firsts: dict[str | None, int]) -> str:
    return ", ".join(f"{n} {name or 'none'}" for name, n in firsts.items())


def _head(title: str, cells: Sequence[CellDiff], console: Console) -> None:
    console.print()
    if cells:
        say(console, Text(title, "bold cyan"))
    else:
        say(console, Text.assemble((title, "bold cyan"), ": no cell differs"))


def _more(left: int, console: Console) -> None:
    if left:
        say(console, f"and {left} more (--all)", "dim")


def _print_alone(comparison: Comparison, console: Console) -> None:
    sides = (("A", comparison.only_a), ("B", comparison.only_b))
    told = [(letter, labels) for letter, labels in sides if labels]
    if told or any(comparison.failed):
        console.print()
    for letter, labels in told:
        names = "; ".join(labels[:_NAMES])
        more = f" and {len(labels) - _NAMES} more" if len(labels) > _NAMES else ""
        say(console, f"only in {letter}: {count(len(labels), 'cell')}: {names}{more}")
    for letter, failed in zip("AB", comparison.failed, strict=True):
        if failed:
            say(console, Text(f"failed in {letter}: {count(failed, 'cell')}", "red"))


def _rule(comparison: Comparison, *, every_cell: bool) -> list[str]:
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
    over = [(cell.of(metric), cell.label) for cell in comparison.cells if cell.of(metric).beyond]
    if not over:
        return ""
    text = f"{metric} in {len(over)}"
    known = [(found, label) for found, label in over if found.percent is not None]
    if not known:
        return text
    found, label = max(known, key=lambda pair: abs(pair[0].percent or 0.0))
    return f"{text}, most {signed_percent(found.percent)} in {label}"

"""Times of a run: a block for each network, setting and number of lost segments, or
where there are many a line for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rexmit.analysis.cells import Cell
from rexmit.analysis.leave_out import Reason
from rexmit.analysis.losses import numbers
from rexmit.analysis.times import TIMES, Block, Entry, Times
from rexmit.errors import argument
from rexmit.escaping import shown
from rexmit.present.grid import beside
from rexmit.present.times_by_line import line_blocks
from rexmit.result.blocks import BLANK, Column, Grid, Line, Paragraph, Room, heading, note
from rexmit.result.blocks import Block as Printed
from rexmit.statistics.spread import P99_FROM
from rexmit.statistics.words import EXACT, LEGEND, Unit, fitting, gain, gained
from rexmit.wording import NONE, count

#: Up to so many settings have a block each.
FEW = 4

_MEANINGS = (
    "t_total: head sent to last lost data sent again",
    "t_recover: first drop to first retransmission",
    "client: connect to end of file at the client",
)

#: Widths that the columns have at least: what a row is, a time, a percentage.
_LABEL, _TIME, _PERCENT = 18, 10, 6

#: A time and the percentage beside it.
Pair = tuple[str, str]

#: A row: its label, and for each configuration the pair.
Row = tuple[str, dict[str, Pair]]

#: Rows that stand below those of a block's time.
Below = Callable[[Block, str], list[Row]]

#: What a row tells of a configuration's time.
Tell = Callable[[Entry], Pair]


def time_blocks(
    table: Times,
    room: Room,
    *,
    in_full: bool = False,
    title: str = "Times",
    full: str = "--full",
    below: Below = lambda _block, _measure: [],
) -> Iterator[Printed]:
    """The blocks, then what the words in them mean. `below` gives rows that stand below those of a
    time. Where there are many settings or several numbers of lost segments each has a line instead,
    unless `in_full`; `full` is the option that asks for that.
    """
    lost = "lost segments " + numbers(table.lost_segments)
    if len(table.lost_segments) == 1:
        lost = count(table.lost_segments[0], "lost segment")
    unit = unit_of(table)
    yield heading(f"{title}: {lost}, means in {unit.words}, percent against {table.baseline}")
    if in_full or is_short(table):
        apart = len(table.lost_segments) > 1
        for block in table.blocks:
            yield from _block(block, unit, room, below, apart=apart, in_full=in_full)
    else:
        yield from line_blocks(table, unit, room, full)
    yield BLANK
    yield from map(note, _about_means(table))
    if len(table.losses_in_run) > len(table.lost_segments):
        there = f"{numbers(table.losses_in_run)} ({argument('losses')} N)"
        yield note(f"lost segments in this run: {there}")


def is_short(table: Times) -> bool:
    """Whether a block for each is not too much."""
    if len(table.lost_segments) > 1:
        return False
    return len({block.group for block in table.blocks}) <= FEW


def unit_of(table: Times) -> Unit:
    """In which the means of a table are told."""
    entries = (e for b in table.blocks for m in TIMES for e in b.entries(m).values())
    return fitting(entry.spread.mean_s for entry in entries)


def _block(
    block: Block, unit: Unit, room: Room, below: Below, *, apart: bool, in_full: bool
) -> Iterator[Printed]:
    yield from (BLANK, Paragraph(_heading(block, apart=apart), "bold cyan"))
    rows = [
        *(
            [*_times(block, measure, unit, in_full=in_full), *below(block, measure)]
            for measure in TIMES
            if any(entry.spread.n for entry in block.entries(measure).values())
        ),
        _counts(block),
    ]
    yield from beside(block.configs, lambda some: [_grid(some, rows)], room)


def _heading(block: Block, *, apart: bool) -> str:
    """`mobile: 7.2 Mbit/s, 100 ms RTT; receive window 64 KiB`."""
    lost = count(block.lost_segments, "lost segment") if apart else ""
    about = "; ".join(part for part in (block.setting.title, block.group.words, lost) if part)
    return f"{block.network}: {about}" if about else block.network


def _grid(configs: Sequence[str], sections: list[list[Row]]) -> Grid:
    rows = [row for section in sections for row in section]
    columns = [Column(least=_LABEL)]
    texts: dict[str, list[tuple[str, ...]]] = {}
    for config in configs:
        head, texts[config] = _column(config, [pairs[config] for _, pairs in rows])
        columns.append(Column(head))
    lines: list[Line] = []
    for section in sections:
        if lines:
            lines.append(Line())
        for label, _ in section:
            values = (texts[config].pop(0) for config in configs)
            lines.append(Line((label, *values), "bold" if label in TIMES else ""))
    return Grid(tuple(columns), tuple(lines))


def _column(config: str, pairs: list[Pair]) -> tuple[str, list[tuple[str, ...]]]:
    """Head and texts of a configuration. What is no time (a count and what it counts) ends where
    the times end, or where the percentages end if that is too narrow for one of them.
    """
    config = shown(config)
    wide = max(_TIME, len(config))
    whole = wide + 1 + _PERCENT
    counts = [part for time, _ in pairs for part in time.split("\n")]
    narrow = all(len(part) <= wide for part in counts)
    cells = []
    for text, percent in pairs:
        if percent or narrow or _is_number(text):
            parts = [f"{part:>{wide}} {percent:>{_PERCENT}}" for part in text.split("\n")]
        else:
            parts = [f"{part:>{whole}}" for part in text.split("\n")]
        cells.append(tuple(parts))
    return f"{config:>{wide}} {'':{_PERCENT}}", cells


def _is_number(text: str) -> bool:
    return text in ("", NONE, EXACT) or text.lstrip("+-").replace(".", "", 1).isdigit()


def _times(block: Block, measure: str, unit: Unit, *, in_full: bool) -> list[Row]:
    entries = block.entries(measure)

    def row(label: str, tell: Tell) -> Row:
        return label, {config: tell(entry) for config, entry in entries.items()}

    def percentile(share: float) -> Iterator[Row]:
        label = "median" if share == 0.5 else f"{share * 100:.0f}th percentile"
        yield row(f"  {label}", lambda e: (unit.text(e.spread.percentile(share)), ""))
        if in_full:

            def between(entry: Entry) -> Pair:
                interval = entry.spread.percentile_interval(share)
                return unit.between(interval, varies=bool(entry.spread.sd_s)), ""

            yield row("    95 %", between)

    rows = [
        row(measure, lambda e: (unit.text(e.spread.mean_s), gain(e.gain))),
        row("  95 %", lambda e: (unit.between(e.spread.interval), "")),
        row("  difference", lambda e: (gained(e.gain), "")),
    ]
    most = max(entry.spread.n + entry.spread.endless for entry in entries.values())
    for share, least in ((0.5, 2), (0.95, 2), (0.99, P99_FROM)):
        rows += percentile(share) if most >= least else ()
    if in_full:
        rows.append(row("  std deviation", lambda e: (unit.text(e.spread.sd_s), "")))
    return [one for one in rows if any(text not in ("", NONE) for text, _ in one[1].values())]


def _counts(block: Block) -> list[Row]:
    def row(label: str, tell: Callable[[Cell], str]) -> Row:
        cells = block.cells
        return label, {c: (tell(cells[c]) if c in cells else NONE, "") for c in block.configs}

    rows = [
        row("transfers used", lambda c: f"{c.used} of {c.transfers}"),
        row("  with t_recover", lambda c: "" if c.t_recover.n == c.used else str(c.t_recover.n)),
        row("  left out", lambda c: "\n".join(f"{n} {r.value}" for r, n in c.left_out.items())),
        row("first retransmission", lambda c: "\n".join(c.first_words)),
        row("spurious retransmissions", _spurious),
    ]
    return [
        (label, pairs)
        for label, pairs in rows
        if any(text not in ("", NONE) for text, _ in pairs.values())
    ]


def _spurious(cell: Cell) -> str:
    return (
        "unknown" if cell.spurious_retransmissions is None else str(cell.spurious_retransmissions)
    )


def _about_means(table: Times) -> list[str]:
    cells = [cell for block in table.blocks for cell in block.cells.values()]
    notes = [
        *_MEANINGS,
        *LEGEND,
        *(
            f"left out, {reason.value}: {reason.words}"
            for reason in Reason
            if any(reason in cell.left_out for cell in cells)
        ),
    ]
    if any(Reason.INCOMPLETE in cell.left_out for cell in cells):
        notes.append("  (they never ended: in percentiles they are larger than all others)")
    if any(Reason.INEXACT in cell.left_out for cell in cells):
        notes.append(f"  ({argument('inexact')} takes these into the means)")
    if any(cell.not_probed for cell in cells):
        notes.append(
            "the line loses by itself: transfers with isTLP false count, for without those that "
            "another retransmission repaired early a mean would be that of the slow ones"
        )
    return notes

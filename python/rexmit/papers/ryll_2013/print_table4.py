"""Table 4 on the terminal: a block a network, the paper's figures under ours."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from rexmit.analysis.cells import Cell
from rexmit.analysis.leave_out import Reason
from rexmit.analysis.losses import numbers
from rexmit.escaping import shown
from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.conditions import is_papers_network
from rexmit.papers.ryll_2013.print_table4_by_setting import FEW, print_settings
from rexmit.papers.ryll_2013.table4 import MEASURES, Beside, Block, Entry, Table4
from rexmit.present.grid import Column, Line, print_grid, width
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import NONE, count, seconds, signed_percent, signed_seconds

#: Widths that the columns have at least: what a row is, a time, a percentage.
_LABEL, _TIME, _PERCENT = 18, 10, 6

#: A time and the percentage beside it.
Pair = tuple[str, str]

#: A row: its label, and for each configuration the pair.
Row = tuple[str, dict[str, Pair]]


def print_table4(table: Table4, console: Console, *, in_full: bool = False) -> None:
    """The blocks, then what the words in them mean. Where a network has many settings, a line for
    each instead of a block, unless `in_full`.
    """
    lost = count(table.lost_segments, "lost segment")
    title = f"Table 4: {lost}, means in seconds, percent against {table.baseline}"
    say(console, Text(title, "bold"))
    in_full = in_full or len({block.group for block in table.blocks}) <= FEW
    if in_full:
        for block in table.blocks:
            _print_block(block, console)
    else:
        print_settings(table, console)
    console.print()
    notes = [*_about_means(table), *(_about_paper(table) if in_full else [])]
    if len(table.losses_in_run) > 1:
        there = numbers(table.losses_in_run)
        notes.append(f"lost segments in this run: {there} (--losses N)")
    for note in notes:
        say(console, note, "dim")


def _print_block(block: Block, console: Console) -> None:
    console.print()
    say(console, Text(heading(block), "bold cyan"))
    rows = [_times("t_total", block.t_total), _times("t_recover", block.t_recover), _counts(block)]
    left = list(block.configs)
    while left:
        # as many configurations beside each other as the terminal holds
        fitting = len(left)
        while fitting > 1 and width(*_grid(left[:fitting], rows)) > console.width:
            fitting -= 1
        columns, lines = _grid(left[:fitting], rows)
        left = left[fitting:]
        print_grid(columns, lines, console)
        if left:
            console.print()


def heading(block: Block) -> str:
    """`mobile: 7.2 Mbit/s, 100 ms RTT; receive window 64 KiB`."""
    parts = (block.setting.title, block.group.words)
    about = "; ".join(part for part in parts if part)
    return f"{block.network}: {about}" if about else block.network


def _grid(configs: list[str], sections: list[list[Row]]) -> tuple[list[Column], list[Line]]:
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
            told = (texts[config].pop(0) for config in configs)
            lines.append(Line((label, *told), "bold" if label in MEASURES else ""))
    return columns, lines


def _column(config: str, pairs: list[Pair]) -> tuple[str, list[tuple[str, ...]]]:
    """Head and texts of a configuration. What is no time (a count and what it counts) ends where
    the times end, or where the percentages end if that is too narrow for one of them.
    """
    config = shown(config)
    wide = max(_TIME, len(config))
    whole = wide + 1 + _PERCENT
    counts = [part for time, _ in pairs for part in time.split("\n")]
    narrow = all(len(part) <= wide for part in counts)
    made = []
    for text, percent in pairs:
        if percent or narrow or _is_number(text):
            parts = [f"{part:>{wide}} {percent:>{_PERCENT}}" for part in text.split("\n")]
        else:
            parts = [f"{part:>{whole}}" for part in text.split("\n")]
        made.append(tuple(parts))
    return f"{config:>{wide}} {'':{_PERCENT}}", made


def _is_number(text: str) -> bool:
    return text in ("", NONE) or text.lstrip("+-").replace(".", "", 1).isdigit()


def _times(measure: str, entries: tuple[Entry, ...]) -> list[Row]:
    def row(label: str, pair: Callable[[Entry], Pair]) -> Row:
        return label, {entry.config: pair(entry) for entry in entries}

    rows = [
        row(measure, lambda e: (seconds(e.spread.mean_s), signed_percent(e.percent))),
        row("  std deviation", lambda e: (seconds(e.spread.sd_s), "")),
    ]
    if any(_parts(entry) for entry in entries):
        rows.append(row("  to the letter", lambda e: (seconds(e.to_the_letter.mean_s), "")))
    if any(entry.paper for entry in entries):
        rows.append(row("  paper", lambda e: _paper(e.paper)))
        rows.append(row("  ours - paper", lambda e: _difference(e.paper)))
    return rows


def _parts(entry: Entry) -> bool:
    """The time as the paper's text defines it is another."""
    ours, letter = entry.spread.mean_s, entry.to_the_letter.mean_s
    return ours is not None and letter is not None and seconds(ours) != seconds(letter)


def _paper(beside: Beside | None) -> Pair:
    return (seconds(beside.mean_s), signed_percent(beside.percent)) if beside else ("", "")


def _difference(beside: Beside | None) -> Pair:
    if beside is None:
        return ("", "")
    return (signed_seconds(beside.difference_s), signed_percent(beside.difference_percent))


def _counts(block: Block) -> list[Row]:
    def row(label: str, tell: Callable[[Cell], str]) -> Row:
        cells = block.cells
        return label, {c: (tell(cells[c]) if c in cells else NONE, "") for c in block.configs}

    rows = [
        row("transfers used", used),
        row("  with t_recover", lambda c: "" if c.t_recover.n == c.used else str(c.t_recover.n)),
        row("  left out", lambda c: "\n".join(f"{n} {r.value}" for r, n in c.left_out.items())),
        row("first retransmission", _first_retransmission),
        row("spurious retransmissions", _spurious),
    ]
    return [
        (label, pairs)
        for label, pairs in rows
        if any(text not in ("", NONE) for text, _ in pairs.values())
    ]


def used(cell: Cell) -> str:
    """`97 of 100`."""
    return f"{cell.used} of {cell.transfers}"


def _first_retransmission(cell: Cell) -> str:
    lines = [f"{n} {mechanism}" for mechanism, n in cell.first_retransmission.items()]
    if cell.no_retransmission:
        lines.append(f"{cell.no_retransmission} none")
    return "\n".join(lines)


def _spurious(cell: Cell) -> str:
    return (
        "unknown" if cell.spurious_retransmissions is None else str(cell.spurious_retransmissions)
    )


def _about_means(table: Table4) -> list[str]:
    cells = [cell for block in table.blocks for cell in block.cells.values()]
    notes = [
        f"left out, {reason.value}: {reason.words}"
        for reason in Reason
        if any(reason in cell.left_out for cell in cells)
    ]
    if any(Reason.INEXACT in cell.left_out for cell in cells):
        notes.append("  (--inexact takes these into the means)")
    entries = (e for block in table.blocks for e in (*block.t_total, *block.t_recover))
    if any(map(_parts, entries)):
        notes.append(
            "to the letter: t_total until the FIN is sent again, t_recover until the first dropped "
            "segment is; ours wait for all that was dropped, and for any of it"
        )
    if any(cell.not_probed for cell in cells):
        notes.append(
            "the line loses by itself: transfers with isTLP false count, for without those that "
            "another retransmission repaired early a mean would be that of the slow ones"
        )
    return notes


def _about_paper(table: Table4) -> list[str]:
    """Whose figures stand beside ours, or why none do."""
    if any(entry.paper for block in table.blocks for entry in block.t_total):
        return [f"paper: {paper.SOURCE}"]
    if table.lost_segments != paper.TABLE_4_LOSSES:
        return [f"the paper has its Table 4 for {paper.TABLE_4_LOSSES} lost segments only"]
    theirs = [block for block in table.blocks if block.network in paper.NETWORKS]
    other = {b.network for b in theirs if not is_papers_network(b.network, b.setting)}
    notes = [
        f"not compared: the paper's {network} is {paper.NETWORKS[network].title}, without jitter"
        for network in dict.fromkeys(block.network for block in theirs)
        if network in other
    ]
    cells = [
        cell for block in theirs for cell in block.cells.values() if block.network not in other
    ]
    if any(paper.table_4(cell.network, cell.config) for cell in cells):
        notes.append(
            f"not compared: the paper had pages of {paper.SEGMENTS} segments, cubic, no loss on "
            "the line and the default receive window"
        )
    return notes

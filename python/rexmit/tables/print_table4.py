"""Table 4 on the terminal: a block a network, the paper's figures under ours."""

from __future__ import annotations

from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rexmit.tables import paper
from rexmit.tables.cells import Cell
from rexmit.tables.leave_out import Reason
from rexmit.tables.table4 import Beside, Block, Entry, Table4, numbers
from rexmit.tables.terminal import NONE, count, seconds, signed_percent, signed_seconds

#: Widths of the columns, as long as their text fits: what a row is, a time, a percentage.
_LABEL, _TIME, _PERCENT = 18, 10, 6

#: A time and the percentage beside it.
Pair = tuple[str, str]


def print_table4(table: Table4, console: Console) -> None:
    """The blocks, then what the words in them mean."""
    lost = count(table.lost_segments, "lost segment")
    console.print(
        Text(f"Table 4: {lost}, means in seconds, percent against {table.baseline}", "bold")
    )
    for block in table.blocks:
        console.print()
        console.print(Text(_title(block), "bold cyan"))
        for configs in _beside_each_other(block.configs, console.width):
            console.print(_grid(block, configs))
    _print_notes(table, console)


def _title(block: Block) -> str:
    parts = (block.setting.title, block.group.words)
    about = "; ".join(part for part in parts if part)
    return f"{block.network}: {about}" if about else block.network


def _beside_each_other(configs: tuple[str, ...], width: int) -> list[tuple[str, ...]]:
    """As many configurations in one grid as are not cut off at the terminal's edge."""
    rows: list[list[str]] = []
    used = 0
    for config in configs:
        needed = max(_TIME, len(config)) + 1 + _PERCENT + 1
        if not rows or used + needed > width:
            rows.append([])
            used = _LABEL + 1
        rows[-1].append(config)
        used += needed
    return [tuple(row) for row in rows]


def _grid(block: Block, configs: tuple[str, ...]) -> Table:
    grid = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    grid.add_column("", no_wrap=True, min_width=_LABEL)
    for config in configs:
        grid.add_column(config, justify="right", no_wrap=True, min_width=_TIME)
        grid.add_column("", justify="right", no_wrap=True, min_width=_PERCENT)
    for measure, entries in (("t_total", block.t_total), ("t_recover", block.t_recover)):
        mine = tuple(entry for entry in entries if entry.config in configs)
        for number, (label, pairs) in enumerate(_times(measure, mine)):
            texts = [text for pair in pairs for text in pair]
            grid.add_row(label, *texts, style="bold" if number == 0 else "")
        grid.add_section()
    for label, tell in _COUNTS:
        row = [tell(block.cells[c]) if c in block.cells else NONE for c in configs]
        if any(text not in ("", NONE) for text in row):
            grid.add_row(label, *[text for told in row for text in (told, "")])
    return grid


def _times(measure: str, entries: tuple[Entry, ...]) -> list[tuple[str, list[Pair]]]:
    rows = [(measure, [(seconds(e.spread.mean_s), signed_percent(e.percent)) for e in entries])]
    rows.append(("  std deviation", [(seconds(e.spread.sd_s), "") for e in entries]))
    if any(e.paper for e in entries):
        rows.append(("  paper", [_paper(e.paper) for e in entries]))
        rows.append(("  ours - paper", [_difference(e.paper) for e in entries]))
    return rows


def _paper(beside: Beside | None) -> Pair:
    return (seconds(beside.mean_s), signed_percent(beside.percent)) if beside else ("", "")


def _difference(beside: Beside | None) -> Pair:
    if beside is None:
        return ("", "")
    return (signed_seconds(beside.difference_s), signed_percent(beside.difference_percent))


def _used(cell: Cell) -> str:
    return f"{cell.used} of {cell.transfers}"


def _recovered(cell: Cell) -> str:
    return "" if cell.t_recover.n == cell.used else str(cell.t_recover.n)


def _left_out(cell: Cell) -> str:
    return "\n".join(f"{n} {reason.value}" for reason, n in cell.left_out.items())


def _first_resend(cell: Cell) -> str:
    lines = [f"{n} {mechanism}" for mechanism, n in cell.first_resend.items()]
    if cell.no_resend:
        lines.append(f"{cell.no_resend} none")
    return "\n".join(lines)


def _needless(cell: Cell) -> str:
    return "unknown" if cell.needless_resends is None else str(cell.needless_resends)


_COUNTS: tuple[tuple[str, Callable[[Cell], str]], ...] = (
    ("transfers used", _used),
    ("  with t_recover", _recovered),
    ("  left out", _left_out),
    ("first resend", _first_resend),
    ("needless resends", _needless),
)


def _print_notes(table: Table4, console: Console) -> None:
    console.print()
    cells = [cell for block in table.blocks for cell in block.cells.values()]
    for reason in Reason:
        if any(reason in cell.left_out for cell in cells):
            console.print(f"left out {reason.words}", style="dim", soft_wrap=True)
    if any(Reason.INEXACT in cell.left_out for cell in cells):
        console.print("  (--inexact takes these into the means)", style="dim")
    for block in table.blocks:
        if block.network in paper.NETWORKS and not block.setting.as_in_paper:
            theirs = paper.NETWORKS[block.network].title
            console.print(
                f"not compared: the paper's {block.network} is {theirs}",
                style="dim",
                soft_wrap=True,
            )
    if any(entry.paper for block in table.blocks for entry in block.t_total):
        console.print(f"paper: {paper.SOURCE}", style="dim", soft_wrap=True)
    if len(table.losses_in_run) > 1:
        there = numbers(table.losses_in_run)
        console.print(f"lost segments in this run: {there} (--losses N)", style="dim")

"""Table 4 of a run with many settings: a line a setting instead of a block."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from rich.console import Console

from rexmit.escaping import shown
from rexmit.papers.ryll_2013.table4 import Block, Entry, Table4
from rexmit.present.grid import Column, Line, print_grid, width
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import seconds, signed_percent

#: Up to so many settings have a block each.
FEW = 4

_TIME, _PERCENT = 8, 5

#: What a table tells of a configuration in a block: a text, and a percentage beside it.
Tell = Callable[[Block, str], tuple[str, str]]


def print_settings(table: Table4, console: Console) -> None:
    """A network after the other: both times, and how many transfers the means are over."""
    say(console, "a line a setting; --table4 prints each in full", "dim")
    base = next((block.group for block in table.blocks if block.group.is_base), None)
    if base:
        say(console, f"base: {base.words}; the others depart from it in one setting each")
    for _, blocks in groupby(table.blocks, lambda block: block.network):
        _print_network(list(blocks), console)


def _print_network(blocks: list[Block], console: Console) -> None:
    first = blocks[0]
    title = first.setting.title
    console.print()
    say(console, Text(f"{first.network}: {title}" if title else first.network, "bold cyan"))
    tables: list[tuple[str, Tell]] = [
        ("t_total", lambda block, config: _time(block.t_total, config)),
        ("t_recover", lambda block, config: _time(block.t_recover, config)),
    ]
    if any(cell.left_out for block in blocks for cell in block.cells.values()):
        tables.append(("transfers used", _used))
    left = list(first.configs)
    while left:
        fitting = len(left)
        while fitting > 1 and _too_wide(tables, blocks, left[:fitting], console):
            fitting -= 1
        for number, (name, tell) in enumerate(tables):
            if number:
                console.print()
            print_grid(*_grid(name, tell, blocks, left[:fitting]), console)
        left = left[fitting:]
        if left:
            console.print()


def _too_wide(
    tables: list[tuple[str, Tell]],
    blocks: list[Block],
    configs: list[str],
    console: Console,
) -> bool:
    return any(width(*_grid(name, tell, blocks, configs)) > console.width for name, tell in tables)


def _grid(
    name: str,
    tell: Tell,
    blocks: list[Block],
    configs: list[str],
) -> tuple[list[Column], list[Line]]:
    columns = [Column(shown(name))]
    for config in configs:
        columns.append(Column(shown(config), right=True, least=_TIME, before=2))
        columns.append(Column(right=True, least=_PERCENT))
    lines = []
    for block in blocks:
        label = "base" if block.group.is_base else block.group.words
        texts = [text for config in configs for text in tell(block, config)]
        lines.append(Line((label, *texts), "bold" if block.group.is_base else ""))
    return columns, lines


def _time(entries: tuple[Entry, ...], config: str) -> tuple[str, str]:
    entry = next(entry for entry in entries if entry.config == config)
    return seconds(entry.spread.mean_s), signed_percent(entry.percent)


def _used(block: Block, config: str) -> tuple[str, str]:
    cell = block.cells.get(config)
    return (f"{cell.used} of {cell.transfers}" if cell else "", "")

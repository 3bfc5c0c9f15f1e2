"""The table of `rexmit trace --by host|port|prefix`: who has the trouble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console

from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.tracing.groups import Group, Key
from rexmit.tracing.words import rate, share, size, span
from rexmit.wording import NONE, count

_SHOWN: Final = 25
"""Of more, the table has those that waited longest; `--json` has all."""

_HEADS: Final = {"host": "host", "port": "server's port", "prefix": "prefix"}

_COLUMNS: Final = (
    "connections",
    "data",
    "\nretransmitted",
    "time\nwaited",
    "round trip\nmedian",
    "\n95 %",
    "throughput\nmedian",
    "zero\nwindows",
    "window\nclosed",
    "resets\nsent",
    "SYNs not\nanswered",
    "\nrefused",
)


def print_groups(groups: Sequence[Group], key: Key, console: Console) -> None:
    """A line a group, those that waited longest first."""
    columns = [
        Column(_HEADS[key], least=16),
        *(Column(head, right=True, before=2) for head in _COLUMNS),
    ]
    print_grid(columns, [_line(one) for one in groups[:_SHOWN]], console)
    more = len(groups) - _SHOWN
    if more > 0:
        say(console, f"and {more:,} more, which waited less: --json has all")
    note = "a window is closed, and a reset sent, by the end that the line is about"
    of_port = ", here the server" if key == "port" else ""
    of_two = "" if key == "port" else "; a connection between two of them counts for both"
    said = f"{count(len(groups), 'line')}; {note}{of_port}{of_two}"
    say(console, said, "dim")


def _line(one: Group) -> Line:
    return Line(
        (
            one.key,
            f"{one.connections:,}",
            size(one.bytes),
            share(one.bytes_retransmitted, one.bytes),
            span(one.waited_s),
            NONE if one.rtt_median_s is None else span(one.rtt_median_s),
            NONE if one.rtt_p95_s is None else span(one.rtt_p95_s),
            NONE if one.throughput_median_bps is None else rate(one.throughput_median_bps),
            f"{one.zero_windows:,}",
            span(one.zero_window_s),
            f"{one.resets:,}",
            f"{one.unanswered:,}",
            f"{one.refused:,}",
        )
    )

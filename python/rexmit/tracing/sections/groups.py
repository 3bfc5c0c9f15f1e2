"""The table of `rexmit trace --by host|port|prefix`: who has the trouble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rexmit.result.blocks import Block, Column, Paragraph, note, table
from rexmit.tracing.groups import Group, Key
from rexmit.tracing.words import rate, share, size, span
from rexmit.wording import count, known

_SHOWN: Final = 25
"""Of more, the table has those that waited longest; `--json` has all."""

_HEADS: Final = {"host": "host", "port": "server's port", "prefix": "prefix"}


def group_blocks(groups: Sequence[Group], key: Key, selected: str = "") -> Iterator[Block]:
    """A line a group, those that waited longest first; above them which connections they are of,
    where not of all.
    """
    if selected:
        yield Paragraph(selected)
    yield table(
        groups[:_SHOWN],
        Column(_HEADS[key], least=16, cell=lambda one: one.key),
        ("connections", lambda one: f"{one.connections:,}"),
        ("data", lambda one: size(one.bytes)),
        ("\nretransmitted", lambda one: share(one.bytes_retransmitted, one.bytes)),
        ("time\nwaited", lambda one: span(one.waited_s)),
        ("round trip\nmedian", lambda one: known(one.rtt_median_s, span)),
        ("\n95 %", lambda one: known(one.rtt_p95_s, span)),
        ("throughput\nmedian", lambda one: known(one.throughput_median_bps, rate)),
        ("zero\nwindows", lambda one: f"{one.zero_windows:,}"),
        ("window\nclosed", lambda one: span(one.zero_window_s)),
        ("resets\nsent", lambda one: f"{one.resets:,}"),
        ("SYNs not\nanswered", lambda one: f"{one.unanswered:,}"),
        ("\nrefused", lambda one: f"{one.refused:,}"),
    )
    more = len(groups) - _SHOWN
    if more > 0:
        yield Paragraph(f"and {more:,} more, which waited less: --json has all")
    ends = "a window is closed, and a reset sent, by the end that the line is about"
    of_port = ", here the server" if key == "port" else ""
    of_two = "" if key == "port" else "; a connection between two of them counts for both"
    yield note(f"{count(len(groups), 'line')}; {ends}{of_port}{of_two}")

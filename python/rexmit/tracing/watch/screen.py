"""A live analysis on the terminal: brought up to date there, in lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from rexmit import outputs
from rexmit.present.text import Text
from rexmit.tracing import terms
from rexmit.tracing.watch.seen import Seen
from rexmit.tracing.watch.tally import Tally, line
from rexmit.tracing.words import size, span
from rexmit.wording import count


@contextmanager
def shown(every_s: float, *, pieces: bool) -> Iterator[Callable[[Seen], None]]:
    """Gives what shows a state: on standard error where that is a terminal, else in a line every
    `every_s` seconds. Of `pieces` there are lines, and a last one of the whole. With --quiet there
    is nothing.
    """
    if pieces or not sys.stderr.isatty() or outputs.level == outputs.Level.QUIET:
        lines = _Lines(every_s)
        yield lines
        if pieces:
            lines.end()
        return
    with Live(console=outputs.console(stderr=True), refresh_per_second=4, transient=True) as live:
        yield lambda seen: live.update(screen(seen))


class _Lines:
    """What came since the line before."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._at = time.monotonic()
        self._before, self._last = Tally(), Seen("")

    def __call__(self, seen: Seen) -> None:
        now, self._last = time.monotonic(), seen
        if now - self._at < self._every_s:
            return
        outputs.note(f"rexmit: {line(seen.tally, self._before, now - self._at)}")
        self._at, self._before = now, seen.tally.copy()

    def end(self) -> None:
        """All that came."""
        tally = self._last.tally
        text = line(tally, Tally(), self._last.lasted_s)
        outputs.note(f"rexmit: ended; in all {text}; {count(tally.pieces, 'piece')} written")


def screen(seen: Seen) -> RenderableType:
    """All that there is to see: what was captured, retransmissions by mechanism, who waits."""
    tally = seen.tally
    a_second = tally.packets / max(seen.lasted_s, 1e-3)
    end = "ending" if seen.ending else "Ctrl-C ends it, and prints the page"
    lines: list[RenderableType] = [
        Text(f"{seen.name}, for {span(seen.lasted_s)}; {end}", "bold"),
        Text(
            f"{count(tally.packets, 'packet')} ({a_second:,.0f}/s), {size(tally.bytes)}; "
            f"{count(tally.connections, 'connection')} ended"
        ),
    ]
    if tally.dropped:
        lines.append(Text(f"{tally.dropped:,} dropped before the capture", "yellow"))
    if tally.retransmissions:
        lines += [_mechanisms(seen), _waiting(seen)]
    else:
        lines.append(Text("no retransmission yet"))
    return Group(*lines)


def _mechanisms(seen: Seen) -> Table:
    all_of: Counter[str] = Counter()
    for (mechanism, _), number in seen.tally.retransmissions.items():
        all_of[mechanism] += number
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("retransmissions")
    for name in ("all", "spurious", "waited"):
        table.add_column(name, justify="right")
    table.add_column("")
    for mechanism, number in all_of.most_common():
        spurious = seen.tally.retransmissions[mechanism, "spurious"]
        waited = span(seen.tally.waited_s.get(mechanism, 0.0))
        words = terms.WORDS.get(mechanism, "")
        table.add_row(mechanism, f"{number:,}", f"{spurious:,}", waited, Text(words, "dim"))
    return table


def _waiting(seen: Seen) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("who waited longest")
    table.add_column("waited", justify="right")
    table.add_column("retransmissions", justify="right")
    for flow, waited_s in seen.waited_s.most_common(5):
        table.add_row(Text(flow), span(waited_s), f"{seen.again[flow]:,}")
    return table

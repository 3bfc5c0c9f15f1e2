"""A connection over several paths on the terminal, as data, and as a picture."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console

from rexmit.ladder.elide import Gap, elide
from rexmit.ladder.paths import PathFlow
from rexmit.ladder.render import (
    ASCII,
    UNICODE,
    gap_words,
    line_style,
    lines,
    silence_words,
    summary,
    title,
)
from rexmit.ladder.steps import Step
from rexmit.present.terminal import is_unicode, say
from rexmit.present.text import Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Columns of an arrow.
_ARROW = 40
#: A picture begins so much of its length before the first drop.
_BEFORE = 0.12


def print_path_flow(opened: PathFlow, console: Console, *, every_packet: bool) -> None:
    """A line a packet, as of one path, with the path's number before it."""
    glyphs = UNICODE if is_unicode(console.encoding) else ASCII
    flow = opened.flow
    say(console, Text(title(flow), "bold"))
    say(console, summary(flow))
    for one in opened.subflows:
        say(console, f"path {one.path}: client h2 {one.client}")
    bursts = ", ".join(f"{at / 1e6:.3f}" for at in opened.bursts)
    say(console, f"bursts at {bursts} ms")
    console.print()
    console.print(Text("path   ms  client h2, server h1; sequence numbers of the path's subflow"))
    for entry in elide(flow.steps, every_packet=every_packet):
        if isinstance(entry, Step):
            room = console.width - 5 if console.is_terminal else None
            first, *rest = lines(entry, _ARROW, glyphs, room=room)
            path = f"{opened.path_of(entry):>4} "
            for printed in (path + first, *("     " + more for more in rest)):
                console.print(Text(printed, line_style(entry)), soft_wrap=True)
        else:
            words = (
                gap_words(entry, glyphs) if isinstance(entry, Gap) else silence_words(entry, glyphs)
            )
            console.print(Text("     " + words, "dim"), soft_wrap=True)


def path_flow_data(opened: PathFlow) -> dict[str, Any]:
    """The row and every packet with its path; times in ns since the first packet."""
    return {
        "flow": opened.flow.number,
        "transfer": opened.flow.row,
        "bursts_ns": list(opened.bursts),
        "packets": [{"path": opened.path_of(step), **asdict(step)} for step in opened.flow.steps],
    }


def draw_path_ladders(opened: PathFlow, heading: str = "", small: str = "") -> Canvas:
    """A ladder a path, beside each other, from shortly before the first drop on. `heading` stands
    before what the flow is, `small` above the legend.
    """
    from rexmit.ladder.draw import Panel, draw_ladders

    begin = _begin(opened)
    panels = [
        Panel(
            f"path {one.path}",
            tuple(s for s in one.steps if _last(s) >= begin and "RST" not in s.flags),
        )
        for one in opened.subflows
    ]
    words = title(opened.flow)
    return draw_ladders(panels, f"{heading}: {words}" if heading else words, small)


def _begin(opened: PathFlow) -> float:
    """Where the picture begins: the last burst, or what its first drop leads to."""
    drops = [_last(step) for step in opened.flow.steps if step.dropped]
    if not drops:
        return opened.bursts[-1] if opened.bursts else 0
    first = min(drops)
    retransmissions = [_last(step) for step in opened.flow.steps if step.mechanism]
    return first - _BEFORE * (max([*retransmissions, *drops]) - first)


def _last(step: Step) -> int:
    return max(at for at in (step.sent_ns, step.arrived_ns) if at is not None)

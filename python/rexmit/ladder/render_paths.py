"""A connection over several paths as lines, as data, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rexmit.ladder.elide import elide
from rexmit.ladder.paths import PathFlow
from rexmit.ladder.render import glyphs, ladder, line_style, lines, summary, title
from rexmit.ladder.steps import Step
from rexmit.result.blocks import BLANK, Block, Paragraph, Room, heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Columns of an arrow.
_ARROW = 40
#: A picture begins so much of its length before the first drop.
_BEFORE = 0.12


def path_flow_blocks(opened: PathFlow, room: Room, *, every_packet: bool) -> Iterator[Block]:
    """A line a packet, as of one path, with the path's number before it."""
    flow = opened.flow
    yield from (heading(title(flow)), Paragraph(summary(flow)))
    for one in opened.subflows:
        yield Paragraph(f"path {one.path}: client h2 {one.client}")
    bursts = ", ".join(f"{at / 1e6:.3f}" for at in opened.bursts)
    yield from (Paragraph(f"bursts at {bursts} ms"), BLANK)
    yield Paragraph(
        "path   ms  client h2, server h1; sequence numbers of the path's subflow", whole=True
    )

    def draw(step: Step) -> tuple[list[str], str]:
        most = room.width - 5 if room.wraps else None
        first, *rest = lines(step, _ARROW, glyphs(room), room=most)
        path = f"{opened.path_of(step):>4} "
        return [path + first, *("     " + more for more in rest)], line_style(step)

    yield from ladder(elide(flow.steps, every_packet=every_packet), room, 5, draw)


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

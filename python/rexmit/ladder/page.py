"""A transfer of a run as a drawn ladder, from shortly before its first loss on."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from rexmit.ladder.draw import Panel, draw_ladders
from rexmit.ladder.flow import Flow
from rexmit.ladder.render import summary, title
from rexmit.ladder.steps import Step

#: Before the first drop, this share of the time from there to the end is drawn.
_BEFORE = 0.12


def draw_page_ladder(flow: Flow) -> Canvas:
    """Client left, server right; what the client's acknowledgements repeat and select stands beside
    them.
    """
    begin = _begin_ns(flow)
    steps = tuple(
        step for step in flow.steps if max(step.seen_ns) >= begin and not _only_acknowledges(step)
    )
    return draw_ladders([Panel(_heading(flow), steps, acknowledgements=True)], title(flow))


def _only_acknowledges(step: Step) -> bool:
    """Of the server: what the client asked for and how it closed is another story."""
    return step.from_server and step.flags == "ACK" and not step.payload_bytes


def _heading(flow: Flow) -> str:
    facts = summary(flow).split("; ")
    return "\n".join(("; ".join(facts[:3]), "; ".join(facts[3:]))) if len(facts) > 3 else facts[0]


def _begin_ns(flow: Flow) -> float:
    drops = [max(step.seen_ns) for step in flow.steps if step.dropped or step.lost]
    if not drops:
        return 0
    last = max(max(step.seen_ns) for step in flow.steps)
    return min(drops) - _BEFORE * (last - min(drops))

"""Times of a sender between two of its packets.

Beside the sender they are the capture's. Elsewhere the sender's own stamps give them (RFC 7323 §4),
to a tick on either side, where the length of a tick shows in its packets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tests.real.history import Sent, View

TICKS_NS = (1_000, 1_000_000, 2_000_000, 4_000_000, 10_000_000, 100_000_000, 500_000_000)
"""Ticks of stamps that stacks have: a microsecond to half a second."""

APART = 0.1
"""By which share a measured tick may differ from a known one."""

LEAST_TICKS = 20
"""Ticks that packets must span to show how long one is."""

Bounds = tuple[float, float]
"""At least, at most; in nanoseconds."""


def ticks(views: Iterable[View]) -> dict[int, int]:
    """The length of a tick of each sender that shows it, by identity: as its own packets do, else
    as all other connections of its address do."""
    views = list(views)
    own = {id(view): tick for view in views if (tick := _tick(view))}
    hosts: defaultdict[str, set[int]] = defaultdict(set)
    for view in views:
        if id(view) in own:
            hosts[view.flow[0]].add(own[id(view)])
    shared = {id(view): min(found) for view in views if len(found := hosts[view.flow[0]]) == 1}
    return shared | own


def _tick(view: View) -> int | None:
    stamped = [one for one in view.sent if one.options.stamp is not None]
    if not stamped:
        return None
    count = between(stamped[0], stamped[-1]) or 0
    span = stamped[-1].packet.time_ns - stamped[0].packet.time_ns
    if count < LEAST_TICKS:
        return None
    near = min(TICKS_NS, key=lambda tick: abs(span / count / tick - 1))
    return near if abs(span / count / near - 1) <= APART else None


def between(before: Sent, after: Sent) -> int | None:
    """Ticks from one packet to another; None without stamps."""
    stamps = before.options.stamp, after.options.stamp
    if stamps[0] is None or stamps[1] is None:
        return None
    return (stamps[1] - stamps[0] + (1 << 31)) % (1 << 32) - (1 << 31)


def wait(view: View, before: Sent, after: Sent, tick: int | None) -> Bounds | None:
    """How long the sender waited from one packet to the other; None: the packets do not tell."""
    if view.beside:
        time = float(after.packet.time_ns - before.packet.time_ns)
        return time, time
    count = between(before, after)
    if tick is None or count is None:
        return None
    return max(0.0, (count - 1.0) * tick * (1 - APART)), (count + 1.0) * tick * (1 + APART)

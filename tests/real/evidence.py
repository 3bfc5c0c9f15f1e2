"""Whether what a row says of its mechanism is possible, by the packets alone.

A rule gives a reason where the packets exclude the mechanism. Where the monitor stands away from
the sender, a rule counts what the sender may have heard, and judges no time that is not known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tests.real.clocks import Bounds, between, wait
from tests.real.history import Heard, Sent, Span, View
from tests.real.packets import SYN

THRESHOLD = 3
"""Duplicate ACKs of RFC 5681 §3.2."""

LEAST_PROBE_NS = 1_000_000
LEAST_TIMEOUT_NS = 200_000_000
MOST_TIMEOUT_NS = 126_000_000_000
"""TCP_RTO_MAX of Linux is 120 s; a tick and rounding more."""

AT_ONCE_NS = 5_000_000
"""What an acknowledgement triggers leaves within this time, and within the way there and back."""

Reason = str | None
"""Why a row is impossible; None: it is possible, or not judged."""


@dataclass
class Case:
    """A packet of a row, with what its sender had sent and heard before."""

    view: View
    at: Sent
    tick: int | None = None
    probes: frozenset[int] = field(default_factory=frozenset)
    """Places in the file of packets whose rows say `tlp`."""

    @cached_property
    def last(self) -> Sent | None:
        """The last transmission of its first byte; None where the capture does not show one."""
        return next((one for one in self.before() if one.start <= self.at.start < one.end), None)

    @cached_property
    def since(self) -> Sent | None:
        """The packet after which its first byte was sent: `last`, else the one that came nearest
        from below before anything beyond was sent; None where the capture shows none, or where
        other copies may have been lost before the monitor."""
        if self.last or not self.view.beside:
            return self.last
        nearest = None
        for one in reversed(list(self.before())):
            if one.end > self.at.start:
                return nearest
            if nearest is None or one.end > nearest.end:
                nearest = one
        return nearest

    def before(self) -> Iterator[Sent]:
        """What its sender sent before, the latest first."""
        sent = self.view.sent
        for at in range(self._place(sent) - 1, -1, -1):
            yield sent[at]

    def heard(self, since: Sent | None) -> Iterator[Heard]:
        """What its sender may have heard after a packet and before this one, the latest first."""
        heard = self.view.heard
        for at in range(self._place(heard) - 1, -1, -1):
            one = heard[at]
            early = since.packet.time_ns - one.packet.time_ns if since else 0
            if since and one.index < since.index and early > self.view.slack:
                return
            yield one

    def _place(self, items: list[Sent] | list[Heard]) -> int:
        low, high = 0, len(items)
        while low < high:
            middle = (low + high) // 2
            if items[middle].index < self.at.index:
                low = middle + 1
            else:
                high = middle
        return low

    @cached_property
    def una(self) -> int:
        """The highest acknowledgement that its sender must have heard. Away from the sender one
        that passed the monitor may have been lost: nobody sends again what is acknowledged."""
        if self.view.beside:
            return self.at.una
        latest = self.at.packet.time_ns - self.view.slack
        heard = (one for one in self.heard(None) if one.packet.time_ns <= latest)
        highest = max((max(one.ack, one.una) for one in itertools.islice(heard, 1)), default=0)
        return min(highest, self.at.start)

    @property
    def least(self) -> int:
        """The least round trip of its sender so far; 0 where it had not seen one."""
        if self.at.least is None or self.at.packet.flags & SYN:
            return 0
        return self.at.least + (0 if self.view.beside else self.view.near or 0)

    @cached_property
    def waited(self) -> Bounds | None:
        """How long its sender waited since it sent the first byte last."""
        return wait(self.view, self.since, self.at, self.tick) if self.since else None

    @property
    def shown(self) -> int:
        """How long its first byte had been out, at least, where its first copy was not seen: since
        the first packet beyond it; in nanoseconds."""
        beyond = [one for one in self.before() if one.end > self.at.start]
        return self.at.packet.time_ns - beyond[-1].packet.time_ns if beyond else 0

    @property
    def quiet(self) -> bool:
        """Since the last transmission its sender neither sent nor heard anything."""
        last = self.last
        if last is None or next(self.before()) is not last:
            return False
        return not any(True for _ in self.heard(last))

    @cached_property
    def signals(self) -> int:
        """Duplicate ACKs, or segments reported by SACK, that point to a hole at its first byte,
        since the byte was sent last."""
        return sum(self._points(one) for one in self.heard(self.since))

    def _points(self, heard: Heard) -> int:
        if heard.ack >= self.at.end:
            return 0
        above = [span for span in heard.fresh if span[1] > self.at.start]
        segments = sum(max(1, round((high - low) / self.view.mss)) for low, high in above)
        at_hole = self.at.start <= heard.ack < self.at.end
        return max(segments, int(heard.duplicate and at_hole))

    @cached_property
    def above(self) -> int | None:
        """The end of the highest SACK block above its first byte that its sender may have heard."""
        highest = None
        for one in self.heard(self._original):
            ends = [self.view.place(high) for _, high in one.options.blocks]
            ends = [end for end in ends if end > max(self.at.start, one.ack)]
            highest = max([*ends, *([highest] if highest is not None else [])], default=None)
        return highest

    @cached_property
    def _original(self) -> Sent | None:
        """Its first transmission, as far as the capture goes."""
        shown = [one for one in self.before() if one.start <= self.at.start < one.end]
        return shown[-1] if shown else self.since

    def begun(self) -> Iterator[Case]:
        """What may have begun the episode, the latest first."""
        return self.earlier() if self.view.beside else self.earlier_unseen()

    def earlier(self) -> Iterator[Case]:
        """Retransmissions before it in the same episode, the latest first: what had been sent by
        then is not all acknowledged."""
        for one in self.before():
            if one.top <= max(self.una, self.at.start):
                return
            if one.again:
                yield self._with(one)

    def earlier_unseen(self) -> Iterator[Case]:
        """What may be one where the monitor stands away from the sender: the copies before it were
        lost on the way. A packet may be one that came after a wait."""
        sent = list(self.before())
        for one, before in zip(sent, [*sent[1:], None], strict=True):
            if max(one.top, one.end) <= self.una:
                return
            gap = one.packet.time_ns - before.packet.time_ns if before else None
            if one.again or gap is None or gap >= self.least:
                yield self._with(one)

    def _with(self, one: Sent) -> Case:
        return Case(self.view, one, self.tick, self.probes)

    @cached_property
    def out(self) -> int:
        """Segments out, at least."""
        low = self.at.una
        spans = sorted({(max(one.start, low), one.end) for one in self.before() if one.end > low})
        least, at = 0, low
        for start, end in spans:
            if end > at:
                least += end - max(start, at)
                at = end
        return -(-least // self.view.mss)


def fast_retransmit(case: Case) -> Reason:
    """Duplicate ACKs or SACKed segments since the last transmission (RFC 5681 §3.2), or a partial
    ACK in a recovery that had them (RFC 6582 §3.2)."""
    if case.signals:
        return None
    begun = [one for one in case.begun() if one.signals and _covers(case, one)]
    if not begun:
        return "no duplicate ACK"
    return None if any(_partial(case, one) for one in begun) else "no ACK since the recovery began"


def _covers(case: Case, one: Case) -> bool:
    """A recovery that began with `one` covers the row: its byte had been sent by then."""
    known = case.view.beside
    return one.at.start <= case.at.start and (not known or one.at.top >= case.at.end)


def _partial(case: Case, one: Case) -> bool:
    """An ACK of some of what was out when a recovery began (RFC 6582 §3.2)."""
    return any(heard.ack > one.at.una for heard in case.heard(one.at))


def sack_recovery(case: Case) -> Reason:
    """A SACK block above the hole, a partial ACK in a recovery that had one, or the rescue
    retransmission, once (RFC 6675 §4, NextSeg 4)."""
    if case.view.sack is False:
        return "SACK was not agreed on"
    if case.above is not None:
        return None
    earlier = list(case.begun())
    recoveries = [one for one in earlier if one.above is not None and _covers(case, one)]
    if any(_partial(case, one) for one in recoveries):
        return None
    if case.at.end < case.at.top:
        return "no SACK block above the hole"
    begun = [place for place, one in enumerate(earlier) if one.above is not None]
    if not begun:
        return "no SACK block above the hole"
    since = earlier[: begun[-1]]
    rescues = any(one.at.end >= one.at.top and one.above is None for one in since)
    return "a second rescue in one recovery" if rescues else None


def fack(case: Case) -> Reason:
    """The highest SACK block ends more than the threshold above the hole."""
    if case.view.sack is False:
        return "SACK was not agreed on"
    if case.above is None:
        return "no SACK block above the hole"
    if case.above - case.at.start <= case.view.mss:
        return "the highest SACK block ends within a segment of the hole"
    return None


def rack(case: Case) -> Reason:
    """Something that was sent later than the byte's last transmission was delivered (RFC 8985)."""
    if case.view.sack is False:
        return "SACK was not agreed on"
    since = case.since
    later = [(one.index, one.start, one.end) for one in _later(case, since)]
    if case.last:
        # A packet that the sender's network card cut up: its segments left in their order.
        later.append((case.last.index, case.at.start + 1, case.last.end))
    for heard in case.heard(since):
        spans: list[Span] = [*heard.fresh, *([heard.first] if heard.first else [])]
        if heard.ack > heard.una:
            spans.append((heard.una, heard.ack))
        for low, high in spans:
            if any(at < heard.index and start < high and low < end for at, start, end in later):
                return None
    return "nothing sent later had been delivered"


def _later(case: Case, since: Sent | None) -> Iterator[Sent]:
    """What its sender sent after a packet. Packets may overtake each other on the way to a monitor
    that is not beside the sender: stamps tell. Of an original that nobody saw, what lies beyond and
    what was sent again may be later."""
    for one in case.before():
        if since is None:
            if one.again or one.start >= case.at.end:
                yield one
        elif one.index > since.index:
            yield one
        elif case.view.beside or not _near(case.view, one, since):
            return
        elif (ticks := between(since, one)) and ticks > 0:
            yield one


def _near(view: View, one: Sent, since: Sent) -> bool:
    return since.packet.time_ns - one.packet.time_ns <= view.slack


def early_retransmit(case: Case) -> Reason:
    """Fewer than four segments out, and a duplicate ACK (RFC 5827 §3)."""
    if not case.signals:
        return "no duplicate ACK"
    if case.out > THRESHOLD:
        return "four segments or more out"
    return None


def tlp(case: Case) -> Reason:
    """The last segment sent, alone, after at least a probe's least wait (RFC 8985 §7)."""
    if case.view.sack is False:
        return "SACK was not agreed on"
    if case.at.end < case.at.top:
        return "not the last byte sent"
    before = next(iter(case.before()), None)
    if before is None:
        return None
    for one in case.before():
        if one.index in case.probes:
            if not any(heard.ack > heard.una or heard.fresh for heard in case.heard(one)):
                return "a second probe without an ACK between"
            break
    waited = wait(case.view, before, case.at, case.tick)
    if waited and waited[1] < LEAST_PROBE_NS:
        return "sooner than 1 ms after the last transmission"
    head = case.view.sent[0]
    if waited and waited[1] < case.least and not _timer_near(case, head):
        return "sooner than a round trip after the last transmission"
    return None


def _timer_near(case: Case, head: Sent) -> bool:
    """What was left of the timeout may be less than a round trip: the oldest segment that is out
    was sent a least timeout ago."""
    oldest = head
    for one in case.before():
        if one.start <= case.at.una < one.end:
            oldest = one
            break
    return case.at.packet.time_ns - oldest.packet.time_ns >= LEAST_TIMEOUT_NS


def rto(case: Case) -> Reason:
    """A round trip since the last transmission (RFC 6298 §2), and no ACK that reached the threshold
    of fast retransmit."""
    if case.waited:
        if case.waited[1] < case.least:
            return "sooner than a round trip after the last transmission"
        if case.last and case.waited[0] > MOST_TIMEOUT_NS:
            return "later than any timeout"
    if case.signals >= THRESHOLD and not any(True for _ in case.earlier()):
        if case.last is None and case.shown < AT_ONCE_NS:
            return "three duplicate ACKs before it, and no wait is seen"
        if case.last and not case.last.again and _threshold_at_once(case):
            return "three duplicate ACKs just before it"
    return None


def _threshold_at_once(case: Case) -> bool:
    """It left right with the ACK that reached the threshold: nothing kept fast retransmit from it,
    as there was no retransmission before it in the episode."""
    soon = AT_ONCE_NS + 2 * (case.view.near or 0)
    count = 0
    for heard in reversed(list(case.heard(case.last))):
        count += case._points(heard)
        if count >= THRESHOLD:
            return case.at.packet.time_ns - heard.packet.time_ns < soon
    return False


def rto_recovery(case: Case) -> Reason:
    """An earlier timeout of this sender in the episode, and a byte below what was sent then. Where
    all copies may have been lost before the monitor, so may that of the timeout."""
    if not case.view.beside and case.at.start >= case.at.top:
        return None
    return None if any(rto(one) is None for one in case.begun()) else "no timeout before it"


RULES = {
    "fast-retransmit": fast_retransmit,
    "sack-recovery": sack_recovery,
    "fack": fack,
    "rack": rack,
    "early-retransmit": early_retransmit,
    "tlp": tlp,
    "rto": rto,
    "rto-recovery": rto_recovery,
}
"""`mptcp-reinject` and `unknown` are not judged."""

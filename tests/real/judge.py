"""Every row of a capture judged: what the packets exclude of what it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.real import bounds, oracle, packets, prompted
from tests.real.clocks import ticks
from tests.real.evidence import LEAST_TIMEOUT_NS, RULES, Case, rto
from tests.real.history import View, histories
from tests.real.hold import Held, compare
from tests.real.oracle import Seen
from tests.real.packets import ACK, SYN
from tests.real.prompted import TooBig
from tests.real.steps import evened

from rexmit.tracing.memory import tables

SURE = 0.95

RATIO = 1.3
"""Two waits that differ by less show the same timer."""


Timeouts = dict[str, list[tuple[View, float]]]
"""By host, waits of rows that may be timeouts, in nanoseconds, with their direction."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row, its frame (0: none), why its mechanism is impossible (None: it is not), and what else
    is wrong with it."""

    row: dict[str, Any]
    frame: int
    impossible: str | None
    broken: tuple[str, ...] = ()

    @property
    def named(self) -> bool:
        return self.row["mechanism"] not in (None, "unknown")

    @property
    def wrong(self) -> bool:
        """Anything is wrong with it but that its need has no evidence, of which there are many."""
        return self.impossible is not None or any(why != bounds.NO_EVIDENCE for why in self.broken)

    @property
    def sure(self) -> bool:
        """Wrong and sure."""
        return self.impossible is not None and self.row["confidence"] >= SURE


def judge(capture: Path) -> tuple[Held, list[Judged]]:
    """A capture's rows against the oracle's account of it, and judged."""
    account = oracle.account(packets.read(capture))
    held = compare(account, tables(capture).retransmissions)
    return held, judged(account, held.said, list(prompted.messages(capture)))


def judged(
    account: Sequence[Seen],
    said: Iterable[tuple[Seen | None, dict[str, Any]]],
    told: Sequence[TooBig] = (),
) -> list[Judged]:
    """Rows with their packets, against the whole account, and against what routers told."""
    said = list(said)
    places = {id(seen): index for index, seen in enumerate(account)}
    times = evened([seen.packet for seen in account])
    paired = zip(account, times, strict=True)
    found = histories([replace(seen, packet=packet) for seen, packet in paired])
    lengths = ticks({id(view): view for view, _ in found.values()}.values())
    probes = frozenset(places[id(seen)] for seen, row in said if seen and row["mechanism"] == "tlp")
    cases: list[tuple[Seen | None, dict[str, Any], Case | None]] = []
    for seen, row in said:
        place = found.get(places[id(seen)]) if seen else None
        case = Case(*place, lengths.get(id(place[0])), probes) if place else None
        cases.append((seen, row, case))
    timeouts = _timeouts(cases)
    return [_judge(seen, row, case, timeouts, told) for seen, row, case in cases]


def _timeouts(
    cases: Iterable[tuple[Seen | None, dict[str, Any], Case | None]],
) -> Timeouts:
    """The waits of rows that are said to be timeouts and may be, by host."""
    waits: defaultdict[str, list[tuple[View, float]]] = defaultdict(list)
    for _, row, case in cases:
        if case and case.last and case.waited and row["mechanism"] == "rto" and rto(case) is None:
            waits[case.view.flow[0]].append((case.view, case.waited[1]))
    return waits


def _judge(
    seen: Seen | None,
    row: dict[str, Any],
    case: Case | None,
    timeouts: Timeouts,
    told: Sequence[TooBig],
) -> Judged:
    impossible = None
    names = [row["mechanism"], *([row["runner_up"]] if row["either"] else [])]
    reasons = [_impossible(name, seen, case, timeouts) for name in names]
    if all(reasons):
        impossible = reasons[0]
    if case and row["basis"] in prompted.NAMES:
        impossible = prompted.wrong(row["basis"], case, told)
    elif case and row["mechanism"] in RULES and (other := prompted.name(case, told)):
        impossible = f"no loss was found: {other}"
    broken = list(
        bounds.broken(
            row,
            seen=case is not None and case.last is not None,
            waits=case.waited if case else None,
            quiet=case is not None and case.quiet,
        )
    )
    if seen and seen.kind == "unclear" and row["certainty"] >= SURE:
        broken.append("sure of what may be a double")
    frame = seen.packet.number if seen else 0
    return Judged(row, frame, impossible, tuple(broken))


def _impossible(
    name: str | None, seen: Seen | None, case: Case | None, timeouts: Timeouts
) -> str | None:
    rule = RULES.get(name or "")
    if rule is None:
        return None
    if seen is None:
        return "no such packet"
    if case is None or seen.kind in ("double", "keep-alive", "probe"):
        return f"its packet is a {seen.kind}"
    reason = rule(case)
    if reason is None and name == "rto" and not _shown_twice(case, timeouts):
        return "less than 200 ms, once only"
    return reason


def _shown_twice(case: Case, timeouts: Timeouts) -> bool:
    """A timer of less than 200 ms is believed where its host shows it twice, or where the same
    connection shows it doubled. A SYN-ACK answers each SYN, too."""
    if not case.last or not case.waited or case.waited[1] >= LEAST_TIMEOUT_NS:
        return True
    if case.at.packet.flags & SYN and case.at.packet.flags & ACK:
        return True
    mine = case.waited[1]
    alike = 0
    for view, other in timeouts.get(case.view.flow[0], []):
        doubled = view is case.view and (_same(2 * mine, other) or _same(mine, 2 * other))
        alike += _same(mine, other) or doubled
    return alike >= 2


def _same(one: float, other: float) -> bool:
    return max(one, other) < RATIO * max(min(one, other), 1.0)

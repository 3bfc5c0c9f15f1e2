"""Every row of a capture judged: what the packets exclude of what it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real import bounds, oracle, packets
from tests.real.clocks import ticks
from tests.real.evidence import RULES, Case, low_timeout
from tests.real.history import histories
from tests.real.hold import Held, compare
from tests.real.oracle import Seen

from rexmit.tracing.memory import tables

SURE = 0.95

RATIO = 1.3
"""Two waits that differ by less show the same timer."""


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
    return held, judged(account, held.said)


def judged(
    account: Sequence[Seen], said: Iterable[tuple[Seen | None, dict[str, Any]]]
) -> list[Judged]:
    """Rows with their packets, against the whole account."""
    said = list(said)
    places = {id(seen): index for index, seen in enumerate(account)}
    found = histories(account)
    lengths = ticks({id(view): view for view, _ in found.values()}.values())
    probes = frozenset(places[id(seen)] for seen, row in said if seen and row["mechanism"] == "tlp")
    cases: list[tuple[Seen | None, dict[str, Any], Case | None]] = []
    for seen, row in said:
        place = found.get(places[id(seen)]) if seen else None
        case = Case(*place, lengths.get(place[0].flow[0]), probes) if place else None
        cases.append((seen, row, case))
    lows = _lows(cases)
    return [_judge(seen, row, case, lows) for seen, row, case in cases]


def _lows(
    cases: Iterable[tuple[Seen | None, dict[str, Any], Case | None]],
) -> dict[str, list[float]]:
    """By host, the waits of rows that are said to be timeouts of less than 200 ms."""
    lows: defaultdict[str, list[float]] = defaultdict(list)
    for _, row, case in cases:
        low = low_timeout(case) if case and row["mechanism"] == "rto" else None
        if case and low is not None and RULES["rto"](case) is None:
            lows[case.view.flow[0]].append(low)
    return lows


def _judge(
    seen: Seen | None, row: dict[str, Any], case: Case | None, lows: dict[str, list[float]]
) -> Judged:
    impossible = None
    names = [row["mechanism"], *([row["runner_up"]] if row["either"] else [])]
    reasons = [_impossible(name, seen, case, lows) for name in names]
    if all(reasons):
        impossible = reasons[0]
    broken = bounds.broken(
        row,
        seen=case is not None and case.last is not None,
        quiet=case.quiet if case else None,
    )
    frame = seen.packet.number if seen else 0
    return Judged(row, frame, impossible, tuple(broken))


def _impossible(
    name: str | None, seen: Seen | None, case: Case | None, lows: dict[str, list[float]]
) -> str | None:
    rule = RULES.get(name or "")
    if rule is None:
        return None
    if seen is None:
        return "no such packet"
    if case is None or seen.kind in ("double", "keep-alive", "probe"):
        return f"its packet is a {seen.kind}"
    reason = rule(case)
    if reason is None and name == "rto":
        low = low_timeout(case)
        host = lows.get(case.view.flow[0], [])
        if low is not None and sum(_same(low, other) for other in host) < 2:
            return "less than 200 ms, once only"
    return reason


def _same(one: float, other: float) -> bool:
    return max(one, other) < RATIO * max(min(one, other), 1.0)

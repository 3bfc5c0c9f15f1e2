"""One transfer of two runs, packet by packet: where the two senders part.

Times count from the first packet of each transfer, as the server sees it: what it sends when it
sends, what it is sent when that arrives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

import polars as pl

from rexmit.comparison.pairs import Matched, Pair, RunCell
from rexmit.errors import UserError, by_caller
from rexmit.ladder.flow import Flow, open_flow
from rexmit.ladder.steps import Step
from rexmit.store.open_run import Run
from rexmit.wording import count

#: In what two packets may differ.
ASPECTS = ("range", "flags", "push", "acknowledgement", "mechanism", "fate", "time")


@dataclass(frozen=True)
class Parting:
    """The first packets of one side that are not alike; None where that side sends no more.

    `place` counts the packets of that side from 1; `what` names in what the two differ.
    """

    place: int
    a: Step | None
    b: Step | None
    what: tuple[str, ...]

    @property
    def at_ns(self) -> int:
        """When the first of the two shows."""
        return min(at_server(step) for step in (self.a, self.b) if step is not None)


@dataclass(frozen=True)
class Compared:
    """A transfer of a cell in both runs; `looked_at` repetitions were read to find it."""

    label: str
    repetition: int
    looked_at: int
    a: Flow
    b: Flow
    tolerance_ns: int
    senders: Parting | None
    clients: Parting | None  #: where the two clients part, if that is no later

    @property
    def first(self) -> Parting | None:
        """Where anything differs for the first time."""
        return self.clients or self.senders


def at_server(step: Step) -> int:
    """When the server sends it or gets it, ns; of what never arrives, when it was sent."""
    seen = (step.sent_ns, step.arrived_ns) if step.from_server else (step.arrived_ns, step.sent_ns)
    return next(at for at in seen if at is not None)


def compare_packets(
    a: Run,
    b: Run,
    pair: Pair,
    repetition: int | None,
    tolerance_ns: int,
    ignored: Set[str] = frozenset(),
) -> Compared:
    """The asked repetition, or the first in which the senders part; where they never do, the first
    in which the clients do, else the first of all.

    Raises UserError where a capture is missing or the repetition is.
    """
    common = _repetitions(pair)
    if repetition is not None and repetition not in common:
        raise UserError(
            f"{pair.label}: no repetition {repetition} in both runs",
            f"both have {_numbers(common)}",
            usage=True,
        )
    asked = common if repetition is None else [repetition]
    kept: Compared | None = None
    for here in asked:
        flows = [
            open_flow(run, _row_number(run, cell, here)) for run, cell in ((a, pair.a), (b, pair.b))
        ]
        compared = _compare(pair.label, here, flows[0], flows[1], tolerance_ns, ignored)
        if kept is None or (compared.first is not None and kept.first is None):
            kept = compared
        if compared.senders is not None:
            kept = compared
            break
    if kept is None:
        raise UserError(f"{pair.label}: no repetition in both runs", usage=True)
    return replace(kept, looked_at=asked.index(here) + 1)


def find_pair(matched: Matched, text: str) -> tuple[Pair, int | None]:
    """What `CELL[/REP]` means: the number of a cell in A, or words of its values. Raises UserError
    (usage) for none and for several.
    """
    words, slash, rest = text.rpartition("/")
    if slash and re.fullmatch("[0-9]{1,18}", rest):
        repetition: int | None = int(rest)
    else:
        words, repetition = text, None
    names = words.split()
    if len(names) == 1 and names[0].isdecimal():
        fitting = [pair for pair in matched.pairs if str(pair.a.number) == names[0]]
    else:
        fitting = [pair for pair in matched.pairs if _is_told(pair, names)]
    if len(fitting) == 1 and names:
        return fitting[0], repetition
    where = by_caller(called=f"transfer {text}", typed=f"--packets {text}")
    what = f"{where}: {count(len(fitting), 'cell')} of both runs"
    hint = [f"{pair.a.number}: {pair.label}" for pair in (fitting or matched.pairs)[:12]]
    raise UserError(
        what if fitting and names else f"{where}: no such cell in both runs",
        ["choose one by its number in A:", *hint],
        usage=True,
    )


def _is_told(pair: Pair, names: Sequence[str]) -> bool:
    values = dict(zip(("network", "config"), pair.a.point.values, strict=False))
    lost = str(pair.a.point.value("lost_segments"))
    others = {str(value) for value in pair.a.point.values if isinstance(value, str)}
    others |= {str(value) for value in values.values()}
    return all(name == lost if name.isdecimal() else name in others for name in names)


def part(
    a: Iterable[Step],
    b: Iterable[Step],
    tolerance_ns: int,
    ignored: Set[str] = frozenset(),
) -> Parting | None:
    """Where two rows of packets of one side are not alike for the first time, but for what is
    ignored (of `ASPECTS`).
    """
    mine, theirs = list(a), list(b)
    for place in range(max(len(mine), len(theirs))):
        one = mine[place] if place < len(mine) else None
        other = theirs[place] if place < len(theirs) else None
        what = tuple(name for name in _differing(one, other, tolerance_ns) if name not in ignored)
        if what:
            return Parting(place + 1, one, other, what)
    return None


def _differing(a: Step | None, b: Step | None, tolerance_ns: int) -> tuple[str, ...]:
    if a is None or b is None:
        return ("number of packets",)
    parts = {
        "range": (a.seq, a.payload_bytes) == (b.seq, b.payload_bytes),
        "flags": _without_push(a) == _without_push(b),
        "push": ("PSH" in a.flags) == ("PSH" in b.flags),
        "acknowledgement": a.from_server or (a.ack, a.sack) == (b.ack, b.sack),
        "mechanism": a.mechanism == b.mechanism,
        "fate": (a.dropped, a.lost) == (b.dropped, b.lost),
        "time": abs(at_server(a) - at_server(b)) <= tolerance_ns,
    }
    return tuple(name for name, same in parts.items() if not same)


def _without_push(step: Step) -> set[str]:
    return set(step.flags.split(", ")) - {"PSH"}


def _compare(
    label: str, repetition: int, a: Flow, b: Flow, tolerance_ns: int, ignored: Set[str]
) -> Compared:
    def side(flow: Flow, *, server: bool) -> list[Step]:
        mine = (step for step in flow.steps if step.from_server == server)
        return sorted(mine, key=at_server)

    senders = part(side(a, server=True), side(b, server=True), tolerance_ns, ignored)
    clients = part(side(a, server=False), side(b, server=False), tolerance_ns, ignored)
    if clients and senders and clients.at_ns > senders.at_ns:
        clients = None  # it answers to what the senders did
    return Compared(label, repetition, 1, a, b, tolerance_ns, senders, clients)


def _repetitions(pair: Pair) -> list[int]:
    there = [set(cell.rows["repetition"].to_list()) for cell in (pair.a, pair.b)]
    return sorted(there[0] & there[1])


def _row_number(run: Run, cell: RunCell, repetition: int) -> int:
    rows = run.transfers.with_row_index("row").filter(
        (pl.col("cell") == cell.number) & (pl.col("repetition") == repetition)
    )
    return int(rows["row"][0])


def _numbers(values: Sequence[int]) -> str:
    return f"{values[0]} to {values[-1]}" if values else "none"

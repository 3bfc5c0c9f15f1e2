"""Two rows of packets beside each other: what is alike in one line, what is not in lines of its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rexmit.comparison.packets import Compared, Parting, at_server
from rexmit.ladder.steps import Step

#: So many lines before and after the place where the two part.
BEFORE, AFTER = 5, 22


@dataclass(frozen=True)
class Row:
    """A line: a packet of A, of B, or one that both have; `late` where its times differ."""

    a: Step | None
    b: Step | None
    late: bool = False


@dataclass(frozen=True)
class Window:
    """The lines to show, and how many are left out before and after."""

    before: int
    rows: tuple[Row, ...]
    after: int


def rows(a: Sequence[Step], b: Sequence[Step], tolerance_ns: int) -> list[Row]:
    """All packets of both, each side in order of time at the server."""
    mine, theirs = (sorted(steps, key=at_server) for steps in (a, b))
    matcher = SequenceMatcher(
        None, [_key(step) for step in mine], [_key(step) for step in theirs], autojunk=False
    )
    lines: list[Row] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            for one, other in zip(mine[i1:i2], theirs[j1:j2], strict=True):
                late = abs(at_server(one) - at_server(other)) > tolerance_ns
                lines.append(Row(one, other, late))
            continue
        alone = [Row(step, None) for step in mine[i1:i2]]
        alone += [Row(None, step) for step in theirs[j1:j2]]
        lines += sorted(alone, key=_time)
    return lines


def window(compared: Compared, *, every_packet: bool) -> Window:
    """Around the place where the two part; the end where they do not."""
    every = rows(compared.a.steps, compared.b.steps, compared.tolerance_ns)
    if every_packet:
        return Window(0, tuple(every), 0)
    place = parting_row(every, compared.first)
    middle = len(every) - 1 if place is None else place
    start = max(0, middle - BEFORE)
    end = min(len(every), middle + AFTER)
    return Window(start, tuple(every[start:end]), len(every) - end)


def parting_row(every: Sequence[Row], parting: Parting | None) -> int | None:
    """The line that shows where the two part."""
    if parting is None:
        return None
    for place, row in enumerate(every):
        if (parting.a is not None and row.a is parting.a) or (
            parting.b is not None and row.b is parting.b
        ):
            return place
    return None


def _key(step: Step) -> tuple[object, ...]:
    flags = step.flags.replace("PSH, ", "")
    key = (step.from_server, step.seq, step.payload_bytes, flags)
    if step.from_server:
        return (*key, step.mechanism, step.dropped, step.lost)
    return (*key, step.ack, step.sack)


def _time(row: Row) -> int:
    return min(at_server(step) for step in (row.a, row.b) if step is not None)

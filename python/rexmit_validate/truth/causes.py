"""The kernel's record of why it sent what it sent again, and its words in ours.

The record is that of `kernel/patches/*/0003-*`; docs/notes/causes.md says how its causes map.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexmit.errors import UserError

NEW_DATA: Final = "probe-new"
"""A tail loss probe that carries new data: no retransmission, recorded for the count."""

_PLAIN: Final = {
    "timer": "rto",
    "window-timer": "rto",
    "synack-timer": "rto",
    "synack-answer": "rto",
    "probe": "tlp",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """One record."""

    flow: str
    stamp_ns: int
    """When TCP sent it, CLOCK_MONOTONIC; 0 for a SYN-ACK."""
    seq: int
    end_seq: int
    cause: str
    state: str
    """The congestion state, as `loss`."""
    numbers: Mapping[str, int]

    @property
    def text(self) -> str:
        """Cause and state in one: the kernel's own words."""
        if self.cause in ("queue", "queue-timer"):
            return f"{self.cause} {self.state}"
        return self.cause

    @property
    def segments(self) -> int:
        """Segments that it was on the wire."""
        return self.numbers["segs"]


def parse(text: str) -> list[Cause]:
    """Read the log. Raises UserError where the kernel had no room for all of it."""
    causes: list[Cause] = []
    refused = None
    for line in text.splitlines():
        words = line.split()
        if words[0] == "refused":
            refused = int(words[1])
            continue
        stamp, source, target, seq, end_seq, cause, state, *rest = words
        numbers = {name: int(value) for name, _, value in (word.partition("=") for word in rest)}
        flow = f"{source} > {target}"
        causes.append(Cause(flow, int(stamp), int(seq), int(end_seq), cause, state, numbers))
    if refused is None:
        raise UserError("the kernel's log of causes is not whole")
    if refused:
        raise UserError(f"the kernel's log of causes had no room for {refused} records")
    return causes


def mechanisms(records: Iterable[Cause]) -> list[str]:
    """The word of each record of one flow, in order."""
    words: list[str] = []
    recovery: int | None = None
    for record in records:
        word, recovery = _mechanism(record, recovery)
        words.append(word)
    return words


def _mechanism(record: Cause, recovery: int | None) -> tuple[str, int | None]:
    """The word of a record, and the recovery that retransmissions go on in after it.

    A recovery is known by its end, the highest byte sent when it began.
    """
    if record.cause in _PLAIN:
        return _PLAIN[record.cause], None
    if record.state == "loss":
        return "rto-recovery", None
    if not record.numbers["sack"]:
        return "fast-retransmit", record.numbers["high"]
    if record.numbers["rack"]:
        return "rack", record.numbers["high"]
    further = recovery == record.numbers["high"]
    return ("sack-recovery" if further else "fast-retransmit"), record.numbers["high"]


def by_flow(records: Sequence[Cause]) -> dict[str, list[Cause]]:
    """The retransmissions of each flow in the order they were sent."""
    flows: defaultdict[str, list[Cause]] = defaultdict(list)
    for record in records:
        if record.cause != NEW_DATA:
            flows[record.flow].append(record)
    return dict(flows)

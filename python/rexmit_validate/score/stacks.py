"""Whether the right sender was named for connections with enough retransmissions to tell."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.tracing.memory import Tables
from rexmit_validate.score.corpus import turned

LEAST_RETRANSMISSIONS: Final = 3
"""Connections with fewer are not judged."""

SURE: Final = 0.9
"""From this confidence on a wrong name is a wrong name with high confidence."""

RIGHT, AMONG, NONE, WRONG, SURELY_WRONG = (
    "right",
    "several, the right one among them",
    "none",
    "wrong",
    f"wrong with confidence {SURE} or more",
)
VERDICTS: Final = (RIGHT, AMONG, NONE, WRONG, SURELY_WRONG)


@dataclass(frozen=True)
class Stacks:
    """Counts of verdicts, and of (truth, claim) by family; the claim of several is their list."""

    verdicts: Counter[str]
    pairs: Counter[tuple[str, str]]

    @property
    def judged(self) -> int:
        """Connections with enough retransmissions."""
        return sum(self.verdicts.values())

    def share(self, *verdicts: str) -> float | None:
        """Of those judged; None without any."""
        return sum(self.verdicts[v] for v in verdicts) / self.judged if self.judged else None

    def __add__(self, other: Stacks) -> Stacks:
        return Stacks(self.verdicts + other.verdicts, self.pairs + other.pairs)


def family(stack: str) -> str:
    """What the analysis can tell apart: Linux 2.4, Linux before it found losses by time (RACK is
    the default since 4.18), Linux since, and the others' names.

    `linux-6.12` and `linux-6.1` are both `linux-6`, `linux-4.1` goes with `linux-3.10`;
    `windows-2000` goes with `windows-xp`, and `mac-os-x` with `freebsd-5` (the same TCP, UNC 2007,
    section IV.A).
    """
    word = stack.strip().lower()
    linux = re.fullmatch(r"linux-(\d+)(?:\.(\d+))?.*", word)
    if linux:
        release = (int(linux[1]), int(linux[2] or 0))
        return "linux-2.4" if release < (3, 0) else "linux-3" if release < (4, 18) else "linux-6"
    for begins, name in (
        ("windows-11", "windows-11"),
        ("windows", "windows-xp"),
        ("macos-15", "macos-15"),
        ("mac", "freebsd-5"),
        ("freebsd-14-rack", "freebsd-14-rack"),
        ("freebsd-14", "freebsd-14"),
        ("freebsd", "freebsd-5"),
        ("solaris", "solaris-10"),
        ("rfc", "rfc"),
    ):
        if word.startswith(begins):
            return name
    return word


def senders(connections: pl.DataFrame) -> dict[str, str]:
    """The family of the stack that sends each flow, both directions; `receiver_stack` is the other
    end's, where the corpus has it.
    """
    other = pl.col("receiver_stack" if "receiver_stack" in connections.columns else "stack")
    by_sender: dict[str, str] = {}
    for flow, sender, receiver in connections.select("flow", "stack", other.alias("r")).iter_rows():
        by_sender[flow], by_sender[turned(flow)] = family(sender), family(receiver)
    return by_sender


def judge(
    connections: pl.DataFrame,
    retransmissions: pl.DataFrame,
    claimed: Tables,
    flows: pl.Series,
) -> Stacks:
    """`connections` and `retransmissions` are the truth of one part, as one capture has it;
    `claimed` the analysis' tables. A connection that the analysis does not have counts as
    `none`.

    Each is judged as the sender in the direction in which it retransmitted most, if that is among
    `flows`.
    """
    counts = dict(retransmissions.group_by("flow").len().iter_rows())
    named, wanted = _named(claimed), set(flows)
    verdicts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    of = senders(connections)
    for flow in connections["flow"]:
        most = max((flow, turned(flow)), key=lambda way: counts.get(way, 0))
        if counts.get(most, 0) < LEAST_RETRANSMISSIONS or most not in wanted:
            continue
        truth = of[most]
        claim = named.get(most, _NOTHING)
        verdicts[_verdict(truth, claim)] += 1
        pairs[truth, claim.name or " | ".join(sorted(claim.several)) or "none"] += 1
    return Stacks(verdicts, pairs)


@dataclass(frozen=True)
class _Claim:
    """One name, or all that explain the connection."""

    name: str | None
    several: frozenset[str]
    confidence: float


_NOTHING: Final = _Claim(None, frozenset(), 0.0)


def _verdict(truth: str, claim: _Claim) -> str:
    if claim.name is not None:
        if claim.name == truth:
            return RIGHT
        return SURELY_WRONG if claim.confidence >= SURE else WRONG
    if claim.several:
        return AMONG if truth in claim.several else WRONG
    return NONE


def _named(claimed: Tables) -> dict[str, _Claim]:
    """By the direction of the data. Of connections with the same five-tuple the longest counts."""
    by_host: dict[str, _Claim] = {}
    lengths = claimed.connections.select("connection", "duration_s")
    longest_last = claimed.sides.join(lengths, on="connection", maintain_order="left").sort(
        "duration_s", maintain_order=True
    )
    columns = ("flow", "stack", "stacks", "stack_confidence")
    for flow, *claim in longest_last.select(columns).iter_rows():
        by_host[flow] = _claim(*claim)
    return by_host


def _claim(stack: str | None, stacks: str | None, confidence: float | None) -> _Claim:
    several = frozenset(family(word) for word in (stacks or "").split(",") if word.strip())
    if stack is not None and stack not in ("several", "none"):
        return _Claim(family(stack), several, confidence or 0.0)
    # Several of one family are one answer.
    name = next(iter(several)) if len(several) == 1 else None
    return _Claim(name, several, confidence or 0.0)

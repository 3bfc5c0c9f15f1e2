"""Whose the time of connections is said to be, beside whose it was by the kernel's own record.

Every instant of the directions that users waited for is judged. Where a decider cannot tell several
causes apart, the one word that it has for them is right for each; `unknown` is no claim.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit_validate.score.count import Matrix

UNKNOWN: Final = "unknown"

RIGHT: Final[Mapping[str, tuple[str, ...]]] = {
    "connecting": ("connecting",),
    "client": ("client", "late-or-lost"),
    "between-requests": ("between-requests",),
    "server": ("server", "messages", "late-or-lost"),
    # Data were on their way when its program wrote no more: the packets do not tell why.
    "program": ("sender", "client", "server", "messages", "late-or-lost"),
    "sender": ("sender",),
    "nagle": ("nagle",),
    "round-trip": ("round-trip",),
    "receiver-window": ("receiver-window",),
    # The kernel does not say what keeps its congestion window as small as it is.
    "congestion-window": ("slow-start", "small-window", "path-rate"),
    # Nor that its path is why.
    "held": ("round-trip", "slow-start", "small-window", "path-rate"),
    "recovery": ("recovery-timer", "recovery-probe", "recovery-fast", "late-or-lost"),
    "unanswered": ("unanswered", "closing"),
    "closing": ("closing",),
}
"""What may be said of time that was so by the kernel's record (docs/notes/waits.md)."""

_WORDS: Final = {
    claim: truth for truth in ("congestion-window", "recovery") for claim in RIGHT[truth]
}
"""One word for claims that are right for the same."""

_LEAST_LARGEST: Final = 0.95
"""Of two owners of nearly the same time either is the largest."""

_ORDER: Final = (*RIGHT, "tls-set-up", "policer", "path-mtu", "peer-gone", UNKNOWN)

Spans = list[tuple[int, int, str]]


@dataclass(frozen=True)
class Time:
    """`instants` counts nanoseconds, `largest` connections by the owner that has most of them."""

    instants: Matrix
    largest: Matrix

    def __add__(self, other: Time) -> Time:
        return Time(self.instants + other.instants, self.largest + other.largest)


def without_unknown(matrix: Matrix) -> Matrix:
    """Without that of which nothing is claimed."""
    counts = {pair: n for pair, n in matrix.counts.items() if pair[1] != UNKNOWN}
    return Matrix(counts, matrix.order)


def judge(truth: pl.DataFrame, account: pl.DataFrame) -> Time:
    """`truth` has `flow`, `from_ns`, `to_ns` and `owner` of each stretch in order, `account` the
    stretches of the trace's table of that name.
    """
    begun = (pl.col("evidence_ns") - pl.col("length_ns")).alias("from_ns")
    asked = account.filter("asked")
    claimed = _by_flow(asked.select("flow", begun, pl.col("evidence_ns"), "owner"))
    instants: Counter[tuple[str, str]] = Counter()
    largest: Counter[tuple[str, str]] = Counter()
    for flow, was in _by_flow(truth).items():
        of_flow: Counter[tuple[str, str]] = Counter()
        for owner, claim, length_ns in _together(was, claimed.get(flow, [])):
            of_flow[owner, _claim(owner, claim)] += length_ns
        instants += of_flow
        if of_flow:
            largest[_largest(of_flow)] += 1
    return Time(Matrix(instants, _ORDER), Matrix(largest, _ORDER))


def _claim(owner: str, claim: str) -> str:
    return owner if claim in RIGHT[owner] else _WORDS.get(claim, claim)


def _largest(counts: Counter[tuple[str, str]]) -> tuple[str, str]:
    """Whose most of a connection's time was, and whose it is said to be."""
    sums: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for pair, length_ns in counts.items():
        for words, word in zip(sums, pair, strict=True):
            words[word] += length_ns
    was, claimed = (max(sorted(words), key=lambda word: words[word]) for words in sums)
    nearly = sums[0][claimed] >= sums[0][was] * _LEAST_LARGEST
    return (claimed if nearly else was), claimed


def _by_flow(rows: pl.DataFrame) -> dict[str, Spans]:
    flows: defaultdict[str, Spans] = defaultdict(list)
    for flow, begin, end, owner in rows.iter_rows():
        flows[flow].append((begin, end, owner))
    return flows


def _together(truth: Spans, claims: Spans) -> Iterator[tuple[str, str, int]]:
    """Truth and claim of each stretch of time that has both; where the network was faster than it
    ever is otherwise, two truths overlap, and the first counts.
    """
    place, now = 0, 0
    for begin, end, owner in truth:
        now = max(now, begin)
        while now < end and place < len(claims):
            start, stop, claim = claims[place]
            length_ns = min(end, stop) - max(now, start)
            if length_ns > 0:
                yield owner, claim, length_ns
            now = max(now, min(end, stop))
            if stop > end:
                break
            place += 1

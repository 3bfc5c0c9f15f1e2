"""Two traces: the places that both have, and what differs there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import polars as pl

from rexmit.comparison.pairs import Selection
from rexmit.comparison.traces.apart import Apart, Side, apart, named
from rexmit.comparison.traces.notes import notes
from rexmit.comparison.traces.observed import Place, Quantity, Seen, none_of, observed
from rexmit.comparison.traces.places import Pair, common_servers, largest, pairs
from rexmit.tracing.folder import Trace
from rexmit.tracing.owners import LAST, NOBODY

Verdict = Literal["worse", "better", "other", "not-known", "same"]
"""Of a difference: `other` is neither good nor bad by itself, `not-known` that of single units,
which show no error, and `same` what chance makes or nobody notices.
"""

VERDICTS: Final[tuple[Verdict, ...]] = ("worse", "better", "other", "not-known", "same")

METRICS: Final = (
    *("round-trip", "data-round-trip", "loss", "retransmitted", "waited", "payload", "time"),
    *("first-byte", "total", "unanswered"),
)
"""What is compared: the first ones of connections, the others of requests. `time` is what each
owner of the account has."""

SHARES: Final = ("loss", "retransmitted", "unanswered")
"""What is a share of one. `payload` is in bytes; all else is in seconds."""

LEAST: Final = 0.01
"""A difference of less than so much of A's value is none."""

_LEAST_S: Final = 1e-5
_NEITHER: Final = (*NOBODY, *LAST)


@dataclass(frozen=True)
class Change:
    """One quantity at one place. `of` is the owner whose `time` it is. `weight_s` is what it costs
    (positive) or saves all of B's connections or requests together, None where that is no time.
    """

    place: Place
    other: Place
    metric: str
    of: str
    a: Side
    b: Side
    apart: Apart
    verdict: Verdict
    weight_s: float | None

    @property
    def percent(self) -> float | None:
        """Of A's value; None where that is nothing."""
        return self.apart.difference / self.a.value * 100 if self.a.value else None


@dataclass(frozen=True)
class TraceComparison:
    """Trace B against trace A, as `names` has them. `changes` are in order: worse, better, other,
    not known, same; the heaviest first. `places` are servers and requests that both have.
    """

    a: Trace
    b: Trace
    names: tuple[str, str]
    metrics: tuple[str, ...]
    places: tuple[Place, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    notes: tuple[str, ...]
    changes: tuple[Change, ...]

    def judged(self, verdict: Verdict) -> tuple[Change, ...]:
        """The changes with a verdict."""
        return tuple(one for one in self.changes if one.verdict == verdict)

    @property
    def identical(self) -> bool:
        """Nothing differs at all."""
        return all(one.apart.difference == 0 for one in self.changes)


def compare(
    a: Trace,
    b: Trace,
    names: tuple[str, str],
    selection: Selection,
    metrics: Sequence[str] = METRICS,
) -> TraceComparison:
    """`selection` is by `observed.AXES`. Raises UserError (usage) where nothing is in common."""
    servers = common_servers(a, b, names, selection)
    seen = [observed(trace, ends) for trace, ends in zip((a, b), servers.common, strict=True)]
    every, only_a, only_b = pairs(seen[0], seen[1], names, selection)
    common = largest(every)
    raw = [one for pair in common for one in _measured(pair) if one.metric in metrics]
    differences = [_apart(one) for one in raw]
    real = named([one.chance if one.difference else None for one in differences])
    judged = zip(raw, differences, real, strict=True)
    changes = [_judged(one, difference, is_real=is_real) for one, difference, is_real in judged]
    return TraceComparison(
        a,
        b,
        names,
        tuple(metrics),
        tuple(pair.place for pair in common),
        (*servers.only_a, *map(str, only_a)),
        (*servers.only_b, *map(str, only_b)),
        (*_of_many(common, every), *notes(a, b, names, common)),
        tuple(sorted(changes, key=_order)),
    )


@dataclass(frozen=True)
class _Raw:
    """A quantity at both places, before it is judged."""

    pair: Pair
    metric: str
    of: str
    a: Side
    b: Side


def _of_many(found: Sequence[Pair], every: Sequence[Pair]) -> Iterator[str]:
    if len(found) < len(every):
        yield (
            f"of {len(every):,} servers and kinds of requests the {len(found):,} are compared that "
            "have most connections and requests"
        )


def _measured(pair: Pair) -> Iterator[_Raw]:
    for metric, of in _either(pair.a.measured, pair.b.measured):
        a, b = (_side(seen, metric, of) for seen in (pair.a, pair.b))
        if a is not None and b is not None:
            yield _Raw(pair, metric, of, a, b)


def _side(seen: Seen, metric: str, of: str) -> Side | None:
    """An owner without a row has no time, where there is an account at all."""
    has_account = any(name == "time" for name, _ in seen.measured)
    missing = none_of(seen.units) if metric == "time" and has_account else None
    return seen.measured.get((metric, of), missing)


def _either(a: Iterable[Quantity], b: Iterable[Quantity]) -> list[Quantity]:
    return sorted({*a, *b}, key=lambda one: (METRICS.index(one[0]), one[1]))


def _apart(raw: _Raw) -> Apart:
    difference = apart(raw.a, raw.b)
    if raw.metric not in SHARES or difference.low is None or difference.high is None:
        return difference
    return replace(difference, low=max(difference.low, -1.0), high=min(difference.high, 1.0))


def _judged(raw: _Raw, difference: Apart, *, is_real: bool) -> Change:
    verdict: Verdict = "same"
    least = 0.0 if raw.metric in (*SHARES, "payload") else _LEAST_S
    if abs(difference.difference) > max(LEAST * abs(raw.a.value), least):
        if difference.chance is None:
            verdict = "not-known"
        elif is_real and (raw.metric == "payload" or raw.of in _NEITHER):
            verdict = "other"
        elif is_real:
            verdict = "worse" if difference.difference > 0 else "better"
    pair, weight_s = raw.pair, _weight_s(raw, difference.difference)
    return Change(
        pair.place, pair.other, raw.metric, raw.of, raw.a, raw.b, difference, verdict, weight_s
    )


def _weight_s(raw: _Raw, difference: float) -> float | None:
    """A round trip counts once a connection, at the least; a loss as what was waited for it."""
    if raw.metric in ("payload", "unanswered"):
        return None
    if raw.metric not in SHARES:
        return difference * raw.b.n
    waited = [seen.measured.get(("waited", "")) for seen in (raw.pair.a, raw.pair.b)]
    if waited[0] is None or waited[1] is None:
        return None
    return (waited[1].value - waited[0].value) * waited[1].n


def _order(one: Change) -> tuple[int, float, int]:
    """By the weight to two digits: of differences that are one, the cause comes first. What has no
    time of its own, a request without an answer, comes before all.
    """
    weight_s = math.inf if one.metric == "unanswered" else abs(one.weight_s or 0.0)
    return VERDICTS.index(one.verdict), -float(f"{weight_s:.1e}"), _CAUSES.index(one.metric)


_CAUSES: Final = sorted(METRICS, key=lambda one: one not in ("time", "total", "first-byte"))


def table(comparison: TraceComparison) -> pl.DataFrame:
    """A row for each change, in their order."""
    rows = [
        {
            "verdict": one.verdict,
            "host": one.place.host,
            "port": one.place.port,
            "path": one.place.path or None,
            "metric": one.metric,
            "owner": one.of or None,
            "a": one.a.value,
            "a_n": one.a.n,
            "b": one.b.value,
            "b_n": one.b.n,
            "difference": one.apart.difference,
            "low": one.apart.low,
            "high": one.apart.high,
            "percent": one.percent,
            "chance": one.apart.chance,
            "weight_s": one.weight_s,
        }
        for one in comparison.changes
    ]
    return pl.DataFrame(rows, infer_schema_length=None)

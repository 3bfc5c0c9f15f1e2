"""What is said of two traces: what got worse, what better, and every quantity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rexmit.comparison.gate import Gate
from rexmit.comparison.traces.apart import Side
from rexmit.comparison.traces.compare import (
    SHARES,
    VERDICTS,
    Change,
    TraceComparison,
    Verdict,
    table,
)
from rexmit.result.blocks import (
    BLANK,
    Block,
    Column,
    Facts,
    Grid,
    Line,
    Paragraph,
    heading,
    note,
)
from rexmit.statistics.interval import LEVEL
from rexmit.tracing.folder import Trace
from rexmit.tracing.terms import OWNERS
from rexmit.tracing.words import share, size, span
from rexmit.wording import NONE, count, signed_percent

_SHOWN: Final = 10
"""So many changes a heading has unless all are asked for; so many names a sentence."""

_HEADS: Final[dict[Verdict, str]] = {
    "worse": "What got worse",
    "better": "What got better",
    "other": "What else changed",
    "not-known": "What differs from a single one, and may be chance",
    "same": "What did not change, as far as it is to be seen",
}

_STYLES: Final[dict[Verdict, str]] = {"worse": "red", "better": "green", "other": "yellow"}

WORDS: Final = {
    "round-trip": "round trip of the handshake",
    "data-round-trip": "round trip of data, median",
    "loss": "payload lost",
    "retransmitted": "payload sent again",
    "waited": "waited for retransmissions",
    "payload": "payload",
    "first-byte": "time to the first byte of the answer",
    "total": "time to the last byte of the answer",
    "unanswered": "requests without an answer",
}


def changes_blocks(comparison: TraceComparison, *, every: bool) -> Iterator[Block]:
    """Both traces, what to know before, what changed, and in the end one line. `every`: a table of
    all quantities behind it.
    """
    traces = (comparison.a, comparison.b)
    for letter, name, trace in zip("AB", comparison.names, traces, strict=True):
        yield heading(f"{letter}: {name}: {_holds(trace)}")
    yield from (Paragraph(text, kind="note: ") for text in comparison.notes)
    for verdict in VERDICTS[:-1]:
        yield from _of_verdict(comparison.judged(verdict), verdict)
    yield from _alone(comparison)
    if every:
        yield BLANK
        yield _table(comparison.changes)
    yield BLANK
    yield from map(note, _RULES)
    yield heading(summary(comparison))


_RULES: Final = (
    "In front: what it costs (+) or saves (-) all connections or requests of B together",
    f"In brackets: B minus A, its {LEVEL:.0%} interval, and of how many in A and in B",
    "Worse or better: by more than chance, among all that is compared, and by 1% of A at least",
)


def summary(comparison: TraceComparison) -> str:
    """`24 quantities of 1 server and 3 kinds of requests: 2 worse, 1 better, 21 as before`."""
    servers = sum(not place.path for place in comparison.places)
    kinds = len(comparison.places) - servers
    where = [count(servers, "server")] if servers else []
    where += [f"{kinds:,} {'kind' if kinds == 1 else 'kinds'} of requests"] if kinds else []
    compared = f"{len(comparison.changes):,} quantities of {' and '.join(where)}"
    if comparison.identical:
        return f"{compared}: nothing differs"
    numbers = {verdict: len(comparison.judged(verdict)) for verdict in VERDICTS}
    words = {"other": "changed", "not-known": "perhaps", "same": "as before"}
    parts = (f"{n:,} {words.get(name, name)}" for name, n in numbers.items() if n)
    return f"{compared}: {', '.join(parts)}"


def sentence(one: Change) -> str:
    """`10.0.0.1:80, payload lost: 3.2%, before 0.1% (+3.1 points; …; n 8, 8)`."""
    place = str(one.place) if one.place == one.other else f"{one.place} and {one.other}"
    apart = one.apart
    parts = [signed(one.metric, apart.difference)]
    if apart.low is not None and apart.high is not None:
        parts.append(f"{signed(one.metric, apart.low)} to {signed(one.metric, apart.high)}")
    parts.append(f"n {one.a.n:,}, {one.b.n:,}")
    here = value(one.metric, one.b) + _each(one)
    return f"{place}, {what(one)}: {here}, before {value(one.metric, one.a)} ({'; '.join(parts)})"


def what(one: Change) -> str:
    """The quantity in words."""
    return OWNERS.get(one.of, one.of) if one.metric == "time" else WORDS[one.metric]


def _each(one: Change) -> str:
    return " a connection" if one.metric in ("time", "waited", "payload") else ""


def value(metric: str, side: Side) -> str:
    """In the unit that suits it."""
    if metric in SHARES:
        return share(side.value, 1)
    return size(round(side.value)) if metric == "payload" else span(side.value)


def signed(metric: str, difference: float) -> str:
    """A difference, with its sign; of shares in points."""
    sign = "-" if difference < 0 else "+"
    if metric in SHARES:
        return f"{difference * 100:+.2f} points"
    words = size(round(abs(difference))) if metric == "payload" else span(abs(difference))
    return f"{sign}{words}"


def changes_data(comparison: TraceComparison, gate: Gate | None) -> dict[str, Any]:
    """For `--json`: times in seconds, shares of one, null where there is none; `gate` is null
    without `--worse-than`.
    """
    traces = zip("ab", comparison.names, (comparison.a, comparison.b), strict=True)
    return {
        **{
            letter: {"of": name, "captures": trace.captures, "packets": trace.facts.packets}
            for letter, name, trace in traces
        },
        "metrics": list(comparison.metrics),
        "confidence": LEVEL,
        "summary": summary(comparison),
        "notes": list(comparison.notes),
        "only_in_a": list(comparison.only_a),
        "only_in_b": list(comparison.only_b),
        "changes": table(comparison).to_dicts(),
        "gate": None if gate is None else gate.as_json(),
    }


def _holds(trace: Trace) -> str:
    connections = trace.scan("connections").collect().height
    return f"{count(trace.facts.packets, 'packet')}, {count(connections, 'connection')}"


def _of_verdict(changes: Sequence[Change], verdict: Verdict) -> Iterator[Block]:
    if not changes:
        return
    yield BLANK
    yield heading(_HEADS[verdict])
    yield Facts(tuple((_weight(one), sentence(one)) for one in changes[:_SHOWN]))
    if len(changes) > _SHOWN:
        yield note(f"and {len(changes) - _SHOWN:,} more (--all)")


def _weight(one: Change) -> str:
    return NONE if one.weight_s is None else signed("time", one.weight_s)


def _alone(comparison: TraceComparison) -> Iterator[Block]:
    alone = [(x, y) for x, y in (("A", comparison.only_a), ("B", comparison.only_b)) if y]
    if alone:
        yield BLANK
    for letter, labels in alone:
        more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
        yield Paragraph(f"only in {letter}: {', '.join(labels[:_SHOWN])}{more}")


def _table(changes: Sequence[Change]) -> Grid:
    columns = (
        Column("quantity"),
        *(Column(head, right=True, before=2) for head in ("A", "n", "B", "n", "B - A", "")),
        Column("interval", right=True, before=2),
        Column("verdict", before=2),
    )
    lines = []
    for place in sorted({one.place for one in changes}):
        lines.append(Line((str(place),), "bold", across=True))
        lines += [_line(one) for one in changes if one.place == place]
    return Grid(columns, tuple(lines))


def _line(one: Change) -> Line:
    apart = one.apart
    ends = NONE
    if apart.low is not None and apart.high is not None:
        ends = f"{signed(one.metric, apart.low)} to {signed(one.metric, apart.high)}"
    texts = (
        f"  {what(one)}{_each(one).replace(' ', ', ', 1)}",
        *(text for side in (one.a, one.b) for text in (value(one.metric, side), f"{side.n:,}")),
        signed(one.metric, apart.difference),
        signed_percent(one.percent),
        ends,
        one.verdict,
    )
    return Line(texts, _STYLES.get(one.verdict, ""))

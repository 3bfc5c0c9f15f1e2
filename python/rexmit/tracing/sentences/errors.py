"""What the two ends said was wrong: statuses of HTTP that are errors, fatal alerts of TLS."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.tracing.folder import Trace
from rexmit.tracing.owners import ALERT
from rexmit.tracing.sentences.value import Sentence, connections
from rexmit.values import dataclass
from rexmit.wording import count

_LEAST: Final = 400
"""Statuses from here on are errors (RFC 9110 section 15)."""

_ERROR: Final = pl.col("status") >= _LEAST

_ALERTED: Final = pl.col("alert").is_not_null()

MOST: Final = 4
"""Statuses, and alerts, that are named."""


@dataclass(frozen=True)
class Errors:
    """Answers of HTTP/1 that are errors: `answers` of all `seen` with a status, in `connections`;
    and connections that were `alerted`, whose TLS handshake a fatal alert ended. How many have each
    status, and each alert, the most frequent first.
    """

    seen: int
    connections: int
    statuses: tuple[tuple[str, int], ...]
    alerts: tuple[tuple[str, int], ...]

    @property
    def answers(self) -> int:
        """Answers that are errors."""
        return sum(number for _, number in self.statuses)

    @property
    def alerted(self) -> int:
        """Connections that an alert ended."""
        return sum(number for _, number in self.alerts)


def errors(trace: Trace) -> tuple[pl.LazyFrame, ...]:
    """What `summed` takes, each of one pass."""
    answers = trace.scan("requests").filter(pl.col("status").is_not_null())
    failed = pl.col("connection").filter(_ERROR).n_unique()
    return (
        answers.select(pl.len().alias("seen"), failed.alias("connections")),
        _each(answers.filter(_ERROR).select(pl.col("status").cast(pl.String).alias("what"))),
        _each(trace.scan("connections").filter(_ALERTED).select(ALERT.alias("what"))),
    )


def _each(rows: pl.LazyFrame) -> pl.LazyFrame:
    number = rows.group_by("what").agg(pl.len().alias("number"))
    return number.sort("number", "what", descending=[True, False])


def summed(seen: pl.DataFrame, statuses: pl.DataFrame, alerts: pl.DataFrame) -> Errors:
    """`Errors` of what was read."""
    return Errors(
        **seen.row(0, named=True),
        statuses=tuple(statuses.iter_rows()),
        alerts=tuple(alerts.iter_rows()),
    )


def said(one: Errors, every: int) -> list[Sentence]:
    """A sentence for each of the two that there is."""
    sentences = []
    if one.alerted:
        text = f"{connections(one.alerted, every)}: {_named(one.alerts)}"
        sentences.append(
            Sentence(
                text, "connections", lambda rows: rows.height == one.alerted, _ALERTED, "TLS alert"
            )
        )
    if one.answers:
        text = (
            f"{one.answers:,} of {count(one.seen, 'answer')} of HTTP, in "
            f"{connections(one.connections, every)}: {_named(one.statuses)}"
        )
        sentences.append(
            Sentence(
                text, "requests", lambda rows: rows.height == one.answers, _ERROR, "HTTP errors"
            )
        )
    return sentences


def _named(each: tuple[tuple[str, int], ...]) -> str:
    if len(each) == 1:
        return each[0][0]
    named = ", ".join(f"{what} ({number:,})" for what, number in each[:MOST])
    rest = len(each) - MOST
    return f"{named} and {rest:,} more" if rest > 0 else named

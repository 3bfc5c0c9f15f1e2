"""A connection's packets as tables: what each is, in words too, and what runs beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexmit.ladder.render import is_shut, told_marks
from rexmit.ladder.said import KEPT_OPEN
from rexmit.ladder.steps import Step
from rexmit.webpage.beside import Series, series

_COLUMNS: Final = {
    "at": pl.Float64,
    "sent": pl.Float64,
    "arrived": pl.Float64,
    "from_server": pl.Boolean,
    "seq": pl.Int64,
    "length": pl.Int64,
    "ack": pl.Int64,
    "window": pl.Int64,
    "flags": pl.String,
    "mechanism": pl.String,
    "need": pl.String,
    "gone": pl.String,
    "mark": pl.String,
    "words": pl.String,
}
"""Times in seconds since the first packet: `at` the sender of the data, where it was `sent`, where
it `arrived`. `length` counts SYN and FIN. `gone` is dropped, lost, or nothing; `mark` is what a
ladder writes beside the numbers: how it opens or closes, a keep-alive, a window of nothing."""


@dataclass(frozen=True)
class Drawn:
    """Which packets, and how they are to be read.

    `words` says what is known of the step of a number that was sent again. `timers` are timers that
    ran out, measured: time and length in seconds.
    """

    steps: Sequence[Step]
    data_from_server: bool
    words: Callable[[int], str]
    timers: Sequence[tuple[float, float]] = ()
    has_options: bool = True
    """What SYNs offered is known."""

    @property
    def scale(self) -> int | None:
        """The shift of the windows that answer the data; 0 where a side did not offer it, None
        where a SYN was not seen (RFC 7323 §2.2, values above 14 are 14: §2.3).
        """
        offered = {
            step.from_server: step.window_scale for step in self.steps if "SYN" in step.flags
        }
        if len(offered) < 2 or not self.has_options:
            return None
        theirs = offered[not self.data_from_server]
        return 0 if None in offered.values() or theirs is None else min(theirs, 14)


def tables(drawn: Drawn) -> dict[str, pl.DataFrame]:
    """The packets in order of `at`, their SACK blocks by the packets' rows, and the series."""
    order = sorted(
        range(len(drawn.steps)),
        key=lambda i: drawn.steps[i].at_ns(from_server=drawn.data_from_server),
    )
    rows = [_row(i, drawn) for i in order]
    blocks = [
        (place, left, right) for place, i in enumerate(order) for left, right in drawn.steps[i].sack
    ]
    steps = [drawn.steps[i] for i in order]
    at = [row[0] for row in rows]
    beside = series(steps, at, data_from_server=drawn.data_from_server, scale=drawn.scale)
    return {
        "packets": pl.DataFrame(rows, schema=_COLUMNS, orient="row"),
        "sack": pl.DataFrame(
            blocks, schema={"packet": pl.Int64, "left": pl.Int64, "right": pl.Int64}, orient="row"
        ),
        **{name: _frame(one) for name, one in beside.items()},
        "timers": _frame(drawn.timers),
    }


def _frame(points: Series) -> pl.DataFrame:
    return pl.DataFrame(list(points), schema={"at": pl.Float64, "value": pl.Float64}, orient="row")


def _row(number: int, drawn: Drawn) -> tuple[Any, ...]:
    step = drawn.steps[number]
    return (
        step.at_ns(from_server=drawn.data_from_server) / 1e9,
        _seconds(step.sent_ns),
        _seconds(step.arrived_ns),
        step.from_server,
        step.seq,
        step.used,
        step.ack,
        step.window,
        step.flags,
        step.mechanism,
        step.need if step.mechanism else None,
        "dropped" if step.dropped else "lost" if step.lost else None,
        _mark(step),
        _words(number, step, drawn.words),
    )


def _mark(step: Step) -> str | None:
    words = [flag for flag in ("SYN", "FIN", "RST") if flag in step.flags]
    words += [step.kind] if step.kind in KEPT_OPEN else []
    words += ["window 0"] if is_shut(step) else []
    return "  ".join(words) or None


def _words(number: int, step: Step, words_of: Callable[[int], str]) -> str | None:
    parts = [words_of(number)] if step.mechanism else [step.kind] if step.kind else []
    parts += ["dropped by the loss rule"] if step.dropped else ["lost"] if step.lost else []
    return "; ".join([*parts, *told_marks(step)]) or None


def _seconds(at_ns: int | None) -> float | None:
    return None if at_ns is None else at_ns / 1e9


def about(
    title: str, facts: Sequence[str], drawn: Drawn, command: str, **more: object
) -> Mapping[str, Any]:
    """What a page says of a connection beside its packets."""
    return {
        "title": title,
        "facts": list(facts),
        "data_from_server": drawn.data_from_server,
        "scaled": drawn.scale is not None,
        "command": command,
        **more,
    }

"""Senders that the windows of their peers held up: windows that were closed, and full ones."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from rexmit.store.trace_schema import SIDES
from rexmit.tracing import sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.value import Sentence, connections, times
from rexmit.tracing.words import span
from rexmit.values import dataclass


@dataclass(frozen=True)
class HeldUp:
    """A sender that its peer's window held up. `number` is the connection's row in
    connections.parquet; `sender` and `receiver` are the ends, the receiver being the one that
    offered the window. It closed it `times` times, for `closed_s` in all, in which the sender sent
    `probes`; for `full_s` it was open and full. `share` is that of both in the connection's
    duration.
    """

    number: int
    capture: str
    sender: str
    receiver: str
    times: int
    closed_s: float
    probes: int
    full_s: float
    duration_s: float
    share: float | None


def held_up(trace: Trace) -> pl.LazyFrame:
    """`HeldUp` for each sender that there is, held up or not."""
    return pl.concat(_held_up(trace, side) for side in SIDES)


def sums(senders: pl.LazyFrame) -> pl.LazyFrame:
    """How many connections were held up, and how long, of all senders together."""
    return senders.select(
        _connections(pl.col("times") > 0).alias("with_zero_window"),
        pl.col("closed_s").sum().alias("zero_window_s"),
        _connections(pl.col("full_s") > 0).alias("with_full_window"),
        pl.col("full_s").sum().alias("window_full_s"),
    )


def _connections(held_up: pl.Expr) -> pl.Expr:
    """How many there are of which either direction is held up."""
    return pl.col("number").filter(held_up).n_unique()


def _held_up(trace: Trace, side: str) -> pl.LazyFrame:
    """The senders in one direction, and the windows that their peers offered them."""
    other = SIDES[side == SIDES[0]]
    sender, receiver = (
        (sides.CLIENT, sides.SERVER) if side == SIDES[0] else (sides.SERVER, sides.CLIENT)
    )
    closed_s, full_s = pl.col(f"{other}_zero_window_s"), pl.col(f"{side}_window_full_s")
    full_s = full_s.fill_null(0.0)
    share = pl.when(pl.col("duration_s") > 0).then((closed_s + full_s) / pl.col("duration_s"))
    columns = ("zero_windows", "zero_window_s", "window_full_s", "window_probes")
    return sides.beside(trace.numbered(), trace, *columns).select(
        "number",
        "capture",
        sender.alias("sender"),
        receiver.alias("receiver"),
        pl.col(f"{other}_zero_windows").alias("times"),
        closed_s.alias("closed_s"),
        pl.col(f"{side}_window_probes").alias("probes"),
        full_s.alias("full_s"),
        "duration_s",
        share.alias("share"),
    )


def said_closed(number: int, length_s: float, worst: HeldUp, every: int) -> Sentence:
    """Of `number` connections with closed windows; `worst` is the one whose was closed longest."""
    text = connections(number, every)
    if number > 1:
        text += f": receivers closed their windows, for {span(length_s)} in all"
    text += f"{'; longest' if number > 1 else ':'} {_closed(worst)}"
    closed = pl.col("zero_windows") > 0
    return Sentence(
        text, "sides", _sums_to(number, "zero_window_s", length_s), closed, "zero window"
    )


def said_full(number: int, length_s: float, worst: HeldUp, every: int) -> Sentence:
    """Of `number` connections with full windows; `worst` is the one whose was full longest."""
    text = connections(number, every)
    if number > 1:
        text += (
            f": the receiver's window was full, for {span(length_s)} in all; longest that of "
            f"{worst.receiver}, to which {worst.sender} had more to send, {span(worst.full_s)}"
        )
    else:
        text += (
            f": the window of {worst.receiver} was full, and {worst.sender} had more to send, for "
            f"{span(worst.full_s)}"
        )
    full = pl.col("window_full_s") > 0
    return Sentence(text, "sides", _sums_to(number, "window_full_s", length_s), full, "window full")


def _sums_to(number: int, column: str, length_s: float) -> Callable[[pl.DataFrame], bool]:
    """So many connections, and so long in all."""
    return lambda rows: (
        rows["connection"].n_unique() == number
        and abs(float(rows[column].sum()) - length_s) < 1e-6 * max(length_s, 1)
    )


def _closed(worst: HeldUp) -> str:
    """Who closed its window, how often, for how long."""
    if not worst.times:
        return f"{worst.receiver}, whose window was closed for {span(worst.closed_s)}"
    text = f"{worst.receiver} closed its window {times(worst.times)}, for {span(worst.closed_s)}"
    return f"{text}, and was probed {times(worst.probes)}" if worst.probes else text

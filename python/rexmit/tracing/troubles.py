"""What went wrong in connections beside retransmissions: windows, handshakes, resets."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences import errors, handshakes, resets, windows
from rexmit.tracing.sentences.errors import Errors
from rexmit.tracing.sentences.handshakes import Failed
from rexmit.tracing.sentences.resets import Resets
from rexmit.tracing.sentences.windows import HeldUp
from rexmit.values import dataclass

MOST: Final = 10
"""So many of each kind are told, the worst ones."""


@dataclass(frozen=True)
class Troubles:
    """What went wrong beside retransmissions: the worst of each kind, and the numbers of all.
    `longest_closed` and `longest_full` are the senders that were held up longest by a window that
    was closed, and by a full one.
    """

    held_up: tuple[HeldUp, ...]
    longest_closed: HeldUp | None
    longest_full: HeldUp | None
    with_zero_window: int
    zero_window_s: float
    with_full_window: int
    window_full_s: float
    failed: tuple[Failed, ...]
    unanswered: int
    refused: int
    unreachable: int
    half_open: int
    resets: tuple[Resets, ...]
    reset: int
    errors: Errors


def troubles(trace: Trace, most: int = MOST) -> Troubles:
    """Reads the connections once for each kind."""
    senders = windows.held_up(trace)
    both_s = pl.col("closed_s") + pl.col("full_s")

    def worst(of: pl.Expr, number: int) -> pl.LazyFrame:
        order = senders.filter(of > 0).sort(of, "number", descending=[True, False])
        return order.head(number)

    tables = pl.collect_all(
        [
            worst(both_s, most),
            worst(pl.col("closed_s"), 1),
            worst(pl.col("full_s"), 1),
            windows.sums(senders),
            handshakes.failed(trace),
            resets.resets(trace),
            *errors.errors(trace),
        ]
    )
    held_up, closed, full = (
        tuple(HeldUp(**row) for row in table.to_dicts()) for table in tables[:3]
    )
    by_kind = dict(tables[4].group_by("handshake").agg(pl.col("connections").sum()).iter_rows())
    return Troubles(
        held_up=held_up,
        longest_closed=next(iter(closed), None),
        longest_full=next(iter(full), None),
        **tables[3].row(0, named=True),
        failed=tuple(Failed(**row) for row in tables[4].head(most).to_dicts()),
        unanswered=by_kind.get("unanswered", 0),
        refused=by_kind.get("refused", 0),
        unreachable=by_kind.get("unreachable", 0),
        half_open=by_kind.get("half-open", 0),
        resets=tuple(Resets(**row) for row in tables[5].head(most).to_dicts()),
        reset=int(tables[5]["connections"].sum()),
        errors=errors.summed(tables[6], tables[7], tables[8]),
    )

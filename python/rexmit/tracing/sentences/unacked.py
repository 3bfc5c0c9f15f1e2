"""What no setting can save: data of which no copy was acknowledged before the connection ended.

What the packets prove of it stands in `sides`: how often its first byte was sent, how often of
those nothing that its peer sent can be an answer, and how large packets were that came through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from rexmit.tracing import sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.words import span
from rexmit.values import dataclass
from rexmit.wording import count

LEAST_COPIES: Final = 2
"""One copy without an answer may be lost, and the capture may end before its answer comes."""

_sends, _unanswered = pl.col("unacked_sends"), pl.col("unanswered_sends")

LARGER: Final = (
    (pl.col("acked_size_bytes") > 0)
    & (pl.col("unacked_size_bytes") > pl.col("acked_size_bytes"))
    & (_sends > LEAST_COPIES)
    & (pl.col("position") != "receiver").fill_null(value=True)
)
"""Rows of `sides`: the packet is larger than each that was acknowledged, it was sent again at least
twice, and the monitor does not stand where the copies arrived."""

KINDS: Final = {
    "path MTU": LARGER & (_unanswered < _sends),
    "no answer": (_unanswered >= LEAST_COPIES) & ~(LARGER & (_unanswered < _sends)),
}
"""What may be said of which rows of `sides`: that what is as large does not arrive, since the peer
still answered when it had been sent; that the peer stopped answering."""


@dataclass(frozen=True)
class Unacked:
    """Connections of a kind, and of the one whose sender tried longest: its sender, how often the
    first byte that was never acknowledged was sent, the size of the smallest packet that carried it
    (0: not known), that of the largest packet that was acknowledged, and how long nothing came from
    its peer.
    """

    kind: str
    connections: int
    flow: str
    sends: int
    size_bytes: int
    acked_bytes: int
    silent_s: float


def unacked(trace: Trace) -> tuple[Unacked, ...]:
    """Of each kind that there is."""
    rows = (
        trace.scan("sides")
        .filter(_sends.is_not_null())
        .select(
            pl.coalesce(pl.when(rows).then(pl.lit(kind)) for kind, rows in KINDS.items()).alias(
                "kind"
            ),
            "connection",
            "direction",
            _sends.alias("sends"),
            pl.col("unacked_size_bytes").alias("size_bytes"),
            pl.col("acked_size_bytes").alias("acked_bytes"),
            pl.col("unanswered_s").alias("silent_s"),
        )
        .filter(pl.col("kind").is_not_null())
        .sort("silent_s", "connection", descending=[True, False])
        .with_columns(pl.col("connection").n_unique().over("kind").alias("connections"))
        .unique("kind", keep="first", maintain_order=True)
        .join(trace.scan("connections").select("connection", "flow"), on="connection")
        .select(pl.exclude("connection", "direction", "flow"), sides.FLOW.alias("flow"))
        .sort("kind", descending=True)
        .collect()
    )
    return tuple(Unacked(**row) for row in rows.to_dicts())


def said(every: Sequence[Unacked]) -> list[Sentence]:
    """A sentence for each kind, of the rows of `sides` that `KINDS` has for it."""
    return [
        Sentence(_text(one), "sides", _connections(one.connections), KINDS[one.kind], one.kind)
        for one in every
    ]


def _connections(number: int) -> Callable[[pl.DataFrame], bool]:
    return lambda rows: rows["connection"].n_unique() == number


def _text(one: Unacked) -> str:
    whom = f"{one.flow}: "
    if one.connections > 1:
        whom = f"{count(one.connections, 'connection')}; longest {whom}"
    if one.kind == "path MTU":
        return (
            f"{whom}nothing larger than {one.acked_bytes:,} bytes arrives: at least "
            f"{one.size_bytes:,} bytes were sent {one.sends:,} times and never acknowledged, "
            "and the peer still answered after the first time"
        )
    text = (
        f"{whom}the peer stopped answering: what was next was sent {one.sends:,} times, and "
        f"nothing came from the peer for {span(one.silent_s)}"
    )
    if 0 < one.acked_bytes < one.size_bytes:
        largest = f"no packet of more than {one.acked_bytes:,} bytes"
        text += f"; {largest} was ever acknowledged, so it may be the path's MTU, too"
    return text

"""Which frames of the captures the rows of retransmissions are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit import _core
from rexmit.errors import UserError
from rexmit.progress import Progress
from rexmit.sources import Capture
from rexmit.tracing import terms
from rexmit.tracing.folder import Trace

_SLACK_NS: Final = 1000
"""Seconds as a number are not exact."""

_BY_ACKS: Final = (*terms.BY_ACKS, "rto-recovery")
"""What an acknowledgement brings on; a timer makes the others."""

_ROW: Final = (
    "connection",
    "direction",
    "flow",
    "time_ns",
    "seq_start",
    "copy",
    "mechanism",
    "confidence",
    "runner_up",
    "runner_up_confidence",
    "either",
    "need",
    "need_confidence",
    "evidence",
    "episode_cause",
    "detection_s",
    "waited_s",
    "timer_s",
    "first_flow",
    "first_subflow",
)


@dataclass(frozen=True)
class Places:
    """`files` are the captures in the order in which they begin, with the number of packets of
    each; frames are counted from 1 through all of them, as in the copy. `rows` are those of the
    retransmissions whose packet was found, in the order of their `frame`; `before` is the frame of
    the copy before it, `trigger` that of the acknowledgement that made the sender send it, each
    null where it is not known. `missing` retransmissions were not found.
    """

    files: list[tuple[Capture, int]]
    rows: pl.DataFrame
    missing: int


def find(
    trace: Trace, captures: Sequence[Capture], expression: str | None, progress: Progress
) -> Places:
    """Reads the captures again for the frames. Raises UserError where they cannot be read."""
    rows = _rows(trace)
    try:
        files, columns = _core.find_frames(
            list(captures),
            {
                name: rows[name].to_list()
                for name in ("flow", "time_ns", "seq_start", "since_ns", "heard_by_ns")
            },
            filter=expression,
            report=progress.advance,
        )
    except OSError as error:
        raise UserError(f"cannot be read again: {error}") from error
    now = sum(packets for _, packets in files)
    if now != trace.facts.packets:
        raise UserError(
            f"{', '.join(map(str, captures))}: {now:,} packets, and {trace.facts.packets:,} when "
            "they were analysed: what is there has changed",
            "analyse the captures again, once nobody writes them any more",
        )
    names = ("frame", "before", "trigger")
    rows = rows.with_columns(
        pl.Series(name, column, pl.Int64) for name, column in zip(names, columns, strict=True)
    )
    places = rows.filter(pl.col("frame").is_not_null()).sort("frame", maintain_order=True)
    return Places(
        [(captures[file], packets) for file, packets in files], places, rows.height - places.height
    )


def _rows(trace: Trace) -> pl.DataFrame:
    """The retransmissions with what says where to look for them."""
    began = (pl.col("start_s") * 1e9).floor().cast(pl.Int64) - _SLACK_NS
    since = trace.scan("connections").select("connection", since_ns=began.clip(lower_bound=0))
    stood = trace.scan("sides").select("connection", "direction", "position", "monitor_delay_s")
    # What a sender next to the monitor sent it sent after what came by before.
    delay = pl.when(pl.col("position") == "sender").then(0.0).otherwise(pl.col("monitor_delay_s"))
    heard_by = pl.col("time_ns") - (delay * 1e9).round().cast(pl.Int64)
    return (
        trace.scan("retransmissions")
        .select(*_ROW)
        .join(since, on="connection", how="left", maintain_order="left")
        .join(stood, on=["connection", "direction"], how="left", maintain_order="left")
        .with_columns(
            heard_by_ns=pl.when(pl.col("mechanism").is_in(_BY_ACKS)).then(heard_by),
            since_ns=pl.col("since_ns").fill_null(0),
        )
        .collect()
    )

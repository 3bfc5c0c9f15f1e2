"""What an analysis claims of a capture's retransmissions, in one form whoever makes the claim.

A frame of claims has a row for each packet that is said to carry something again:

| column | |
|---|---|
| flow | direction of the data, `A > B` |
| time_ns | when the capture has the packet |
| seq_start, seq_end | 32-bit numbers of the wire, half-open |
| mechanism | what made the sender retransmit; null where nothing is said |
| pair | where the answer is one of two that the packets do not tell apart: both, as `rto\\|tlp` |
| need | needed, spurious, unknown |
| confidence | probability that the mechanism is right, of a pair that either is; null where none is
given |
| certainty | probability that it is a retransmission at all; null where none is given |
| need_confidence | probability that the need is right; null where none is given |
"""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.store.trace_schema import MECHANISMS

SCHEMA: Final[dict[str, pl.DataType]] = {
    "flow": pl.String(),
    "time_ns": pl.Int64(),
    "seq_start": pl.Int64(),
    "seq_end": pl.Int64(),
    "mechanism": pl.String(),
    "pair": pl.String(),
    "need": pl.String(),
    "confidence": pl.Float64(),
    "certainty": pl.Float64(),
    "need_confidence": pl.Float64(),
}


def of_trace(retransmissions: pl.DataFrame) -> pl.DataFrame:
    """Claims out of the `retransmissions` rows of `rexmit trace`."""
    two = pl.concat_list(pl.col("mechanism", "runner_up").cast(pl.Enum(MECHANISMS)))
    either = (pl.col("either") & pl.col("runner_up").is_not_null()).fill_null(value=False)
    both = pl.col("confidence") + pl.col("runner_up_confidence").fill_null(0.0)
    return retransmissions.select(
        "flow",
        pl.col("time_ns").cast(pl.Int64),
        pl.col("seq_start").cast(pl.Int64),
        pl.col("seq_end").cast(pl.Int64),
        pl.col("mechanism").cast(pl.String),
        pl.when(either).then(two.list.sort().cast(pl.List(pl.String)).list.join("|")).alias("pair"),
        pl.col("need").cast(pl.String),
        pl.when(either).then(both).otherwise("confidence").cast(pl.Float64).alias("confidence"),
        pl.col("certainty").cast(pl.Float64),
        pl.col("need_confidence").cast(pl.Float64),
    )

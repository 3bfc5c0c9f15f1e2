"""What an analysis claims of a capture's retransmissions, in one form whoever makes the claim.

A frame of claims has a row for each packet that is said to carry something again:

| column | |
|---|---|
| flow | direction of the data, `A > B` |
| time_ns | when the capture has the packet |
| seq_start, seq_end | 32-bit numbers of the wire, half-open |
| mechanism | what made the sender retransmit; null where nothing is said |
| either | the answer is `tlp\\|rto`: the wire cannot tell which of the two |
| need | needed, spurious, unknown |
| confidence | probability that the mechanism is right, of `tlp\\|rto` that either is; null where
none is given |
| certainty | probability that it is a retransmission at all; null where none is given |
| need_confidence | probability that the need is right; null where none is given |
"""

from __future__ import annotations

from typing import Final

import polars as pl

SCHEMA: Final[dict[str, pl.DataType]] = {
    "flow": pl.String(),
    "time_ns": pl.Int64(),
    "seq_start": pl.Int64(),
    "seq_end": pl.Int64(),
    "mechanism": pl.String(),
    "either": pl.Boolean(),
    "need": pl.String(),
    "confidence": pl.Float64(),
    "certainty": pl.Float64(),
    "need_confidence": pl.Float64(),
}

EITHER: Final = "tlp|rto"
"""The answer where one packet was out and the probe's timer is the timeout's."""

EITHER_OF: Final = ("tlp", "rto")


def of_trace(retransmissions: pl.DataFrame) -> pl.DataFrame:
    """Claims out of the `retransmissions` rows of `rexmit trace`."""
    # Probes and timeouts alone fall together; between others the likelier is the claim.
    either = (
        pl.col("either")
        & pl.col("mechanism").is_in(EITHER_OF)
        & pl.col("runner_up").is_in(EITHER_OF)
    ).fill_null(value=False)
    both = pl.col("confidence") + pl.col("runner_up_confidence").fill_null(0.0)
    return retransmissions.select(
        "flow",
        pl.col("time_ns").cast(pl.Int64),
        pl.col("seq_start").cast(pl.Int64),
        pl.col("seq_end").cast(pl.Int64),
        pl.col("mechanism").cast(pl.String),
        either.alias("either"),
        pl.col("need").cast(pl.String),
        pl.when(either).then(both).otherwise("confidence").cast(pl.Float64).alias("confidence"),
        pl.col("certainty").cast(pl.Float64),
        pl.col("need_confidence").cast(pl.Float64),
    )

"""Which claim belongs to which retransmission: the same capture, flow and time, and a range that
overlaps.

Captures in microseconds cut the time, and a number of seconds since 1970 holds it to a fraction of
a microsecond: `NEAR_NS` apart is the same time. A packet with many segments (GSO) can be several
retransmissions, and one retransmission several rows: a retransmission takes the claim that covers
most of it, and a claim is invented only where it covers no part of any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

NEAR_NS: Final = 1_500
_BUCKET_NS: Final = 2 * NEAR_NS
_SPACE: Final = 1 << 32


@dataclass(frozen=True)
class Joined:
    """`retransmissions` are the truth's rows with the claim's columns as `claimed_…` (null:
    missed), `invented` the claims without a retransmission.
    """

    retransmissions: pl.DataFrame
    invented: pl.DataFrame


def join(truth: pl.DataFrame, claims: pl.DataFrame) -> Joined:
    """Both of one capture; `truth` has `at_ns`."""
    truth = truth.with_row_index("truth_row")
    claims = claims.with_row_index("claim_row")
    near = pl.concat_list(*((pl.col("at_ns") // _BUCKET_NS) + step for step in (-1, 0, 1)))
    pairs = (
        truth.select("truth_row", "flow", "at_ns", "seq_start", "seq_end", near.alias("bucket"))
        .explode("bucket")
        .join(
            claims.select(
                "claim_row",
                "flow",
                "time_ns",
                (pl.col("time_ns") // _BUCKET_NS).alias("bucket"),
                pl.col("seq_start").alias("from"),
                pl.col("seq_end").alias("to"),
            ),
            on=["flow", "bucket"],
        )
        .with_columns(
            (pl.col("time_ns") - pl.col("at_ns")).abs().alias("apart"), _overlap().alias("overlap")
        )
        .filter(pl.col("apart") <= NEAR_NS, pl.col("overlap") > 0)
        .sort("truth_row", "overlap", "apart", "claim_row", descending=[False, True, False, False])
    )
    best = pairs.group_by("truth_row", maintain_order=True).first().select("truth_row", "claim_row")
    renamed = claims.rename({c: f"claimed_{c}" for c in claims.columns if c != "claim_row"})
    return Joined(
        retransmissions=truth.join(best, on="truth_row", how="left")
        .join(renamed, on="claim_row", how="left")
        .sort("truth_row")
        .with_columns(pl.col("claim_row").is_null().alias("missed"))
        .drop("truth_row", "claim_row"),
        invented=claims.filter(~pl.col("claim_row").is_in(pairs["claim_row"].implode())).drop(
            "claim_row"
        ),
    )


def _overlap() -> pl.Expr:
    """How many numbers both ranges have; they may lie across the wrap of the sequence space."""
    mine = (pl.col("seq_end") - pl.col("seq_start")) % _SPACE
    other = (pl.col("to") - pl.col("from")) % _SPACE
    ahead = (pl.col("from") - pl.col("seq_start")) % _SPACE
    behind = (pl.col("seq_start") - pl.col("from")) % _SPACE
    return (
        pl.when(ahead < mine)
        .then(pl.min_horizontal(mine - ahead, other))
        .when(behind < other)
        .then(pl.min_horizontal(other - behind, mine))
        .otherwise(0)
    )

"""Where copies of retransmissions were lost: what points together say, beside the truth.

Of a retransmission that came by at one point, that is the word for the stretch to the next point,
if it was lost there, else `came by`: so is one of which no row of `followed` says that it was lost.
It need not be known there for a retransmission: the copy before may have been lost before the first
point. What lies beyond the last point, points do not show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import polars as pl

from rexmit_validate.score.count import Matrix

CAME_BY: Final = "came by"
_SPACE: Final = 1 << 32


def judge(truth: pl.DataFrame, followed: pl.DataFrame, points: Sequence[str]) -> Matrix:
    """`points` are those of the captures in the order in which the data pass them, `truth` the
    retransmissions of such data that the first of them has, `followed` what was found.
    """
    losses = followed.filter(pl.col("lost").is_not_null()).select(
        "flow",
        pl.col("time_ns").alias("at_ns"),
        pl.col("seq_start").alias("from"),
        pl.col("seq_end").alias("to"),
        pl.col("lost").alias("claim"),
    )
    rows = truth.select("flow", "at_ns", "seq_start", "seq_end", _place(points).alias("truth"))
    rows = rows.with_row_index("row")
    ahead = (pl.col("from") - pl.col("seq_start")) % _SPACE
    behind = (pl.col("seq_start") - pl.col("from")) % _SPACE
    # A packet that a network card cuts up is lost where a part of it is.
    meets = (ahead < (pl.col("seq_end") - pl.col("seq_start")) % _SPACE) | (
        behind < (pl.col("to") - pl.col("from")) % _SPACE
    )
    lost = rows.join(losses, on=["flow", "at_ns"], how="inner").filter(meets)
    claims = lost.unique("row", keep="first", maintain_order=True).select("row", "claim")
    counts: Counter[tuple[str, str]] = Counter()
    pairs = rows.join(claims, on="row", how="left").select(
        "truth", pl.col("claim").fill_null(CAME_BY)
    )
    for place, claim in pairs.iter_rows():
        counts[place, claim] += 1
    return Matrix(counts, (*_stretches(points), CAME_BY))


def _stretches(points: Sequence[str]) -> list[str]:
    return [f"{one} to {other}" for one, other in pairwise(points)]


def _place(points: Sequence[str]) -> pl.Expr:
    lost: pl.Expr = pl.lit(CAME_BY)
    # The first point that it did not come by at tells.
    for stretch, beyond in reversed(list(zip(_stretches(points), points[1:], strict=True))):
        lost = pl.when(pl.col(f"{beyond}_ns").is_null()).then(pl.lit(stretch)).otherwise(lost)
    return lost

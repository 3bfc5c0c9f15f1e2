"""One summary per cell: how many transfers count, their mean and spread, what repaired them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from rexmit.analysis.axes import SWEPT, Group, Value
from rexmit.analysis.leave_out import NOT_PROBED, Reason, reason


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n - 1) in seconds; None where n is too small for it."""

    n: int
    mean_s: float | None
    sd_s: float | None


@dataclass(frozen=True)
class Cell:
    """What the transfers of one network, configuration, group and number of lost segments did.

    `t_total`, `t_recover` are over the transfers `used`; `first_retransmission`,
    `spurious_retransmissions` over all of them.
    """

    network: str
    config: str
    group: Group
    lost_segments: int
    transfers: int
    used: int
    left_out: dict[Reason, int]
    t_total: Spread
    t_recover: Spread
    t_total_printed: Spread  #: until the FIN is sent again, of the transfers that have them
    t_recover_printed: Spread  #: until the first dropped segment is
    first_retransmission: dict[str, int]  #: mechanism -> transfers, most first
    no_retransmission: int  #: transfers in which nothing dropped was sent again
    spurious_retransmissions: int | None  #: sum; None when no transfer of the cell could tell
    not_probed: int  #: used although isTLP is false, because the line loses by itself
    held: dict[str, Value]  #: columns of `axes.SWEPT` with one value in all of its transfers

    @property
    def first_words(self) -> list[str]:
        """`97 tlp`, `3 none`: what made the first retransmissions, and how many had none."""
        words = [f"{n} {mechanism}" for mechanism, n in self.first_retransmission.items()]
        return words + ([f"{self.no_retransmission} none"] if self.no_retransmission else [])


def summarise(
    transfers: pl.DataFrame, groups: Iterable[Group], *, keep_inexact: bool = False
) -> list[Cell]:
    """The cells of a frame made by `axes.with_axes`, in the order of the grid."""
    frame = transfers.with_columns(reason(keep_inexact=keep_inexact))
    cells = []
    for group in groups:
        for part in frame.filter(group.filter()).partition_by(
            ["network", "config", "lost_segments"], maintain_order=True
        ):
            cells.append(_cell(part, group))
    return cells


def spread(values: pl.Series) -> Spread:
    """Nulls do not count."""
    known = [float(v) for v in values.drop_nulls()]
    n = len(known)
    if n == 0:
        return Spread(0, None, None)
    # fsum, so that the figure does not depend on the order of the rows
    mean = math.fsum(known) / n
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in known) / (n - 1)) if n > 1 else None
    return Spread(n, mean, sd)


def _cell(part: pl.DataFrame, group: Group) -> Cell:
    used = part.filter(pl.col("left_out").is_null())
    left_out = dict(part.drop_nulls("left_out").group_by("left_out").len().iter_rows())
    retransmissions = (
        part.drop_nulls("mechanism")
        .group_by("mechanism")
        .len()
        .sort(["len", "mechanism"], descending=[True, False])
    )
    spurious = part["spurious_retransmissions"].drop_nulls()
    return Cell(
        network=part["network"][0],
        config=part["config"][0],
        group=group,
        lost_segments=int(part["lost_segments"][0]),
        transfers=part.height,
        used=used.height,
        left_out={r: left_out[r.value] for r in Reason if r.value in left_out},
        t_total=spread(used["t_total_s"]),
        t_recover=spread(used["t_recover_s"]),
        t_total_printed=spread(used["t_total_printed_s"]),
        t_recover_printed=spread(used["t_recover_printed_s"]),
        first_retransmission=dict(retransmissions.iter_rows()),
        no_retransmission=int(part["mechanism"].null_count()),
        spurious_retransmissions=int(spurious.sum()) if len(spurious) else None,
        not_probed=used.filter(NOT_PROBED).height,
        held={name: part[name][0] for name in SWEPT if part[name].n_unique() == 1},
    )

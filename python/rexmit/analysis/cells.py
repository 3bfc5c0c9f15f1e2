"""One summary per cell: how many transfers count, how long they took, what repaired them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import polars as pl

from rexmit.analysis.axes import SWEPT, AxisGroup, Value
from rexmit.analysis.leave_out import Reason, not_probed, reason, to_be_probed
from rexmit.analysis.units import Units, units_of
from rexmit.statistics.spread import Spread, spread
from rexmit.store.open_run import Run


@dataclass(frozen=True)
class Cell:
    """What the transfers of one network, configuration, group and number of lost segments did.

    `t_total`, `t_recover`, `client` are over the transfers `used`; `first_retransmission`,
    `spurious_retransmissions` over all of them.
    """

    network: str
    config: str
    group: AxisGroup
    lost_segments: int
    transfers: int
    used: int
    left_out: dict[Reason, int]
    t_total: Spread
    t_recover: Spread
    client: Spread  #: connect to end of file at the client
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
    run: Run, transfers: pl.DataFrame, groups: Iterable[AxisGroup], *, keep_inexact: bool = False
) -> list[Cell]:
    """The cells of a run's transfers, or of some, made by `axes.with_axes`, in the order of the
    grid.
    """
    probed, units = to_be_probed(run.scenario), units_of(run)
    frame = transfers.with_columns(reason(probed, keep_inexact=keep_inexact))
    cells = []
    for group in groups:
        for part in frame.filter(group.filter()).partition_by(
            ["network", "config", "lost_segments"], maintain_order=True
        ):
            cells.append(_cell(part, group, probed, units))
    return cells


def _cell(
    part: pl.DataFrame, group: AxisGroup, to_be_probed: Collection[str], units: Units
) -> Cell:
    network = str(part["network"][0])
    used = part.filter(pl.col("left_out").is_null())
    left_out = dict(part.drop_nulls("left_out").group_by("left_out").len().iter_rows())
    retransmissions = (
        part.drop_nulls("mechanism")
        .group_by("mechanism")
        .len()
        .sort(["len", "mechanism"], descending=[True, False])
    )
    spurious = part["spurious_retransmissions"].drop_nulls()
    unit, source = units.column(used), units.source(network)
    endless = left_out.get(Reason.INCOMPLETE.value, 0)
    return Cell(
        network=network,
        config=part["config"][0],
        group=group,
        lost_segments=int(part["lost_segments"][0]),
        transfers=part.height,
        used=used.height,
        left_out={r: left_out[r.value] for r in Reason if r.value in left_out},
        t_total=spread(used["t_total_s"], unit, source, endless),
        t_recover=spread(used["t_recover_s"], unit, source),
        client=spread(used["client_s"], unit, source, endless),
        t_total_printed=spread(used["t_total_printed_s"], unit, source),
        t_recover_printed=spread(used["t_recover_printed_s"], unit, source),
        first_retransmission=dict(retransmissions.iter_rows()),
        no_retransmission=int(part["mechanism"].null_count()),
        spurious_retransmissions=int(spurious.sum()) if len(spurious) else None,
        not_probed=used.filter(not_probed(to_be_probed)).height,
        held={name: part[name][0] for name in SWEPT if part[name].n_unique() == 1},
    )

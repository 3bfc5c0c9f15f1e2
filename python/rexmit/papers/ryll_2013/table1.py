"""Table 1 of the paper from a run: what repairs the rest of a lost tail once the probe is out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from rexmit.analysis.axes import Group, groups, with_axes
from rexmit.analysis.leave_out import LOSSY, reason
from rexmit.analysis.losses import check_losses
from rexmit.errors import UserError, by_caller
from rexmit.papers.ryll_2013 import paper
from rexmit.store.open_run import Run

#: The order of mechanisms in one transfer, neighbours that are the same taken together: ("tlp",
#: "rack").
Sequence = tuple[str, ...]

PROBE = "tlp"

#: What only goes on with a recovery that another mechanism has begun.
CONTINUES = "sack-recovery"


@dataclass(frozen=True)
class Row:
    """All transfers of configuration `tlp` with this tail lost, in one network and group.

    `sequences` counts how the retransmissions followed each other, most frequent first; () stands
    for no retransmission at all.
    """

    network: str
    group: Group
    repair: paper.Repair
    lost_segments: tuple[int, ...]  #: the numbers that the row takes together
    dropped_packets: tuple[int, ...]  #: a FIN of its own counts here
    transfers: int
    left_out: int  #: incomplete, stalled or inexact: not in the counts
    first_retransmission: dict[str, int]
    sequences: dict[Sequence, int]
    lossy: bool  #: the line loses packets of its own

    @property
    def probed(self) -> int:
        """Transfers whose first retransmission was the probe."""
        return self.first_retransmission.get(PROBE, 0)

    @property
    def after_probe(self) -> dict[Sequence, int]:
        """What followed the probe, in the transfers that began with it: () for nothing."""
        counts: Counter[Sequence] = Counter()
        for sequence, n in self.sequences.items():
            if sequence[:1] == (PROBE,):
                counts[sequence[1:]] += n
        return _most_first(counts)

    @property
    def as_in_paper(self) -> bool | None:
        """Whether the most frequent sequel of the probe is the paper's, which names what begins the
        recovery; None where there was no probe.
        """
        if not self.after_probe:
            return None
        then = next(iter(self.after_probe))
        if self.repair.mechanism is None:
            return then == ()
        return then[:1] == (self.repair.mechanism,) and set(then[1:]) <= {CONTINUES}


@dataclass(frozen=True)
class Table1:
    """Rows by network, group and number of lost segments (five and more in one row, as printed)."""

    config: str
    rows: tuple[Row, ...]


def table1(run: Run, lost_segments: int | None = None, *, keep_inexact: bool = False) -> Table1:
    """With a number of lost segments only its row. Raises UserError when the run has no transfer of
    configuration `tlp` with (that many) segments lost.
    """
    losing = with_axes(run.transfers).filter(
        (pl.col("config") == paper.TLP) & (pl.col("lost_segments") > 0)
    )
    if losing.is_empty():
        configs = ", ".join(run.transfers["config"].unique(maintain_order=True))
        raise UserError(
            f"Table 1 is about configuration `{paper.TLP}` losing segments: none here",
            f"the run has configuration {configs}; run one with "
            + by_caller(
                called='{"config": "tlp", "loss.segments": "1..5"} in `settings`',
                typed="`--set config=tlp --set loss.segments=1..5`",
            ),
        )
    every_group = groups(losing)
    if lost_segments is not None:
        there = tuple(sorted(losing["lost_segments"].unique()))
        check_losses(lost_segments, there, f"transfer of `{paper.TLP}` for Table 1")
        losing = losing.filter(pl.col("lost_segments") == lost_segments)
    frame = losing.with_columns(
        reason(keep_inexact=keep_inexact),
        pl.col("lost_segments").clip(1, len(paper.TABLE_1)).alias("row"),
    ).join(
        _sequences(run.retransmissions(), losing),
        on=["cell", "repetition"],
        how="left",
        maintain_order="left",
    )
    rows = [
        _row(part, group)
        for network in frame["network"].unique(maintain_order=True)
        for group in every_group
        for part in frame.filter((pl.col("network") == network) & group.filter())
        .sort("row", maintain_order=True)
        .partition_by("row", maintain_order=True)
    ]
    return Table1(paper.TLP, tuple(rows))


def _sequences(retransmissions: pl.DataFrame, losing: pl.DataFrame) -> pl.DataFrame:
    """(cell, repetition, sequence): mechanisms that retransmitted the tail, in order of time,
    without repeats.

    A line that loses by itself makes the sender retransmit other data as well. The tail was sent
    for the first time at the drop or later, and begins with the first byte known to be needed
    again.
    """
    transfer = ("cell", "repetition")
    since = (pl.col("time_s") >= pl.col("t_drop_s")).fill_null(True)
    new = (pl.col("first_sent_s") >= pl.col("t_drop_s")).fill_null(True)
    needed = pl.col("seq").filter(pl.col("need") == "needed").min().over(transfer)
    return (
        retransmissions.join(losing.select(*transfer, "t_drop_s"), on=transfer, how="inner")
        .filter(since & new)
        .filter((pl.col("seq") >= needed).fill_null(True))
        .sort(*transfer, "time_s", maintain_order=True)
        .with_columns(pl.col("mechanism").fill_null("unknown"))
        .filter(pl.col("mechanism").ne_missing(pl.col("mechanism").shift().over(transfer)))
        .group_by(transfer, maintain_order=True)
        .agg(pl.col("mechanism").alias("sequence"))
    )


def _row(part: pl.DataFrame, group: Group) -> Row:
    # Transfers without a probe stay in: that the probe was not chosen is what this table is to
    # show.
    counted = part.filter(pl.col("left_out").is_null())
    sequences = Counter(tuple(s) if s is not None else () for s in counted["sequence"].to_list())
    firsts = Counter(s[0] for s in sequences.elements() if s)
    repair = paper.repair_of(int(part["row"][0]))
    assert repair is not None  # noqa: S101 - rows without loss are filtered
    return Row(
        network=part["network"][0],
        group=group,
        repair=repair,
        lost_segments=tuple(sorted(part["lost_segments"].unique())),
        dropped_packets=tuple(sorted(counted["dropped_packets"].unique())),
        transfers=counted.height,
        left_out=part.height - counted.height,
        first_retransmission=dict(sorted(firsts.items(), key=lambda item: (-item[1], item[0]))),
        sequences=_most_first(sequences),
        lossy=bool(part.select(LOSSY.any()).item()),
    )


def _most_first(counts: Counter[Sequence]) -> dict[Sequence, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

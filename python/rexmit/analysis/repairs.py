"""What retransmitted the lost tail of a run's transfers, in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rexmit.analysis.axes import AxisGroup, groups, with_axes
from rexmit.analysis.leave_out import LOSSY, reason
from rexmit.analysis.losses import check_losses
from rexmit.errors import UserError
from rexmit.store.open_run import Run

#: The order of mechanisms in one transfer, neighbours that are the same taken together: ("tlp",
#: "rack").
Mechanisms = tuple[str, ...]


@dataclass(frozen=True)
class Repair:
    """All transfers of one configuration with this tail lost, in one network and group.

    `sequences` counts how the retransmissions followed each other, most frequent first; () stands
    for no retransmission at all.
    """

    network: str
    group: AxisGroup
    config: str
    lost_segments: tuple[int, ...]  #: the numbers that the row takes together
    dropped_packets: tuple[int, ...]  #: a FIN of its own counts here
    transfers: int
    left_out: int  #: incomplete, stalled or inexact: not in the counts
    sequences: dict[Mechanisms, int]
    lossy: bool  #: the line loses packets of its own

    @property
    def first_retransmission(self) -> dict[str, int]:
        """Transfers by the mechanism of their first retransmission, most frequent first."""
        firsts: Counter[str] = Counter()
        for sequence, n in self.sequences.items():
            if sequence:
                firsts[sequence[0]] += n
        return dict(sorted(firsts.items(), key=lambda item: (-item[1], item[0])))


def repairs(
    run: Run,
    lost_segments: int | None = None,
    *,
    config: str | None = None,
    keep_inexact: bool = False,
) -> tuple[Repair, ...]:
    """A row for each network, group, configuration and number of lost segments; with a number or a
    `config` only its rows. Raises UserError when the run has no such transfer with (that many)
    segments lost.
    """
    losing = with_axes(run.transfers).filter(pl.col("lost_segments") > 0)
    if config is not None:
        losing = losing.filter(pl.col("config") == config)
    if losing.is_empty():
        raise UserError(
            f"{run.path}: no transfer lost a segment", "`rexmit show` has the times of the run"
        )
    every_group = groups(losing)
    if lost_segments is not None:
        what = "transfer" if config is None else f"transfer of `{config}`"
        check_losses(lost_segments, tuple(sorted(losing["lost_segments"].unique())), what)
        losing = losing.filter(pl.col("lost_segments") == lost_segments)
    frame = losing.with_columns(reason(keep_inexact=keep_inexact)).join(
        _sequences(run.retransmissions(), losing),
        on=["cell", "repetition"],
        how="left",
        maintain_order="left",
    )
    return tuple(
        _repair(part, group)
        for network in frame["network"].unique(maintain_order=True)
        for group in every_group
        for config in frame["config"].unique(maintain_order=True)
        for part in frame.filter(
            (pl.col("network") == network) & (pl.col("config") == config) & group.filter()
        )
        .sort("lost_segments", maintain_order=True)
        .partition_by("lost_segments", maintain_order=True)
    )


def together(rows: Sequence[Repair]) -> Repair:
    """Rows of one network, group and configuration as one."""
    sequences: Counter[Mechanisms] = Counter()
    for row in rows:
        sequences.update(row.sequences)
    return Repair(
        network=rows[0].network,
        group=rows[0].group,
        config=rows[0].config,
        lost_segments=tuple(sorted({n for row in rows for n in row.lost_segments})),
        dropped_packets=tuple(sorted({n for row in rows for n in row.dropped_packets})),
        transfers=sum(row.transfers for row in rows),
        left_out=sum(row.left_out for row in rows),
        sequences=most_first(sequences),
        lossy=any(row.lossy for row in rows),
    )


def alike(rows: Iterable[Repair]) -> list[Repair]:
    """Neighbours of one network, group and configuration whose transfers repaired their tails in
    the same ways, as one row.
    """
    runs: list[list[Repair]] = []
    for row in rows:
        if runs and _ways(runs[-1][-1]) == _ways(row):
            runs[-1].append(row)
        else:
            runs.append([row])
    return [together(same) for same in runs]


def _ways(row: Repair) -> tuple[object, ...]:
    return row.network, row.group, row.config, row.sequences.keys()


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


def _repair(part: pl.DataFrame, group: AxisGroup) -> Repair:
    # What was not probed stays in, whatever means leave out: this is to show what was chosen.
    counted = part.filter(pl.col("left_out").is_null())
    sequences = Counter(tuple(s) if s is not None else () for s in counted["sequence"].to_list())
    return Repair(
        network=part["network"][0],
        group=group,
        config=part["config"][0],
        lost_segments=tuple(sorted(part["lost_segments"].unique())),
        dropped_packets=tuple(sorted(counted["dropped_packets"].unique())),
        transfers=counted.height,
        left_out=part.height - counted.height,
        sequences=most_first(sequences),
        lossy=bool(part.select(LOSSY.any()).item()),
    )


def most_first(counts: Counter[Mechanisms]) -> dict[Mechanisms, int]:
    """The most frequent first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def repairs_data(rows: Iterable[Repair]) -> list[dict[str, Any]]:
    """A sequence is a list of mechanisms in order of time, empty for no retransmission."""
    return [repair_data(row) for row in rows]


def repair_data(row: Repair) -> dict[str, Any]:
    """A row as plain data."""
    return {
        "network": row.network,
        "group": dict(row.group.values),
        "config": row.config,
        "lost_segments": list(row.lost_segments),
        "dropped_packets": list(row.dropped_packets),
        "transfers": row.transfers,
        "left_out": row.left_out,
        "first_retransmission": row.first_retransmission,
        "sequences": sequences_data(row.sequences),
        "line_loses_by_itself": row.lossy,
    }


def sequences_data(counts: dict[Mechanisms, int]) -> list[dict[str, Any]]:
    """How often each sequence was, as plain data."""
    return [{"mechanisms": list(sequence), "transfers": n} for sequence, n in counts.items()]

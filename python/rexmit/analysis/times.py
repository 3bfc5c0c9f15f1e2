"""How long a run's transfers took: mean times, and what each configuration gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from rexmit.analysis.axes import AxisGroup, groups, with_axes
from rexmit.analysis.cells import Cell, summarise
from rexmit.analysis.losses import check_losses
from rexmit.analysis.network import Setting, setting_of
from rexmit.errors import UserError, argument
from rexmit.statistics.estimate import Estimate, relative
from rexmit.statistics.spread import NOTHING, Spread, spread_data
from rexmit.store.open_run import Run

MEASURES = ("t_total", "t_recover")
TIMES = (*MEASURES, "client")


@dataclass(frozen=True)
class Entry:
    """One time of one configuration; `gain` is what it is off the baseline's mean, as a share of
    that (None for itself).
    """

    config: str
    spread: Spread
    gain: Estimate | None

    @property
    def percent(self) -> float | None:
        """The gain in percent."""
        return None if self.gain is None else self.gain.value * 100


@dataclass(frozen=True)
class Block:
    """One network, group of other settings and number of lost segments. `cells` are by
    configuration; one that has no transfer here is not in it.
    """

    network: str
    setting: Setting
    group: AxisGroup
    lost_segments: int
    configs: tuple[str, ...]
    cells: Mapping[str, Cell]
    t_total: tuple[Entry, ...]
    t_recover: tuple[Entry, ...]
    client: tuple[Entry, ...]

    def entries(self, measure: str) -> Mapping[str, Entry]:
        """Those of one time, by configuration."""
        entries: tuple[Entry, ...] = getattr(self, measure)
        return {entry.config: entry for entry in entries}


@dataclass(frozen=True)
class Times:
    """All blocks. `lost_segments` are the numbers that they are of, out of `losses_in_run`."""

    lost_segments: tuple[int, ...]
    losses_in_run: tuple[int, ...]
    baseline: str
    blocks: tuple[Block, ...]


def percent(value: float | None, reference: float | None) -> float | None:
    """(value - reference) / reference in percent; None if it has none."""
    if value is None or reference is None or reference == 0:
        return None
    return (value - reference) / reference * 100


def times(
    run: Run,
    lost_segments: int | None = None,
    *,
    baseline: str | None = None,
    keep_inexact: bool = False,
) -> Times:
    """For so many lost segments. Without a number for each that the run has, or where it varies
    other settings as well for the largest. Percentages are against `baseline`, by default the first
    configuration. Raises UserError for a number or a baseline that the run does not have.
    """
    losses = tuple(sorted(int(n) for n in run.transfers["lost_segments"].unique()))
    configs = tuple(run.transfers["config"].unique(maintain_order=True))
    if lost_segments is not None:
        check_losses(lost_segments, losses)
    if baseline is not None and baseline not in configs:
        raise UserError(
            f"{argument('baseline')} {baseline}: the run has no such configuration",
            f"it has {', '.join(configs)}",
        )
    base = baseline or configs[0]
    frame = with_axes(run.transfers)
    every_group = groups(frame)
    if lost_segments is not None:
        wanted: tuple[int, ...] = (lost_segments,)
    else:
        wanted = losses if len(every_group) == 1 else losses[-1:]
    cells = summarise(
        run,
        frame.filter(pl.col("lost_segments").is_in(wanted)),
        every_group,
        keep_inexact=keep_inexact,
    )
    blocks = []
    for network in run.transfers["network"].unique(maintain_order=True):
        setting = setting_of(run.scenario, network)
        for group in every_group:
            for lost in wanted:
                mine = {
                    cell.config: cell
                    for cell in cells
                    if (cell.network, cell.group, cell.lost_segments) == (network, group, lost)
                }
                if mine:
                    every = (_entries(measure, configs, base, mine) for measure in TIMES)
                    here = setting.beside(group)
                    blocks.append(Block(network, here, group, lost, configs, mine, *every))
    return Times(wanted, losses, base, tuple(blocks))


def _entries(
    measure: str, configs: tuple[str, ...], baseline: str, cells: Mapping[str, Cell]
) -> tuple[Entry, ...]:
    def spread(config: str) -> Spread:
        measured: Spread = getattr(cells[config], measure) if config in cells else NOTHING
        return measured

    base = spread(baseline).estimate
    return tuple(
        Entry(
            config,
            spread(config),
            None if config == baseline else relative(spread(config).estimate, base),
        )
        for config in configs
    )


def times_data(table: Times) -> dict[str, Any]:
    """Times in seconds, percentages in percent, null where there is none."""
    return {
        "lost_segments": list(table.lost_segments),
        "lost_segments_in_run": list(table.losses_in_run),
        "baseline": table.baseline,
        "blocks": [block_data(block) for block in table.blocks],
    }


def block_data(block: Block) -> dict[str, Any]:
    """A block as plain data."""
    every = {measure: block.entries(measure) for measure in TIMES}
    return {
        "network": block.network,
        "rate_bps": block.setting.rate_bps,
        "rtt_ms": block.setting.rtt_ms,
        "group": dict(block.group.values),
        "lost_segments": block.lost_segments,
        "configs": [
            {
                "config": config,
                **{measure: _entry(entries[config]) for measure, entries in every.items()},
                **_counts(block.cells.get(config)),
            }
            for config in block.configs
        ],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {**spread_data(entry.spread), **gain_data(entry.gain)}


def gain_data(gain: Estimate | None) -> dict[str, Any]:
    """What a mean is off another, in percent of it, as plain data."""
    interval = None if gain is None else gain.interval
    smallest = None if gain is None else gain.smallest
    return {
        "percent": None if gain is None else gain.value * 100,
        "percent_interval": None if interval is None else interval.times(100).data,
        "decided": None if gain is None else gain.decided,
        "smallest_percent": None if smallest is None else smallest * 100,
    }


def _counts(cell: Cell | None) -> dict[str, Any]:
    if cell is None:
        return {"transfers": 0, "used": 0, "left_out": {}}
    return {
        "transfers": cell.transfers,
        "used": cell.used,
        "left_out": {reason.value: n for reason, n in cell.left_out.items()},
        "used_though_not_probed": cell.not_probed,
        "first_retransmission": cell.first_retransmission,
        "no_retransmission": cell.no_retransmission,
        "spurious_retransmissions": cell.spurious_retransmissions,
    }

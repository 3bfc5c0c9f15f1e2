"""How narrow the intervals of a run are while it is being made: when `until` has been met."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import polars as pl

from rexmit.analysis.leave_out import reason, to_be_probed
from rexmit.campaign.grid import Cell
from rexmit.scenario import Scenario, effective
from rexmit.scenario.units import share_text
from rexmit.statistics.spread import spread

if TYPE_CHECKING:
    from rexmit.campaign.rounds import Round

LEAST_SEEDS: Final = 5
"""Of fewer an interval is wider than what it is of, and may be narrow by luck."""


@dataclass(slots=True)
class Precision:
    """The values of t_total of every cell, each with its seed. Half the interval of their mean is
    to be within a share of it.
    """

    scenario: Scenario
    within: float
    _cells: dict[int, tuple[Cell, list[float], list[int]]] = field(default_factory=dict)

    def add(self, part: Round, transfers: pl.DataFrame) -> None:
        """The transfers of a cell under one seed."""
        cell = part.cell
        links = self.scenario.networks[cell.network].link_specs(cell.line_loss)
        rows = transfers.with_columns(
            pl.lit(cell.config).alias("config"),
            pl.lit(max(link.mean_loss for link in links)).alias("line_loss"),
        )
        probed = to_be_probed(effective(self.scenario))
        times = rows.filter(reason(probed).is_null())["t_total_s"].drop_nulls().to_list()
        _, values, seeds = self._cells.setdefault(cell.id, (cell, [], []))
        values += times
        seeds += [part.seed] * len(times)

    def widest(self) -> tuple[str, float] | None:
        """The cell whose interval is the widest beside its mean, and by how much: infinite where
        there is none yet. None where no cell has a time.
        """
        widths = []
        for cell, values, seeds in self._cells.values():
            estimate = spread(values, seeds).estimate
            if estimate is not None and estimate.value:
                half = estimate.half
                widths.append((cell.label, float("inf") if half is None else half / estimate.value))
        return max(widths, key=lambda one: one[1], default=None)

    @property
    def least_seeds(self) -> int:
        """So many are run at any rate."""
        return LEAST_SEEDS

    def missed(self, seeds: int) -> str:
        """What is to be said where so many seeds, all there are, did not reach it."""
        label, share = self.widest() or ("", 0.0)
        asked = share_text(self.within)
        return f"until {asked}: after {seeds} seeds, the most, {label} is within {100 * share:.2g}%"

    @property
    def reached(self) -> bool:
        """Whether every cell's interval is narrow enough."""
        widest = self.widest()
        return widest is None or widest[1] <= self.within

"""Which figures of Ryll 2013 a run's figures are, and the means that the paper marks in them."""

from __future__ import annotations

from typing import Final

from rexmit.analysis.cells import Cell
from rexmit.analysis.network import Setting
from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.conditions import is_papers_cell, is_papers_network
from rexmit.present.figures.plan import Printed
from rexmit.present.figures.series import Measure


class _Ryll2013:
    """Figures 4 and 5, and Table 4 as marks in them."""

    label: Final = "paper, 2013"

    def number(self, network: str, setting: Setting, measure: Measure) -> str | None:
        """`4` for t_recover of the high-speed network, `5a` to `5c` for t_total, else None."""
        if not is_papers_network(network, setting):
            return None
        if measure == "t_total":
            return f"5{paper.NETWORKS[network].letter}"
        return "4" if network == "high-speed" else None

    def mean_s(self, cell: Cell, setting: Setting, measure: Measure) -> float | None:
        """Of a cell with five of a hundred segments lost, under the paper's conditions."""
        printed = paper.table_4(cell.network, cell.config)
        if printed is None or cell.lost_segments != paper.TABLE_4_LOSSES:
            return None
        if not (is_papers_network(cell.network, setting) and is_papers_cell(cell)):
            return None
        mean: float = getattr(printed, f"{measure}_s")
        return mean


PRINTED: Final[Printed] = _Ryll2013()

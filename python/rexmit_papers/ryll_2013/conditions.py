"""Whether a run's network and transfers are those of Ryll 2013, so that times may be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rexmit.analysis.axes import Value
from rexmit.analysis.cells import Cell
from rexmit.analysis.network import Setting
from rexmit.analysis.times import MEASURES
from rexmit_papers.ryll_2013 import paper

_HELD: Final[Mapping[str, Value]] = {
    "page_segments": paper.SEGMENTS,
    "line_loss": 0,
    "receive_window_bytes": None,
    "congestion_control": "cubic",
}
"""What the paper kept the same in all transfers (section 3.4; cubic was its kernel's default)."""


def is_papers_cell(cell: Cell) -> bool:
    """100 segments, cubic, no loss on the line, no receive window set."""
    return all(name in cell.held and cell.held[name] == value for name, value in _HELD.items())


def is_papers_network(name: str, setting: Setting) -> bool:
    """A network of Table 3 with its rate and round trip, and without jitter; by its name alone
    where the run does not say.
    """
    theirs = paper.NETWORKS.get(name)
    if theirs is None or setting.rate_bps is None:
        return theirs is not None
    same = (theirs.rate_bps, theirs.rtt_ms) == (setting.rate_bps, setting.rtt_ms)
    return same and not setting.jitter


def printed_s(cell: Cell, setting: Setting, measure: str) -> float | None:
    """The mean (seconds) of Table 4 for a cell; None where it has none under these conditions."""
    printed = paper.TABLE_4.get((cell.network, cell.config))
    if printed is None or measure not in MEASURES or cell.lost_segments != paper.TABLE_4_LOSSES:
        return None
    if not (is_papers_network(cell.network, setting) and is_papers_cell(cell)):
        return None
    mean: float = getattr(printed, f"{measure}_s")
    return mean

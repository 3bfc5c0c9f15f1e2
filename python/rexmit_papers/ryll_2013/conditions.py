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
    return not _of_cell(cell)


def is_papers_network(name: str, setting: Setting) -> bool:
    """A network of Table 3 with its rate and round trip, and without jitter; by its name alone
    where the run does not say.
    """
    return name in paper.NETWORKS and not _of_network(name, setting)


def departures(cell: Cell, setting: Setting) -> list[str]:
    """What a cell of one of the paper's networks, by name, has otherwise than the paper:
    `high-speed: 14 ms RTT for 10`, `receive window 32000 for none`.
    """
    return _of_network(cell.network, setting) + _of_cell(cell)


def _of_network(name: str, setting: Setting) -> list[str]:
    theirs = paper.NETWORKS[name]
    if setting.rate_bps is None or setting.rtt_ms is None:
        return []
    words = []
    if setting.rate_bps != theirs.rate_bps:
        words.append(f"{setting.rate_bps / 1e6:g} Mbit/s for {theirs.rate_bps / 1e6:g}")
    if setting.rtt_ms != theirs.rtt_ms:
        words.append(f"{setting.rtt_ms:g} ms RTT for {theirs.rtt_ms:g}")
    words += ["jitter"] * setting.jitter
    return [f"{name}: {', '.join(words)}"] if words else []


def _of_cell(cell: Cell) -> list[str]:
    return [
        f"{name.removesuffix('_bytes').replace('_', ' ')} {_word(cell.held.get(name))} for "
        f"{_word(value)}"
        for name, value in _HELD.items()
        if name not in cell.held or cell.held[name] != value
    ]


def _word(value: Value) -> str:
    return "none" if value is None else str(value)


def printed_s(cell: Cell, setting: Setting, measure: str) -> float | None:
    """The mean (seconds) of Table 4 for a cell; None where it has none under these conditions."""
    printed = paper.TABLE_4.get((cell.network, cell.config))
    if printed is None or measure not in MEASURES or cell.lost_segments != paper.TABLE_4_LOSSES:
        return None
    if not (is_papers_network(cell.network, setting) and is_papers_cell(cell)):
        return None
    mean: float = getattr(printed, f"{measure}_s")
    return mean

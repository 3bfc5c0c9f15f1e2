"""Colours and markers: the paper's green, blue and red in tones safe for the colour-blind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl

#: The palette of Okabe and Ito (2008), <https://jfly.uni-koeln.de/color/>.
_GREEN, _BLUE, _RED = "#009E73", "#0072B2", "#D55E00"
_REST = ("#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("v", "P", "X", "*", "h", "<", ">", "p")


@dataclass(frozen=True)
class Look:
    """How a configuration is drawn."""

    colour: str
    marker: str


_PAPER = {"plain": Look(_GREEN, "o"), "er": Look(_BLUE, "s"), "tlp": Look(_RED, "^")}


def looks(configs: tuple[str, ...]) -> dict[str, Look]:
    """A look for each: the paper's for its three, others by their place among the others."""
    others = [config for config in configs if config not in _PAPER]
    made = {config: look for config, look in _PAPER.items() if config in configs}
    for i, config in enumerate(others):
        made[config] = Look(_REST[i % len(_REST)], _MARKERS[i % len(_MARKERS)])
    return made


#: matplotlib's settings over its own defaults; what a user has set has no say.
#: (Any: newer stubs of matplotlib want literal keys, older ones plain strings.)
RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 0.9,
    "lines.markersize": 3.8,
    "errorbar.capsize": 2,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "figure.figsize": (6.3, 3.9),
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "rexmit",
    "path.simplify": False,
}


@contextmanager
def styled() -> Iterator[None]:
    """Inside, figures are drawn and written in our style, whatever a user has set."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        yield

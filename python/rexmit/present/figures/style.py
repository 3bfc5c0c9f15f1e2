"""Colours and markers, safe for the colour-blind; a configuration has the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

#: The palette of Okabe and Ito (2008), <https://jfly.uni-koeln.de/color/>.
_GREEN, _BLUE, _RED, _SKY = "#009E73", "#0072B2", "#D55E00", "#56B4E9"
#: What is left of it, and three colours more.
_REST = ("#CC79A7", "#E69F00", _SKY, "#000000", "#7A5AC8", "#8C564B", "#888888")
_MARKERS = ("v", "P", "X", "*", "h", "<", ">", "p")

#: How lines are drawn: whole, dashed, dotted, and both in turn.
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))


@dataclass(frozen=True)
class Look:
    """How a configuration is drawn."""

    colour: str
    marker: str
    dash: Any = "-"  #: of the line through its marks, as matplotlib has it


#: Of configurations in the scenarios that come with this package: without paths greys, with paths
#: blue tones, green for what is new.
_KNOWN = {
    "plain": Look(_GREEN, "o"),
    "er": Look(_BLUE, "s"),
    "tlp": Look(_RED, "^"),
    "tcp-rto": Look("#BBBBBB", "o"),
    "tcp-tlp": Look("#666666", "s"),
    "mptcp-rto": Look(_SKY, "^"),
    "mptcp-tlp": Look(_BLUE, "D"),
    "mptcp-new": Look(_GREEN, "v"),
}


def looks(configs: tuple[str, ...]) -> dict[str, Look]:
    """A look for each: known ones have theirs, others one by their place among the others."""
    others = [config for config in configs if config not in _KNOWN]
    chosen = {config: look for config, look in _KNOWN.items() if config in configs}
    # Where nobody has a look of their own, the colours furthest apart come first.
    colours = _REST if chosen else (_BLUE, _RED, _GREEN, *_REST)
    for i, config in enumerate(others):
        chosen[config] = Look(colours[i % len(colours)], _MARKERS[i % len(_MARKERS)])
    return {
        config: replace(chosen[config], dash=_DASHES[place % len(_DASHES)])
        for place, config in enumerate(configs)
    }


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
    # Letters are as wide in the file as where they were measured, at another resolution.
    "text.hinting": "none",
    "svg.hashsalt": "rexmit",
    "path.simplify": False,
}


@contextmanager
def styled() -> Iterator[None]:
    """Inside, figures are drawn and written in our style, whatever a user has set."""
    # The page takes colours from here, and draws without matplotlib.
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        yield

"""Recovery times by how many segments of a flight were lost; the paper has no figure of them."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure as Canvas

from rexmit.present.figures.words import legend_below
from rexmit_papers.unc_2007.colours import WITH_SACK, WITHOUT_SACK
from rexmit_papers.unc_2007.tables import MOST_LOST, Recovery


def draw(canvas: Canvas, recovery: Sequence[Recovery]) -> None:
    """Onto an empty canvas; below each bar stands how many episodes it is of."""
    axes = canvas.add_subplot()
    axes.set_title("Recovery time by segments lost of a flight", loc="left", fontweight="bold")
    places, counts = [], []
    kinds = {one.sack for one in recovery if one.median_rtts is not None}
    # A kind that is alone stands above its label.
    off = 0.19 if len(kinds) > 1 else 0.0
    for sack, label, colour in (
        (True, "with SACK", WITH_SACK),
        (False, "without SACK", WITHOUT_SACK),
    ):
        mine = [one for one in recovery if one.sack == sack and one.median_rtts is not None]
        if not mine:
            continue
        at = [one.lost + (-off if sack else off) for one in mine]
        places += at
        counts += [f"n = {one.episodes:,}" for one in mine]
        medians = [one.median_rtts or 0.0 for one in mine]
        above = [
            max((one.p95_rtts or 0.0) - median, 0.0)
            for one, median in zip(mine, medians, strict=True)
        ]
        axes.bar(
            at,
            medians,
            width=0.36,
            color=colour,
            hatch="" if sack else "////",
            edgecolor="white",
            linewidth=0,
            label=label,
        )
        axes.errorbar(
            at,
            medians,
            yerr=([0.0 for _ in mine], above),
            color="#444444",
            linestyle="none",
            elinewidth=0.8,
        )
    axes.set_xticks(
        list(range(1, MOST_LOST + 1)),
        [*map(str, range(1, MOST_LOST)), f"{MOST_LOST} or more"],
    )
    axes.set_xlim(0.5, MOST_LOST + 0.5)
    axes.tick_params(axis="x", which="major", length=0, pad=15)
    # Those of a kind that is alone stand where the numbers do.
    axes.xaxis.remove_overlapping_locs = False
    axes.set_xticks(places, counts, minor=True)
    axes.tick_params(axis="x", which="minor", labelsize=6.5, length=0, pad=3)
    axes.set_xlabel("segments lost")
    axes.set_ylabel("recovery time (RTTs)")
    handles, labels = axes.get_legend_handles_labels()
    small = "bars: median of n episodes; lines: to the 95th percentile"
    if len(labels) == 1:
        small, handles, labels = f"{labels[0]}; {small}", [], []
    legend_below(canvas, handles, labels, small=small)

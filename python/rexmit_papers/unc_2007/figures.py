"""Figures 1 to 7 of UNC 2007 from any traces, and one more for recovery times: which there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from rexmit.store.trace_schema import SMART_CONFIG
from rexmit_papers.unc_2007 import curves, distributions, recoveries, reductions
from rexmit_papers.unc_2007.curves import Bins
from rexmit_papers.unc_2007.distributions import Distribution, distribution
from rexmit_papers.unc_2007.reductions import MarkedGroup, Reductions
from rexmit_papers.unc_2007.senders import Study
from rexmit_papers.unc_2007.tables import Recovery, threshold

_SIZE: Final = (6.3, 3.9)

Recoveries = tuple[Recovery, ...]

Planned = dict[str, Distribution | Reductions | Recoveries]


def draw(planned: Planned) -> dict[str, Canvas]:
    """Every figure that was planned, by name. Inside `styled`."""
    return {name: _drawn(figure) for name, figure in planned.items()}


def _drawn(figure: Distribution | Reductions | Recoveries) -> Canvas:
    size = reductions.size(figure) if isinstance(figure, Reductions) else _SIZE
    canvas = Canvas(figsize=size, layout="constrained")
    FigureCanvasAgg(canvas)
    if isinstance(figure, Distribution):
        distributions.draw(canvas, figure)
    elif isinstance(figure, Reductions):
        reductions.draw(canvas, figure)
    else:
        recoveries.draw(canvas, figure)
    return canvas


def plan(study: Study, recovery: Sequence[Recovery]) -> tuple[Planned, list[str]]:
    """What can be drawn, by name; and what cannot and why."""
    planned: Planned = {}
    missing: list[str] = []
    for name, figure in _figures(study).items():
        if isinstance(figure, str):
            missing.append(f"{name}: {figure}")
        else:
            planned[name] = figure
    if recovery:
        planned["recovery"] = tuple(recovery)
    return planned, missing


def _figures(study: Study) -> dict[str, Distribution | Reductions | str]:
    figures: dict[str, Distribution | Reductions | str] = {
        "figure-1": distribution(
            curves.bytes_sent(study),
            "Bytes transmitted in each connection",
            "bytes",
            "connection",
            log=True,
        ),
        "figure-2": distribution(
            curves.detection(study),
            "Detection time, from the original to the retransmission",
            "moving averages of the RTT",
            "retransmission",
            log=True,
        ),
        "figure-3": distribution(
            curves.best_case(study),
            "Best-Case reduction of the connection's duration",
            "percent of the duration",
            "connection",
            limits=(0, 100),
        ),
    }
    for system in study.systems:
        slug = system.lower()
        ks = [[curves.of_setting(study, system, f"k={k}")] for k in (2, 3, 6)]
        figures[f"figure-4-{slug}"] = reductions.reductions(
            f"{system}: impact of k", [_groups(system, panel) for panel in ks]
        )
        others: list[Sequence[Bins | None]] = [
            [curves.of_setting(study, system, f"min_rto={ms}ms") for ms in (100, 400)],
            [curves.of_setting(study, system, "a=1/2")],
            curves.of_sizes(study, system, 5 - threshold(system)),
        ]
        figures[f"figure-5-{slug}"] = reductions.reductions(
            f"{system}: impact of minRTO, a and D", [_groups(system, panel) for panel in others]
        )
    figures["figure-6"] = distribution(
        curves.smart_change(study),
        "Smart-Config: change of the connection's duration",
        "percent of the duration",
        "connection",
        limits=(-100, 50),
    )
    smart = curves.changes(study, SMART_CONFIG)
    figures["figure-7"] = reductions.reductions(
        "Smart-Config: actual against Best-Case",
        [
            _groups(system, [curves.bins(system, smart.filter(system=system))])
            for system in study.systems
            if smart is not None
        ],
    )
    return figures


def _groups(system: str, every: Sequence[Bins | None]) -> list[MarkedGroup]:
    return [MarkedGroup(system, bins) for bins in every if bins is not None]

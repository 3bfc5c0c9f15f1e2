"""Figures 2, 4 and 6 of the paper from a run: completion times as bars, the authors' marked."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rexmit.analysis.bursts import Cases
from rexmit.present.figures import bursts
from rexmit.present.figures.bursts import Figure
from rexmit.store.open_run import Run
from rexmit_papers.probe_or_wait_2017.paper import BARS_MS, FIGURES, LOSSES, PAIRS

AUTHORS: Final = "the authors' bar"


def plan(run: Run, cases: Cases) -> list[Figure]:
    """The paper's figures, as far as the run has what they show; else those of any run."""
    losses = tuple(loss for loss in LOSSES if loss in cases.losses)
    by_delays = {delays: name for name, delays in cases.delays_ms.items()}
    networks = tuple(by_delays[pair] for pair in PAIRS if pair in by_delays)
    figures = []
    if losses and networks:
        for number, (title, configs) in FIGURES.items():
            there = tuple(config for config in configs if config in cases.configs)
            if len(there) > 1:
                figures.append(
                    Figure(
                        f"figure-{number}",
                        f"Figure {number} of the paper: {title}",
                        bursts.small(run),
                        networks,
                        there,
                        losses,
                    )
                )
    return [_marked(figure, cases) for figure in figures or bursts.plan(run, cases)]


def _marked(figure: Figure, cases: Cases) -> Figure:
    """With the authors' bars (seconds), and the paper's words for its losses."""
    marks = {
        (network, config, loss): bar_s
        for network in figure.networks
        for config in figure.configs
        for loss in figure.losses
        if (bar_s := _printed_s(cases, network, config, loss)) is not None
    }
    return replace(figure, words=LOSSES, marks=marks, marks_label=AUTHORS)


def _printed_s(cases: Cases, network: str, config: str, loss: str) -> float | None:
    """The authors' bar of a case; None where they have none."""
    delays = cases.delays_ms[network]
    bars = BARS_MS.get((config, loss), {})
    ms = bars.get((round(delays[0]), round(delays[1]))) if len(delays) == 2 else None
    return None if ms is None else ms / 1000

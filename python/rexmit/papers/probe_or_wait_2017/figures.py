"""Completion times of bursts as bars: the paper's Figures 2, 4 and 6, or one of all there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from rexmit.analysis.bursts import Cases, cases
from rexmit.analysis.runner import runner
from rexmit.papers.probe_or_wait_2017.paper import (
    BARS_MS,
    FIGURES,
    LOSSES,
    PAIRS,
)
from rexmit.present.figures.plan import slug
from rexmit.present.figures.style import looks
from rexmit.present.figures.words import folded, legend_below
from rexmit.store.open_run import Run


@dataclass(frozen=True)
class Figure:
    """One figure: a panel for each loss, a group of bars for each network."""

    name: str
    title: str
    small: str
    networks: tuple[str, ...]
    configs: tuple[str, ...]
    losses: tuple[str, ...]


def plan(run: Run, found: Cases) -> list[Figure]:
    """The paper's figures, as far as the run has what they show; else one of all configurations."""
    losses = tuple(loss for loss in LOSSES if loss in found.losses)
    by_delays = {delays: name for name, delays in found.delays_ms.items()}
    networks = tuple(by_delays[pair] for pair in PAIRS if pair in by_delays)
    made = []
    if losses and networks:
        for number, (title, configs) in FIGURES.items():
            there = tuple(config for config in configs if config in found.configs)
            if len(there) > 1:
                title = f"Figure {number} of the paper: {title}"
                made.append(_figure(run, f"figure-{number}", title, networks, there, losses))
    if not made:
        for loss in found.losses:
            name = f"bursts-{slug(loss)}"
            made.append(_figure(run, name, loss, found.networks, found.configs, (loss,)))
    return made


def _figure(
    run: Run,
    name: str,
    title: str,
    networks: tuple[str, ...],
    configs: tuple[str, ...],
    losses: tuple[str, ...],
) -> Figure:
    ran = runner(run.meta)
    small = f"{ran.words}; mean and standard deviation over start phases"
    return Figure(name, title, small, networks, configs, losses)


def draw(run: Run, *, keep_inexact: bool) -> Iterator[tuple[str, Canvas]]:
    """Each figure's name and the figure. Inside `styled`."""
    found = cases(run, keep_inexact=keep_inexact)
    for figure in plan(run, found):
        yield figure.name, _draw(figure, found)


def _draw(figure: Figure, found: Cases) -> Canvas:
    panels = len(figure.losses)
    bars = len(figure.networks) * (len(figure.configs) + 1)
    # One panel alone has the figure's title above it.
    wide = min(max(1.2 + 0.17 * bars, 5.2 if panels == 1 else 3.6), 9.0)
    canvas = Canvas(figsize=(wide * panels, 3.9), layout="constrained")
    FigureCanvasAgg(canvas)
    title = folded(canvas, figure.title, fontsize=10, fontweight="bold")
    canvas.suptitle(title, fontsize=10, fontweight="bold")
    every: Any = canvas.subplots(1, panels, sharey=True, squeeze=False)
    for letter, axes, loss in zip(
        "abcdefghijklmnopqrstuvwxyz", every[0], figure.losses, strict=False
    ):
        words = f"{letter}) {LOSSES.get(loss, loss)}" if panels > 1 else LOSSES.get(loss, "")
        axes.set_title(folded(canvas, words, wide - 0.9, fontsize=9), fontsize=9)
        _panel(axes, figure, found, loss)
    every[0][0].set_ylim(0, _top(figure, found))
    every[0][0].set_ylabel("completion of the last burst (s)")
    handles, labels = every[0][0].get_legend_handles_labels()
    # The authors' mark was drawn last and stands last.
    order = sorted(range(len(labels)), key=lambda place: labels[place] == _AUTHORS)
    legend_below(
        canvas,
        [handles[place] for place in order],
        [labels[place] for place in order],
        small=figure.small,
        most=len(labels),
    )
    return canvas


def _panel(axes: Any, figure: Figure, found: Cases, loss: str) -> None:  # noqa: ANN401 - matplotlib's
    look = _colours(figure.configs)
    width = 0.8 / len(figure.configs)
    for place, config in enumerate(figure.configs):
        shift = (place - (len(figure.configs) - 1) / 2) * width
        bars = [
            (at + shift, case.completion)
            for at, network in enumerate(figure.networks)
            if (case := found.of(network, config, loss)) and case.completion.mean_s is not None
        ]
        axes.bar(
            [at for at, _ in bars],
            [spread.mean_s for _, spread in bars],
            width * 0.92,
            yerr=[spread.sd_s or 0.0 for _, spread in bars],
            color=look[config][0],
            hatch=look[config][1],
            edgecolor="white",
            linewidth=0,
            error_kw={"elinewidth": 0.8, "capthick": 0.8},
            label=config,
        )
    _mark_bars(axes, figure, found, loss, width)
    names = ["-".join(f"{d:g}" for d in found.delays_ms[name]) for name in figure.networks]
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel("one-way delays of the paths (ms),\nthat of the losses first")


def _mark_bars(axes: Any, figure: Figure, found: Cases, loss: str, width: float) -> None:  # noqa: ANN401 - matplotlib's
    """What the authors' own script draws, as lines as wide as our bars."""
    marks = [
        (at + (place - (len(figure.configs) - 1) / 2) * width, seconds)
        for place, config in enumerate(figure.configs)
        for at, network in enumerate(figure.networks)
        if (seconds := _printed_s(found, network, config, loss)) is not None
    ]
    if marks:
        axes.hlines(
            [at for _, at in marks],
            [x - width * 0.46 for x, _ in marks],
            [x + width * 0.46 for x, _ in marks],
            color="#D55E00",
            linewidth=1.6,
            zorder=4,
            label=_AUTHORS,
        )


_AUTHORS = "the authors' bar"


def _printed_s(found: Cases, network: str, config: str, loss: str) -> float | None:
    """The authors' bar of a case; None where they have none."""
    delays = found.delays_ms[network]
    bars = BARS_MS.get((config, loss), {})
    ms = bars.get((round(delays[0]), round(delays[1]))) if len(delays) == 2 else None
    return None if ms is None else ms / 1000


def _top(figure: Figure, found: Cases) -> float:
    """Room above the highest bar of any panel, ours or the authors'."""
    places = [
        (network, config, loss)
        for network in figure.networks
        for config in figure.configs
        for loss in figure.losses
    ]
    ours = [case.completion for place in places if (case := found.of(*place))]
    theirs = [_printed_s(found, *place) or 0.0 for place in places]
    return 1.06 * max([(one.mean_s or 0.0) + (one.sd_s or 0.0) for one in ours] + theirs) or 1.0


def _colours(configs: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """A colour and a hatch for each: bars have no markers that tell two of one colour apart."""
    found = looks(configs)
    made: dict[str, tuple[str, str]] = {}
    for config in configs:
        before = sum(colour == found[config].colour for colour, _ in made.values())
        made[config] = (found[config].colour, ("", "////", "....", "xxxx")[before % 4])
    return made

"""Completion times of bursts as bars: a figure for each loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rexmit.analysis.bursts import Cases
from rexmit.analysis.runner import runner
from rexmit.analysis.units import units_of
from rexmit.present.figures.plan import slug
from rexmit.present.figures.style import looks
from rexmit.statistics.spread import Spread
from rexmit.store.open_run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


_HATCHES = ("", "////", "....", "xxxx")


@dataclass(frozen=True)
class Figure:
    """One figure: a panel for each loss, a group of bars for each network. `words` say of losses
    what they are. `marks` are times (seconds) from elsewhere, drawn across the bars of a network,
    configuration and loss; `marks_label` is whose they are.
    """

    name: str
    title: str
    small: str
    networks: tuple[str, ...]
    configs: tuple[str, ...]
    losses: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    marks_label: str = ""


def plan(run: Run, cases: Cases) -> list[Figure]:
    """A figure of all networks and configurations for each loss."""
    return [
        Figure(f"bursts-{slug(loss)}", loss, small(run), cases.networks, cases.configs, (loss,))
        for loss in cases.losses
    ]


def small(run: Run) -> str:
    """What stands below a figure in small print."""
    configs = run.transfers["config"].unique()
    over = "seeds" if units_of(run).seeds > 1 else "start phases"
    alone = f"{configs[0]}; " if len(configs) == 1 else ""
    return f"{alone}{runner(run.meta).words}; mean and 95 % interval over {over}"


def draw(figures: Iterable[Figure], cases: Cases) -> Iterator[tuple[str, Canvas]]:
    """Each figure's name and the figure. Inside `styled`."""
    for figure in figures:
        yield figure.name, _draw(figure, cases)


def _draw(figure: Figure, cases: Cases) -> Canvas:
    # The page plans the same figures, and draws without matplotlib.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    from rexmit.present.figures.words import folded, legend_below

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
        words = figure.words.get(loss, loss if panels > 1 else "")
        words = f"{letter}) {words}" if panels > 1 else words
        axes.set_title(folded(canvas, words, wide - 0.9, fontsize=9), fontsize=9)
        _panel(axes, figure, cases, loss)
    every[0][0].set_ylim(0, _top(figure, cases))
    every[0][0].set_ylabel("completion of the last burst (s)")
    handles, labels = every[0][0].get_legend_handles_labels()
    # The marks were drawn last and stand last. A configuration that is alone needs no key.
    order = sorted(range(len(labels)), key=lambda place: labels[place] == figure.marks_label)
    order = order if len(order) > 1 else []
    legend_below(
        canvas,
        [handles[place] for place in order],
        [labels[place] for place in order],
        small=figure.small,
        most=len(labels),
    )
    return canvas


def _panel(axes: Any, figure: Figure, cases: Cases, loss: str) -> None:  # noqa: ANN401 - matplotlib's
    look = _colours(figure.configs)
    width = 0.8 / len(figure.configs)
    for place, config in enumerate(figure.configs):
        shift = (place - (len(figure.configs) - 1) / 2) * width
        bars = [
            (at + shift, case.completion)
            for at, network in enumerate(figure.networks)
            if (case := cases.case(network, config, loss)) and case.completion.mean_s is not None
        ]
        axes.bar(
            [at for at, _ in bars],
            [spread.mean_s for _, spread in bars],
            width * 0.92,
            yerr=[half(spread) for _, spread in bars],
            color=look[config][0],
            hatch=look[config][1],
            edgecolor="white",
            linewidth=0,
            error_kw={"elinewidth": 0.8, "capthick": 0.8},
            label=config,
        )
    _mark_bars(axes, figure, loss, width)
    names = ["-".join(f"{d:g}" for d in cases.delays_ms[name]) for name in figure.networks]
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel("one-way delays of the paths (ms),\nthat of the losses first")


def half(of: Spread) -> float:
    """Of the interval of a mean; 0 of a single connection, which has none."""
    return (of.estimate.half if of.estimate else None) or 0.0


def _mark_bars(axes: Any, figure: Figure, loss: str, width: float) -> None:  # noqa: ANN401 - matplotlib's
    """The figure's marks, as lines as wide as the bars."""
    marks = [
        (at + (place - (len(figure.configs) - 1) / 2) * width, seconds)
        for place, config in enumerate(figure.configs)
        for at, network in enumerate(figure.networks)
        if (seconds := figure.marks.get((network, config, loss))) is not None
    ]
    if marks:
        axes.hlines(
            [at for _, at in marks],
            [x - width * 0.46 for x, _ in marks],
            [x + width * 0.46 for x, _ in marks],
            color="#D55E00",
            linewidth=1.6,
            zorder=4,
            label=figure.marks_label,
        )


def _top(figure: Figure, cases: Cases) -> float:
    """Room above the highest bar and mark of any panel."""
    places = [
        (network, config, loss)
        for network in figure.networks
        for config in figure.configs
        for loss in figure.losses
    ]
    ours = [case.completion for place in places if (case := cases.case(*place))]
    theirs = list(figure.marks.values())
    return 1.06 * max([(one.mean_s or 0.0) + half(one) for one in ours] + theirs) or 1.0


def _colours(configs: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """A colour and a hatch for each: bars have no markers, and are told apart without colours."""
    every = looks(configs)
    colours: dict[str, tuple[str, str]] = {}
    for place, config in enumerate(configs):
        colour = every[config].colour
        turned = _HATCHES[place % len(_HATCHES) :] + _HATCHES[: place % len(_HATCHES)]
        free = [hatch for hatch in turned if (colour, hatch) not in colours.values()]
        colours[config] = (colour, (free or turned)[0])
    return colours

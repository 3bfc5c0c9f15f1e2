"""Figures 1 to 7 of UNC 2007, drawn from any traces; one more for recovery times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, PercentFormatter

from rexmit.papers.unc_2007 import curves
from rexmit.papers.unc_2007.curves import Bins, Curve
from rexmit.papers.unc_2007.senders import Study
from rexmit.papers.unc_2007.tables import MOST_LOST, Recovery, threshold
from rexmit.store.trace_schema import SMART_CONFIG

#: The palette of Okabe and Ito (2008), by system, so that it is the same in every figure.
_COLOURS: Final = {
    "Windows": "#0072B2",
    "Linux": "#D55E00",
    "Solaris": "#009E73",
    "FreeBSD": "#CC79A7",
    "RFC": "#000000",
}
_REST: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")

#: So many of a distribution's smallest values may lie left of a logarithmic axis.
_STRAY: Final = 0.01

Draw = Callable[[Canvas], None]


Planned = dict[str, tuple[tuple[float, float], Draw]]


def draw(planned: Planned) -> dict[str, Canvas]:
    """Every figure that was planned, by name. Inside `styled`."""
    drawn = {}
    for name, (size, onto) in planned.items():
        drawn[name] = canvas = Canvas(figsize=size, layout="constrained")
        FigureCanvasAgg(canvas)
        onto(canvas)
    return drawn


def plan(study: Study, recovery: Sequence[Recovery]) -> tuple[Planned, list[str]]:
    """What can be drawn, by name, with its size in inches; and what cannot and why."""
    made: Planned = {}
    missing: list[str] = []

    def distribution(name: str, of: list[Curve], title: str, label: str, **more: Any) -> None:  # noqa: ANN401
        if of:
            made[name] = (
                (6.3, 3.9),
                lambda canvas: _distribution(canvas, of, title, label, **more),
            )
        else:
            missing.append(f"{name}: no connection has what it shows")

    distribution(
        "figure-1",
        [one for one in curves.bytes_sent(study) if one.n],
        "Bytes transmitted in each connection",
        "bytes",
        log=True,
    )
    distribution(
        "figure-2",
        curves.detection(study),
        "Detection time, from the original to the retransmission",
        "moving averages of the RTT",
        log=True,
    )
    distribution(
        "figure-3",
        curves.best_case(study),
        "Best-Case reduction of the connection's duration",
        "percent of the duration",
        limits=(0, 100),
    )
    for system in study.systems:
        slug = system.lower()
        panels = [_some([curves.of_setting(study, system, f"k={k}")]) for k in (2, 3, 6)]
        _scatter_plan(
            made, missing, f"figure-4-{slug}", f"{system}: impact of k", [p for p in panels if p]
        )
        panels = [
            _some(curves.of_setting(study, system, f"min_rto={ms}ms") for ms in (100, 400)),
            _some([curves.of_setting(study, system, "a=1/2")]),
            curves.of_sizes(study, system, 5 - threshold(system)),
        ]
        title = f"{system}: impact of minRTO, a and D"
        _scatter_plan(made, missing, f"figure-5-{slug}", title, [p for p in panels if p])
    distribution(
        "figure-6",
        curves.smart_change(study),
        "Smart-Config: change of the connection's duration",
        "percent of the duration",
        limits=(-100, 50),
    )
    smart = curves.changes(study, SMART_CONFIG)
    panels = [
        [curves.bins(system, smart.filter(system=system))]
        for system in study.systems
        if smart is not None
    ]
    _scatter_plan(made, missing, "figure-7", "Smart-Config: actual against Best-Case", panels)
    if recovery:
        made["recovery"] = ((6.3, 3.9), lambda canvas: _recovery(canvas, recovery))
    return made, missing


def _some(bins: Iterable[Bins | None]) -> list[Bins]:
    return [one for one in bins if one is not None and one.bins]


def _scatter_plan(
    made: Planned, missing: list[str], name: str, title: str, panels: Sequence[list[Bins]]
) -> None:
    there = [[one for one in panel if one.bins] for panel in panels]
    there = [panel for panel in there if panel]
    if not there:
        missing.append(f"{name}: no connection was replayed with these settings")
        return
    size = (3.3 * len(there) + 0.4 if len(there) > 1 else 5.0, 3.7)
    made[name] = (size, lambda canvas: _scatter(canvas, title, there))


def _distribution(
    canvas: Canvas,
    of: Sequence[Curve],
    title: str,
    label: str,
    *,
    log: bool = False,
    limits: tuple[float, float] | None = None,
) -> None:
    axes = canvas.add_subplot()
    axes.set_title(title, loc="left", fontweight="bold")
    for i, one in enumerate(of):
        system, _, mechanism = one.label.partition(" ")
        known = system in _COLOURS
        points = [(max(x, 1e-9), share) for x, share in one.points] if log else one.points
        xs, shares = zip(*points, strict=True)
        axes.step(
            [xs[0], *xs],
            [0, *shares],
            where="post",
            color=_COLOURS[system] if known else _REST[i % len(_REST)],
            linestyle="--" if known and mechanism == "RTO" else "-",
            linewidth=1.3,
            label=f"{one.label} ({one.n:,})",
        )
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(_plain))
        axes.set_xlim(left=_left(of))
    if limits:
        axes.set_xlim(*limits)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel(label + (", log scale" if log else ""))
    axes.set_ylabel("share of connections" if "onnection" in title else "share of retransmissions")
    canvas.legend(loc="outside lower center", ncols=min(len(of), 3))


def _left(of: Sequence[Curve]) -> float:
    """Where a logarithmic axis begins: a stray value near zero does not press the rest together."""
    firsts = [
        min((x for x, share in one.points if share > _STRAY and x > 0), default=1.0) for one in of
    ]
    return min(firsts) / 1.5


def _scatter(canvas: Canvas, title: str, panels: Sequence[Sequence[Bins]]) -> None:
    canvas.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    every: Any = canvas.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(every[0], panels, strict=True):
        _panel(axes, panel)
    every[0][0].set_ylabel("reduction of the duration (RTTs)")


def _panel(axes: Axes, panel: Sequence[Bins]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1)
    xs = [one.best_case for bins in panel for one in bins.bins]
    low, high = min(xs) / 1.6, max(xs) * 1.6
    line = [low * (high / low) ** (i / 60) for i in range(61)]
    axes.plot(
        line, line, color="#777777", linestyle="--", linewidth=0.9, zorder=1, label="Best-Case"
    )
    axes.axhline(0, color="#999999", linewidth=0.6, zorder=1)
    for i, bins in enumerate(panel):
        system = bins.label
        axes.errorbar(
            [one.best_case * 1.08**i for one in bins.bins],
            [one.mean for one in bins.bins],
            # Of a skewed bin the mean can be beyond the 95th percentile: the bar then goes down.
            yerr=(
                [max(one.mean - one.p95, 0.0) for one in bins.bins],
                [max(one.p95 - one.mean, 0.0) for one in bins.bins],
            ),
            color=_COLOURS.get(system, _REST[i]),
            marker=_MARKERS[i],
            linestyle="none",
            elinewidth=0.9,
            label=f"{bins.label} ({sum(one.n for one in bins.bins):,})",
            zorder=3,
        )
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.set_xlabel("Best-Case reduction (RTTs)")
    axes.legend(loc="upper left", fontsize=7.5)


def _recovery(canvas: Canvas, recovery: Sequence[Recovery]) -> None:
    axes = canvas.add_subplot()
    axes.set_title("Recovery time by segments lost of a flight", loc="left", fontweight="bold")
    for place, (sack, label) in enumerate(((True, "with SACK"), (False, "without SACK"))):
        mine = [one for one in recovery if one.sack == sack and one.median_rtts is not None]
        if not mine:
            continue
        axes.bar(
            [one.lost + (place - 0.5) * 0.38 for one in mine],
            [one.median_rtts or 0.0 for one in mine],
            width=0.36,
            color=_REST[place],
            label=f"{label} ({sum(one.episodes for one in mine):,} episodes)",
        )
        axes.errorbar(
            [one.lost + (place - 0.5) * 0.38 for one in mine],
            [one.median_rtts or 0.0 for one in mine],
            yerr=(
                [0.0 for _ in mine],
                [(one.p95_rtts or 0.0) - (one.median_rtts or 0.0) for one in mine],
            ),
            color="#444444",
            linestyle="none",
            elinewidth=0.8,
        )
    places = range(1, MOST_LOST + 1)
    axes.set_xticks(list(places), [*map(str, places[:-1]), f"{MOST_LOST} or more"])
    axes.set_xlabel("segments lost")
    axes.set_ylabel("median, bar to the 95th percentile (RTTs)")
    canvas.legend(loc="outside lower center", ncols=2)


def _plain(value: float, _place: object = None) -> str:
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value / 1e3:g} k" if abs(value) >= 1e4 else f"{value:g}"

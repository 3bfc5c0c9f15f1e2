"""A time-sequence picture: data, acknowledgements, SACK blocks, retransmissions by mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from rexmit.ladder.picture import Picture
from rexmit.ladder.steps import Step
from rexmit.present.figures.style import styled
from rexmit.present.figures.words import folded, legend_below
from rexmit.tracing.terms import COLOURS, EITHER

_DATA: Final = "#555555"
_ACK: Final = "#1A7F37"
_SACK: Final = "#7FBF8F"

#: Of mechanisms, beside their colours: neither is needed alone.
_MARKERS: Final = {
    "rto": "^",
    "rto-recovery": "v",
    "tlp": "D",
    "rack": "s",
    "fast-retransmit": "o",
    "sack-recovery": "p",
    "fack": "h",
    "early-retransmit": "*",
    "mptcp-reinject": "X",
}


def draw_sequence(picture: Picture) -> Canvas:
    """The picture on a canvas of its own: seconds against sequence numbers in kB.

    A mark hollow inside is a retransmission that was not needed.
    """
    with styled():
        return _draw(picture)


def _draw(picture: Picture) -> Canvas:
    def at(step: Step) -> float:
        return picture.at_ns(step) / 1e9

    canvas = Canvas(figsize=(7.6, 4.8), layout="constrained")
    FigureCanvasAgg(canvas)
    axes: Any = canvas.add_subplot()
    title = folded(canvas, picture.title, canvas.get_figwidth() - 1, fontsize=10, fontweight="bold")
    axes.set_title(title, loc="left", fontweight="bold")
    data = [step for step in picture.steps if picture.is_data(step) and step.used]
    acks = sorted(
        (s for s in picture.steps if not picture.is_data(s) and s.ack is not None and not s.lost),
        key=at,
    )
    plain = [step for step in data if not step.mechanism]
    axes.vlines(
        [at(step) for step in plain],
        [_kb(step.seq) for step in plain],
        [_kb(step.seq + step.used) for step in plain],
        color=_DATA,
        linewidth=1.4,
        label="data",
    )
    if acks:
        axes.step(
            [at(step) for step in acks],
            _rising([_kb(step.ack or 0) for step in acks]),
            where="post",
            color=_ACK,
            linewidth=0.9,
            label="acknowledged",
        )
    blocks = [(step, block) for step in acks for block in step.sack]
    if blocks:
        axes.vlines(
            [at(step) for step, _ in blocks],
            [_kb(left) for _, (left, _) in blocks],
            [_kb(right) for _, (_, right) in blocks],
            color=_SACK,
            linewidth=1.4,
            label="SACK",
            zorder=1,
        )
    _retransmissions(axes, [step for step in data if step.mechanism], at)
    axes.set_xlabel("seconds since the first packet")
    axes.set_ylabel("sequence number (kB)")
    legend_below(canvas, *axes.get_legend_handles_labels())
    return canvas


def _retransmissions(
    axes: Any,  # noqa: ANN401 - matplotlib's axes
    retransmissions: Sequence[Step],
    at: Callable[[Step], float],
) -> None:
    for word in sorted({str(step.mechanism) for step in retransmissions}, key=_place):
        mine = [step for step in retransmissions if step.mechanism == word]
        colour = COLOURS.get(word.partition(EITHER)[0], "#000000")
        axes.vlines(
            [at(step) for step in mine],
            [_kb(step.seq) for step in mine],
            [_kb(step.seq + step.used) for step in mine],
            color=colour,
            linewidth=2.2,
            zorder=3,
        )
        for spurious in (False, True):
            some = [step for step in mine if (step.need == "spurious") == spurious]
            if some:
                axes.plot(
                    [at(step) for step in some],
                    [_kb(step.seq) for step in some],
                    linestyle="none",
                    marker=_MARKERS.get(word.partition(EITHER)[0], ">"),
                    markersize=5.5,
                    color=colour,
                    markerfacecolor="white" if spurious else colour,
                    zorder=4,
                    label=f"{word}{', spurious' if spurious else ''} ({len(some):,})",
                )


def _place(word: str) -> tuple[int, str]:
    first = word.partition(EITHER)[0]
    return (list(COLOURS).index(first) if first in COLOURS else len(COLOURS), word)


def _rising(values: Sequence[float]) -> list[float]:
    """Acknowledgements that came late do not take anything back."""
    places: list[float] = []
    for value in values:
        places.append(max(value, places[-1]) if places else value)
    return places


def _kb(value: int) -> float:
    return value / 1000

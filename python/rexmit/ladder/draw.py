"""Ladders as a picture, one beside the other: time downwards, client left, server right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from rexmit.ladder.steps import Step
from rexmit.present.figures.style import styled
from rexmit.present.figures.words import folded, legend_below, width

#: A packet of the server without event, with one; of the client; dropped or lost; the one marked.
_PLAIN, _RETRANSMISSION, _ACK, _SACK, _LOST = "#7a7a7a", "#E69F00", "#b0b0b0", "#009E73", "#D55E00"

#: The same for words, which are small: at least 4.5 to 1 on white.
_WORDS = {
    _PLAIN: "#595959",
    _RETRANSMISSION: "#8A5A00",
    _ACK: "#595959",
    _SACK: "#00694D",
    _LOST: "#A84300",
}

#: How each is drawn: kinds are told apart without colours as well.
_DASHES: dict[str, Any] = {
    _PLAIN: "-",
    _RETRANSMISSION: (0, (6, 1.5)),
    _ACK: (0, (1, 1)),
    _SACK: (0, (5, 1.5, 1, 1.5)),
    _LOST: "-",
}

#: Packets closer than this share of the picture's height have one label.
_CLOSE = 0.022

#: Inches between client and server, beside a label, and of a panel at least.
_BETWEEN, _MARGIN, _LEAST = 2.6, 0.15, 3.9

#: What colours and dashes say.
_LEGEND = (
    ("of the server", _PLAIN),
    ("retransmission", _RETRANSMISSION),
    ("acknowledgement", _ACK),
    ("with SACK", _SACK),
    ("dropped or lost (x)", _LOST),
)


@dataclass(frozen=True)
class _Label:
    """Words at an end, ms from the first packet."""

    at: float
    text: str
    colour: str
    bold: bool = False


@dataclass(frozen=True)
class Panel:
    """One ladder: its heading, its packets, and the one that is to stand out."""

    title: str
    steps: tuple[Step, ...]
    marked: Step | None = None
    acknowledgements: bool = False  #: what the client's repeat and select has labels, too


def draw_ladders(panels: Sequence[Panel], title: str, small: str = "") -> Canvas:
    """The panels with one axis of time, ms, and a legend; `small` stands above that."""
    with styled():
        return _draw(panels, title, small)


def _draw(panels: Sequence[Panel], title: str, small: str) -> Canvas:
    canvas = Canvas(figsize=(1, 7.4), layout="constrained")
    FigureCanvasAgg(canvas)
    times = [_ms(at) for panel in panels for step in panel.steps for at in step.seen_ns]
    low, high = (min(times), max(times)) if times else (0.0, 1.0)
    room = (high - low) * 0.03 or 1.0
    close = (high - low) * _CLOSE
    right = [list(_server_labels(panel, close=close)) for panel in panels]
    left = [list(_client_labels(panel, close=close)) for panel in panels]
    ends = [
        (_room(mine), max(_room(theirs), _LEAST - _BETWEEN - _room(mine)))
        for mine, theirs in zip(left, right, strict=True)
    ]
    wide = [before + _BETWEEN + behind for before, behind in ends]
    canvas.set_figwidth(sum(wide) + 0.7 + 0.1 * len(wide))
    words = folded(canvas, title, fontsize=10, fontweight="bold")
    canvas.suptitle(words, fontsize=10, fontweight="bold")
    every: Any = canvas.subplots(1, len(panels), sharey=True, squeeze=False, width_ratios=wide)
    for place, (axes, panel) in enumerate(zip(every[0], panels, strict=True)):
        heading = "\n".join(
            folded(canvas, line, wide[place] - 0.4, fontsize=9) for line in panel.title.split("\n")
        )
        axes.set_title(heading, fontsize=9)
        before, behind = ends[place]
        axes.set_xlim(-before / _BETWEEN, 1 + behind / _BETWEEN)
        _ladder(axes, panel)
        _labels(axes, right[place], x=1, side="left")
        _labels(axes, left[place], x=0, side="right")
        axes.set_ylim(high + room, low - room)
    every[0][0].set_ylabel("ms since the first packet")
    _legend(canvas, panels, small)
    return canvas


def _room(labels: Sequence[_Label]) -> float:
    """Inches that the labels at an end need."""
    widths = (
        width(one.text, fontsize=6.5, fontweight="bold" if one.bold else "normal") for one in labels
    )
    return max(widths, default=0.0) + 2 * _MARGIN


def _legend(canvas: Canvas, panels: Sequence[Panel], small: str) -> None:
    """The colours that these panels have."""
    there = {_colour(step) for panel in panels for step in panel.steps}
    handles = [
        Line2D([], [], color=colour, linestyle=_DASHES[colour], linewidth=1.6, label=words)
        for words, colour in _LEGEND
        if colour in there
    ]
    if any(panel.marked for panel in panels):
        dot = Line2D([], [], color="black", marker="o", linestyle="", markersize=5)
        dot.set_label("where they part")
        handles.append(dot)
    legend_below(canvas, handles, [str(one.get_label()) for one in handles], small=small)


def _ladder(axes: Axes, panel: Panel) -> None:
    axes.set_xticks([0, 1], ["client h2", "server h1"])
    axes.grid(visible=False)
    for place in (0, 1):
        axes.axvline(place, color="#444444", linewidth=0.8)
    for step in panel.steps:
        _arrow(axes, step, marked=step is panel.marked)


def _labels(axes: Axes, labels: Sequence[_Label], *, x: int, side: str) -> None:
    for one in labels:
        axes.annotate(
            one.text,
            xy=(x, one.at),
            xytext=((_MARGIN if side == "left" else -_MARGIN) * 36, 0),
            textcoords="offset points",
            fontsize=6.5,
            horizontalalignment=side,
            verticalalignment="center",
            color=one.colour,
            fontweight="bold" if one.bold else "normal",
        )


def _server_labels(panel: Panel, *, close: float) -> Iterator[_Label]:
    """Of the server's packets, at the server; those that leave together have one."""
    below = float("-inf")
    for group in _groups([step for step in panel.steps if step.from_server], panel.marked, close):
        first = group[0]
        # Packets of several kinds may leave together: their labels stand below one another.
        lowered = max(_ms(first.at_ns(from_server=True)), below)
        below = lowered + close
        text = _label(first) + (f" +{len(group) - 1}" if len(group) > 1 else "")
        yield _Label(lowered, text, _WORDS[_colour(first)], bold=first is panel.marked)


def _client_labels(panel: Panel, *, close: float) -> Iterator[_Label]:
    """Of packets of the client that have something to say, at the client; none above another."""
    free = float("-inf")
    for step in panel.steps if panel.acknowledgements else ():
        words = _told(step)
        at = _ms(step.at_ns(from_server=False))
        if step.from_server or not words or at < free:
            continue
        free = at + close
        yield _Label(at, words, _WORDS[_SACK if step.sack else _ACK])


def _told(step: Step) -> str:
    blocks = ", ".join(f"{left}-{right}" for left, right in step.sack)
    if blocks:
        return f"ACK {step.ack} SACK {blocks}"
    return f"ACK {step.ack} duplicate {step.duplicate_acks}" if step.duplicate_acks else ""


def _groups(steps: list[Step], marked: Step | None, close: float) -> list[list[Step]]:
    """Packets that have one label together, the one marked first in its own."""
    groups: list[list[Step]] = []
    began = float("-inf")
    for step in sorted(steps, key=lambda step: step.at_ns(from_server=True)):
        at = _ms(step.at_ns(from_server=True))
        alike = groups and _colour(step) == _colour(groups[-1][0])
        if alike and step is not marked and at - began < close:
            groups[-1].append(step)
        else:
            groups.append([step])
            began = at
    return groups


def _arrow(axes: Axes, step: Step, *, marked: bool) -> None:
    from_x, to_x = (1.0, 0.0) if step.from_server else (0.0, 1.0)
    sent, arrived = step.sent_ns, step.arrived_ns
    began = _ms(sent if sent is not None else step.at_ns(from_server=True))
    ended = _ms(arrived) if arrived is not None else began
    gone = step.dropped or step.lost
    if gone:
        to_x = (from_x + to_x) / 2
    axes.annotate(
        "",
        xy=(to_x, ended),
        xytext=(from_x, began),
        arrowprops={
            "arrowstyle": "-" if gone else "->",
            "color": _colour(step),
            "linestyle": _DASHES[_colour(step)],
            "linewidth": 1.8 if marked else 0.8,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 7,
        },
        annotation_clip=False,
    )
    if gone:
        axes.plot([to_x], [ended], marker="x", markersize=5, color=_LOST, zorder=5)
    if marked:
        axes.plot([from_x], [began], marker="o", markersize=5, color="black", zorder=5)


def _label(step: Step) -> str:
    parts = [f"{step.seq}-{step.seq + step.payload_bytes}"]
    if "FIN" in step.flags:
        parts.append("FIN")
    if step.mechanism:
        parts.append(step.mechanism)
    return " ".join(parts)


def _colour(step: Step) -> str:
    if step.dropped or step.lost:
        return _LOST
    if step.from_server:
        return _RETRANSMISSION if step.mechanism or step.again else _PLAIN
    return _SACK if step.sack else _ACK


def _ms(at_ns: int) -> float:
    return at_ns / 1e6

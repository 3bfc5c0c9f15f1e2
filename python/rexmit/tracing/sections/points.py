"""Several points on the page: how their clocks stand, what was lost between them, the delays."""

from __future__ import annotations

from rexmit.result.blocks import Column, Grid, table
from rexmit.tracing.points.summary import Clock, Points
from rexmit.tracing.words import share, span
from rexmit.wording import count, known


def captured(points: Points) -> list[tuple[str, str]]:
    """Labels and lines on the points and their clocks."""
    first = points.clocks[0]
    lines = [("points", f"{first.point}: {count(first.packets, 'packet')}")]
    lines += [("", _clock(one, first)) for one in points.clocks[1:]]
    if points.at_one:
        lines.append(("", f"{count(points.at_one, 'connection')} came by at one of them only"))
    return lines


def _clock(one: Clock, first: Clock) -> str:
    text = f"{one.point}: {count(one.packets, 'packet')}"
    if one.offset_s is None:
        return f"{text}; none of them came by at another point"
    way = "ahead of" if one.offset_s >= 0 else "behind"
    text += f"; its clock is {span(abs(one.offset_s))} {way} that of {first.point}"
    if one.offset_uncertainty_s is not None:
        text += f", {span(one.offset_uncertainty_s)} more or less"
    if one.drift_ppm:
        text += f", and gains {one.drift_ppm:+.3g} millionths"
    return text


def stretches(points: Points) -> Grid:
    """A line for each stretch from one point to the next."""
    return table(
        points.stretches,
        Column(
            "between the points",
            least=20,
            cell=lambda one: f"{one.from_point} to {one.to_point}",
        ),
        ("packets", lambda one: f"{one.packets:,}"),
        ("lost", lambda one: f"{one.lost:,}"),
        ("share", lambda one: share(one.lost, one.packets)),
        ("with\ndata", lambda one: f"{one.data_lost:,}"),
        ("ACKs", lambda one: f"{one.acks_lost:,}"),
        ("least\ndelay", lambda one: known(one.delay_min_s, span)),
        ("median", lambda one: known(one.delay_median_s, span)),
        ("longest", lambda one: known(one.delay_max_s, span)),
    )

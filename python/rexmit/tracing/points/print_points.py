"""Several points on the page: how their clocks stand, what was lost between them, the delays."""

from __future__ import annotations

from rich.console import Console

from rexmit.present.grid import Column, Line, print_grid
from rexmit.tracing.points.summary import Clock, Points, Stretch
from rexmit.tracing.words import share, span
from rexmit.wording import NONE, count


def points(made: Points) -> list[tuple[str, str]]:
    """Labels and lines on the points and their clocks."""
    first = made.clocks[0]
    lines = [("points", f"{first.point}: {count(first.packets, 'packet')}")]
    lines += [("", _clock(one, first)) for one in made.clocks[1:]]
    if made.at_one:
        lines.append(("", f"{count(made.at_one, 'connection')} came by at one of them only"))
    return lines


def _clock(one: Clock, first: Clock) -> str:
    told = f"{one.point}: {count(one.packets, 'packet')}"
    if one.offset_s is None:
        return f"{told}; none of them came by at another point"
    way = "ahead of" if one.offset_s >= 0 else "behind"
    told += f"; its clock is {span(abs(one.offset_s))} {way} that of {first.point}"
    if one.offset_uncertainty_s is not None:
        told += f", {span(one.offset_uncertainty_s)} more or less"
    if one.drift_ppm:
        told += f", and gains {one.drift_ppm:+.3g} millionths"
    return told


def print_points(made: Points, console: Console) -> None:
    """A line for each stretch from one point to the next."""
    heads = ("packets", "lost", "share", "with\ndata", "ACKs", "least\ndelay", "median", "longest")
    columns = [
        Column("between the points", least=20),
        *(Column(head, right=True, before=2) for head in heads),
    ]
    print_grid(columns, [_line(one) for one in made.stretches], console)


def _line(one: Stretch) -> Line:
    return Line(
        (
            f"{one.from_point} to {one.to_point}",
            f"{one.packets:,}",
            f"{one.lost:,}",
            share(one.lost, one.packets),
            f"{one.data_lost:,}",
            f"{one.acks_lost:,}",
            *(
                NONE if delay is None else span(delay)
                for delay in (one.delay_min_s, one.delay_median_s, one.delay_max_s)
            ),
        )
    )

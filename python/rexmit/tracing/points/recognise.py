"""Which of several captures show the same packets at other points.

Each capture gives a sample of its packets' marks: what routers and address translation leave alone.
Captures of other packets (files of a rotation, other connections) have none in common. Captures
that were made at one place have some in common with all clocks alike: that is no other point. Two
that have none in common, but both some with a third, are of two points where their clocks differ. A
copy of a capture, with its own times or with others, would make each packet a retransmission: that
is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rexmit import _core
from rexmit.errors import UserError, argument
from rexmit.progress import Progress
from rexmit.sources import Capture
from rexmit.sources.capture import is_file, whole_name
from rexmit.values import dataclass

_FIRST: Final = 1 << 16
"""Packets at the beginning of a capture that show whether it has some in common with others, ..."""

_ALL: Final = 1 << 20
"""... and of all captures together, ..."""

_FEWEST: Final = 1 << 12
"""... but never less of one."""

_LEAST: Final = 8
"""Packets in common that show it, ..."""

_SHARE: Final = 0.1
"""... if they are this share of the smaller sample: a filter may have left the others out."""

_SAME_NS: Final = 2_000
"""Captures whose clocks differ by no more from packet to packet were made at one place: nothing
went from one to the other. Many count microseconds."""

MOST: Final = 4
"""Points that can be followed."""


@dataclass(frozen=True)
class Point:
    """A place where packets were captured: its name, and which of the captures are of it."""

    name: str
    files: tuple[int, ...]


@dataclass(frozen=True)
class Recognised:
    """Two points or more, and the samples of their captures."""

    captures: tuple[Capture, ...]
    points: tuple[Point, ...]
    samples: _core.Samples

    def paths(self, point: Point) -> list[Capture]:
        """The captures of a point."""
        return [self.captures[number] for number in point.files]

    def names(self) -> list[str]:
        """Of each capture the name of its point."""
        return [
            next(point.name for point in self.points if number in point.files)
            for number in range(len(self.captures))
        ]

    def groups(self) -> list[list[int]]:
        """Of each point the numbers of its captures."""
        return [list(point.files) for point in self.points]


def recognise(
    captures: Sequence[Capture],
    names: Sequence[str] | None,
    progress: Progress,
    capture_filter: str | None = None,
) -> Recognised | None:
    """The points of the captures; None where they are of one. `names` are of the captures' points,
    one a capture: captures of one name are of one point. Raises UserError for names that do not
    fit.
    """
    groups = (
        _groups(captures, progress, capture_filter) if names is None else _named(captures, names)
    )
    if groups is None:
        return None
    samples = _read(captures, None, progress, capture_filter)
    if names is not None:
        _check(groups, samples)
    return Recognised(tuple(captures), tuple(groups), samples)


def _groups(
    captures: Sequence[Capture], progress: Progress, capture_filter: str | None
) -> list[Point] | None:
    """By what their beginnings have in common; None where that is nothing."""
    if len(captures) < 2 or not all(is_file(capture) for capture in captures):
        return None
    _refuse_twice(captures, "give each capture once")
    first = min(_FIRST, max(_FEWEST, _ALL // len(captures)))
    samples = _read(captures, first, progress, capture_filter)
    pairs = samples.in_common()
    for one, other in pairs:
        _refuse_copy(captures, samples, one, other)
    others = {pair for pair in pairs if _are_of_two_points(samples, *pair)}
    if not others:
        return None
    others.update(samples.unlike(sorted(others)))
    groups: list[list[int]] = []
    for file in range(len(captures)):
        fits = (g for g in groups if not any((member, file) in others for member in g))
        group = next(fits, None)
        if group is None:
            groups.append([file])
        else:
            group.append(file)
    if len(groups) > MOST:
        raise UserError(
            f"the captures are of {len(groups)} points, and at most {MOST} can be followed",
            "leave some out",
        )
    return [Point(name, tuple(g)) for name, g in zip(_names(captures, groups), groups, strict=True)]


def _refuse_twice(captures: Sequence[Capture], advice: str) -> None:
    given = set()
    for capture in captures:
        if (identity := _identity(capture)) in given:
            raise UserError(f"{capture} is given twice", advice)
        given.add(identity)


def _identity(capture: Capture) -> object:
    """What the same file or object has by any name."""
    if isinstance(capture, Path):
        status = capture.stat()
        return status.st_dev, status.st_ino
    return whole_name(capture)


def _refuse_copy(captures: Sequence[Capture], samples: _core.Samples, one: int, other: int) -> None:
    """Raises UserError where a capture is a copy of another, at its own times or at others that
    differ by the same from packet to packet. With other addresses they are other connections:
    programs that replay traffic make such.
    """
    both, of = samples.overlap(one, other)
    apart = samples.apart(one, other)
    if apart is None:
        return
    later, most, same_flows = apart
    if most - later > _SAME_NS or not same_flows:
        return
    if abs(later) <= _SAME_NS:
        if both < of:
            # Made at one place at a time, of some packets twice: the analysis knows them.
            return
        first, second = captures[one], captures[other]
        sizes = [at.stat().st_size if isinstance(at, Path) else 0 for at in (first, second)]
        if sizes[1] > sizes[0]:
            first, second = second, first
        raise UserError(
            f"{second}: all its packets are in {first}, at the same times",
            f"give one of them, or say with {argument('points')} that they are of two points",
        )
    if both >= max(_LEAST, of * _SHARE):
        raise UserError(
            f"{captures[other]} has the packets of {captures[one]}, each "
            f"{abs(later) / 1e9:,.6f} s {'later' if later > 0 else 'earlier'}: a copy by another "
            "clock",
            f"give one of them, or say with {argument('points')} that they are of two points",
        )


def _are_of_two_points(samples: _core.Samples, one: int, other: int) -> bool:
    both, of = samples.overlap(one, other)
    if both < max(_LEAST, of * _SHARE):
        return False
    apart = samples.apart(one, other)
    return apart is not None and apart[1] - apart[0] > _SAME_NS


def _names(captures: Sequence[Capture], groups: Sequence[Sequence[int]]) -> list[str]:
    """The first capture of each, as briefly as it tells them apart."""
    first = [captures[group[0]] for group in groups]
    stems = [path.name.partition(".")[0] for path in first]
    if len(set(stems)) == len(stems) and all(stems):
        return stems
    names = [str(path) for path in first]
    if len(set(names)) == len(names):
        return names
    return [str(number + 1) for number in range(len(first))]


def _named(captures: Sequence[Capture], names: Sequence[str]) -> list[Point]:
    option = argument("points")
    if len(names) != len(captures):
        raise UserError(
            f"{option}: {len(names)} names for {len(captures)} captures",
            "name the point of each capture, in their order: a,b",
            usage=True,
        )
    order = list(dict.fromkeys(names))
    if not all(order) or not 2 <= len(order) <= MOST:
        raise UserError(
            f"{option} {','.join(names)}: {len(order)} points",
            f"two to {MOST} different names; captures of one point have the same",
            usage=True,
        )
    missing = next((path for path in captures if not is_file(path)), None)
    if missing is not None:
        raise UserError(
            f"{missing}: captures of several points are read twice",
            "give files: a pipe cannot be read again",
        )
    _refuse_twice(captures, "a capture is of one point: give each once")
    return [
        Point(name, tuple(number for number, mine in enumerate(names) if mine == name))
        for name in order
    ]


def _check(groups: Sequence[Point], samples: _core.Samples) -> None:
    """That every point has packets in common with another one."""
    for point in groups:
        others = [file for other in groups if other is not point for file in other.files]
        if not any(samples.overlap(mine, file)[0] for mine in point.files for file in others):
            raise UserError(
                f"no packet of the captures at {point.name} is in those of another point",
                "they are of other connections or times: analyse each by itself",
            )


def _read(
    captures: Sequence[Capture],
    limit: int | None,
    progress: Progress,
    capture_filter: str | None,
) -> _core.Samples:
    """Raises UserError for a capture that cannot be read."""
    samples = _core.Samples(list(captures), limit=limit, filter=capture_filter)
    done = 0
    try:
        while (now := samples.read()) is not None:
            progress.advance(now - done)
            done = now
    except ValueError as error:
        raise UserError(str(error)) from error
    return samples

"""A rate from a file in mahimahi's format (Netravali et al. 2015): a line for each time, in
milliseconds, at which a packet of 1,500 bytes of IP may leave; behind the last it begins again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo

from rexmit.scenario.problem import as_written
from rexmit.scenario.units import DURATION, RATE
from rexmit.scenario.values import wrong

FOLDER: Final = "folder"
"""Of a validation's context: the folder that paths in a scenario start from."""

_LONGEST: Final = 16_000_000
"""Bytes of a file at most."""
_MOST: Final = 1_000_000
"""Lines of a file at most: they stand in run.json and in the plan of every cell."""
_LATEST: Final = 10**9
"""Milliseconds of a line at most: eleven days."""
_FORMAT: Final = (
    'the path of a file of whole numbers like "cell.trace", one a line, ascending: milliseconds at '
    "which a packet of 1,500 bytes may leave"
)
_OPPORTUNITY_BITS: Final = 8 * 1500


@dataclass(frozen=True, slots=True)
class RateTrace:
    """Opportunities to send. Their text is a word a moment: milliseconds since the one before, and
    `xN` behind it where there are several.
    """

    text: str
    count: int
    period_ms: int

    @property
    def mean_bps(self) -> int:
        """Bits per second, in the mean over its time."""
        return self.count * _OPPORTUNITY_BITS * 1000 // self.period_ms

    def plain(self) -> dict[str, str]:
        """As run.json has it: all that counts of a file, and not its path."""
        return {
            "mean": RATE.text(self.mean_bps),
            "lasts": DURATION.text(self.period_ms * 10**6),
            "opportunities": self.text,
        }


def of_times(times: Iterable[int]) -> RateTrace:
    """Of ascending times, milliseconds."""
    words, count, before = [], 0, 0
    for at, same in groupby(times):
        number = sum(1 for _ in same)
        words.append(f"{at - before}" if number == 1 else f"{at - before}x{number}")
        count, before = count + number, at
    return _checked(RateTrace(" ".join(words), count, before))


def _checked(trace: RateTrace) -> RateTrace:
    if not trace.count or not trace.period_ms:
        raise wrong("the trace lasts no time", "a last line that is more than 0")
    if not RATE.least <= trace.mean_bps <= RATE.most:
        low, high = RATE.text(RATE.least), RATE.text(RATE.most)
        raise wrong(f"the trace's mean is not between {low} and {high}")
    return trace


def of_file(path: Path) -> RateTrace:
    """Raises an error of a value, with file and line."""
    try:
        is_file, content = path.is_file(), b""
        if is_file:
            with path.open("rb") as file:
                content = file.read(_LONGEST + 1)
    except (OSError, ValueError) as error:
        raise wrong(f"cannot read {path}: {getattr(error, 'strerror', error)}", _FORMAT) from None
    if not is_file:
        raise wrong(f"there is no file {path}", _FORMAT)
    lines = content.splitlines()
    if len(content) > _LONGEST or len(lines) > _MOST:
        raise wrong(f"{path} has more than {_MOST:,} lines", "a part of it")
    times: list[int] = []
    for number, line in enumerate(lines, 1):
        if not re.fullmatch(rb"[0-9]{1,10}", line.strip()):
            shown = line[:40].decode(errors="replace")
            raise wrong(f"{path}:{number}: {as_written(shown)} is no whole number", _FORMAT)
        time = int(line)
        if time > _LATEST:
            raise wrong(f"{path}:{number}: {time} is more than {_LATEST:,}", "milliseconds")
        if times and time < times[-1]:
            raise wrong(f"{path}:{number}: {time} comes after {times[-1]}", "ascending times")
        times.append(time)
    return of_times(times)


def _of_text(text: object) -> RateTrace:
    """What `RateTrace.text` wrote."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,10}(x[1-9][0-9]{0,6})?( .+)?", text):
        raise wrong(f"{as_written(text)} are no opportunities", _FORMAT)
    count = at = 0
    for place, word in enumerate(text.split(" ")):
        match = re.fullmatch(r"([0-9]{1,10})(?:x([1-9][0-9]{0,6}))?", word)
        if match is None or (place and not int(match[1])):
            raise wrong(f'"{word[:40]}" is no moment of a trace', _FORMAT)
        at += int(match[1])
        count += int(match[2] or 1)
    if count > _MOST or at > _LATEST:
        raise wrong("the trace is too long", _FORMAT)
    return _checked(RateTrace(text, count, at))


def _read(value: object, info: ValidationInfo) -> RateTrace:
    match value:
        case RateTrace():
            return value
        case str() if value:
            return of_file(Path((info.context or {}).get(FOLDER, "")) / value)
        case Mapping() if "opportunities" in value:
            return _of_text(value["opportunities"])
    raise wrong(f"{as_written(value)} is no path", _FORMAT)


def _plain(trace: RateTrace) -> dict[str, Any]:
    return trace.plain()


RateFrom = Annotated[RateTrace, BeforeValidator(_read), PlainSerializer(_plain)]
"""The path of a file, from the scenario's folder on; or what `RateTrace.plain` wrote."""

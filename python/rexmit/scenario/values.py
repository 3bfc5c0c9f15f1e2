"""Types of the scenario's fields: text with units in, exact numbers out; lists and ranges as axes.

Each type is a Pydantic annotation: it reads what a file says, its error carries `allowed`, what may
be written there, and it writes the plain form that it reads back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer
from pydantic_core import PydanticCustomError

from rexmit.scenario.problem import as_written
from rexmit.scenario.units import (
    DURATION,
    LINK_DELAY,
    RATE,
    SIZE,
    UnitError,
    parse_share,
    share_text,
)

MOST_LOST: Final = 100_000
"""More lost segments than any transfer here can have (4 GB in segments of 536 bytes is more, but
such a transfer takes hours)."""

WORK: Final = "work"
"""The table of a stack that says how long its hosts work."""

AUTO: Final = "auto"
"""Written for a receive window that the kernel chooses."""


def wrong(
    message: str, allowed: str | None = None, *, key: str | None = None
) -> PydanticCustomError:
    """An error of a value (of the entry `key` in it), with what may stand there instead."""
    context: dict[str, Any] = {"message": message}
    if key is not None:
        context["key"] = key
    if allowed:
        context["allowed"] = allowed
    return PydanticCustomError("rexmit", "{message}", context)


def _with_units(parse: Callable[[object], object]) -> BeforeValidator:
    def read(value: object) -> object:
        try:
            return parse(value)
        except UnitError as error:
            raise wrong(str(error), error.allowed) from None

    return BeforeValidator(read)


RateBps = Annotated[int, _with_units(RATE.parse), PlainSerializer(RATE.text)]
DurationNs = Annotated[int, _with_units(DURATION.parse), PlainSerializer(DURATION.text)]
SizeBytes = Annotated[int, _with_units(SIZE.parse), PlainSerializer(SIZE.text)]
DelayNs = Annotated[int, _with_units(LINK_DELAY.parse), PlainSerializer(LINK_DELAY.text)]
Share = Annotated[float, _with_units(parse_share), PlainSerializer(share_text)]


def _distinct(items: Iterable[Any], text: Callable[[Any], str]) -> tuple[Any, ...]:
    values: dict[Any, None] = {}
    for item in items:
        if item in values:
            raise wrong(f"{text(item)} stands there twice")
        values[item] = None
    if not values:
        raise wrong("the list is empty")
    return tuple(values)


def axis(parse: Callable[[object], Any]) -> BeforeValidator:
    """One value or a list of them, each read by `parse`, as a tuple without repeats."""

    def read(value: object) -> tuple[Any, ...]:
        items = value if isinstance(value, list | tuple) else [value]
        try:
            parsed = [(parse(item), item) for item in items]
        except UnitError as error:
            raise wrong(str(error), error.allowed) from None
        _distinct([amount for amount, _ in parsed], str)
        return tuple(amount for amount, _ in parsed)

    return BeforeValidator(read)


def one_or_list(text: Callable[[Any], str] = str) -> PlainSerializer:
    """Writes what `axis` reads: a single value as it is, several as a list."""

    def write(values: tuple[Any, ...]) -> str | list[str]:
        return text(values[0]) if len(values) == 1 else [text(value) for value in values]

    return PlainSerializer(write)


def _window(value: object) -> int | None:
    if value == AUTO:
        return None
    try:
        return SIZE.parse(value)
    except UnitError as error:
        raise UnitError(str(error), f'{error.allowed}; or "{AUTO}" for the kernel\'s own') from None


def _window_text(size: int | None) -> str:
    return AUTO if size is None else SIZE.text(size)


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise UnitError(f"{as_written(value)} is no text", "a name in quotes, or a list of names")
    return value


def _read_rate(value: object) -> int | None:
    if value == "instant":
        return None
    try:
        return RATE.parse(value)
    except UnitError as error:
        raise UnitError(str(error), f'{error.allowed}; or "instant"') from None


ReadRate = Annotated[int | None, BeforeValidator(_read_rate), PlainSerializer(RATE.text)]
SizeAxis = Annotated[tuple[int, ...], axis(SIZE.parse), one_or_list(SIZE.text)]
WindowAxis = Annotated[tuple[int | None, ...], axis(_window), one_or_list(_window_text)]
ShareAxis = Annotated[tuple[float, ...], axis(parse_share), one_or_list(share_text)]
NameAxis = Annotated[tuple[str, ...], axis(_name)]


def _pattern(value: object) -> str:
    """A loss pattern in its shortest form; the rule itself reads it."""
    if not isinstance(value, str):
        raise UnitError(f"{as_written(value)} is no text", 'a pattern like "data 5..7 5#2; ack 3"')
    from rexmit._core import loss_pattern

    try:
        return loss_pattern(value)
    except ValueError as error:
        raise UnitError(f'pattern "{value}": {error}', PATTERN) from None


PATTERN: Final = (
    "like \"data 3 5..7 -1; ack 2 4..9\": positions of the server's segments and of the client's "
    'acknowledgements, from 1 or from behind; "5#2" is the second transmission of segment 5, '
    '"fin" a FIN without data, "none" nothing; openings like "data syn-ack; ack syn#1..2 request"; '
    'of bursts like "path 1 burst 2 data -1"'
)
PatternAxis = Annotated[tuple[str, ...], axis(_pattern), one_or_list()]


def _outage(value: object) -> tuple[int, int]:
    begin, dots, end = value.partition("..") if isinstance(value, str) else ("", "", "")
    if not dots:
        raise wrong(f"{as_written(value)} is no time from one to another", 'like "3s..4.2s"')
    try:
        span = DURATION.parse(begin), DURATION.parse(end)
    except UnitError as error:
        raise wrong(str(error), error.allowed) from None
    if span[0] >= span[1]:
        raise wrong(f'"{value}" does not run forwards')
    return span


def _outages(value: object) -> tuple[tuple[int, int], ...]:
    spans = tuple(map(_outage, value if isinstance(value, list | tuple) else [value]))
    if not spans:
        raise wrong("the list is empty")
    for (_, end), (begin, _) in pairwise(spans):
        if begin <= end:
            raise wrong("each must begin after the one before it has ended")
    return spans


def _span_text(span: tuple[int, int]) -> str:
    return "..".join(map(DURATION.text, span))


OutageTimes = Annotated[
    tuple[tuple[int, int], ...], BeforeValidator(_outages), one_or_list(_span_text)
]
"""From and until, ascending."""


def counts_from(least: int, most: int, many: int | None = None) -> BeforeValidator:
    """Whole numbers: one, a list, or ranges like "0..20" (both ends included); at most `many`, or
    all there are."""
    allowed = f'a whole number from {least} to {most:,}, a range like "0..20", or a list of these'

    def one(value: object) -> Iterable[int]:
        if isinstance(value, str) and (
            match := re.fullmatch(r"([0-9]{1,18})\.\.([0-9]{1,18})", value.strip())
        ):
            first, last = int(match[1]), int(match[2])
            if last < first:
                raise wrong(f'range "{value}" runs backwards', allowed)
            if last > most:
                raise wrong(f"{last} is more than {most:,}", allowed)
            if many is not None and last - first >= many:
                raise wrong(f'range "{value}" has more than {many:,}', allowed)
            return range(first, last + 1)
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong(f"{as_written(value)} is no whole number and no range", allowed)
        return [value]

    def read(value: object) -> tuple[int, ...]:
        items = value if isinstance(value, list | tuple) else [value]
        numbers: list[int] = []
        for item in items:
            for number in one(item):
                if not least <= number <= most:
                    raise wrong(f"{number} is not between {least} and {most:,}", allowed)
                numbers.append(number)
            if many is not None and len(numbers) > many:
                raise wrong(f"these are more than {many:,}", allowed)
            if len(numbers) > most - least + 1:
                raise wrong("some numbers are there more than once", allowed)
        return _distinct(numbers, str)

    return BeforeValidator(read)


def counts_text(numbers: tuple[int, ...]) -> int | str | list[int | str]:
    """The shortest plain form that `counts_from` reads `numbers` back from, in the same order."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    plain: list[int | str] = []
    for run in runs:
        plain += [f"{run[0]}..{run[-1]}"] if len(run) > 2 else run
    return plain[0] if len(plain) == 1 else plain


LostAxis = Annotated[tuple[int, ...], counts_from(0, MOST_LOST), PlainSerializer(counts_text)]
SegmentsAxis = Annotated[tuple[int, ...], counts_from(1, MOST_LOST), PlainSerializer(counts_text)]


def _sysctls(value: object) -> dict[str, str]:
    """Settings by name. TOML reads `net.ipv4.tcp_sack = 1` without quotes as nested tables."""
    if not isinstance(value, dict):
        raise wrong(f"{as_written(value)} is no table", 'a table like { "net.ipv4.tcp_sack" = 1 }')
    texts: dict[str, str] = {}

    def walk(prefix: str, table: dict[Any, Any]) -> None:
        for key, entry in table.items():
            name = f"{prefix}{key}"
            if isinstance(entry, dict) and entry:
                walk(f"{name}.", entry)
            elif isinstance(entry, bool) or not isinstance(entry, int | str):
                raise wrong(
                    f"{as_written(entry)} is no whole number and no text",
                    "as in sysctl(8)",
                    key=name,
                )
            elif not re.fullmatch(r"net(\.[A-Za-z0-9_-]+)+", name):
                raise wrong(
                    f'"{name}" is no name of a setting of a host',
                    'a name below "net.", like "net.ipv4.tcp_sack"',
                    key=name,
                )
            elif name in texts:
                raise wrong("stands there twice", key=name)
            else:
                texts[name] = str(entry)

    walk("", value)
    return texts


Sysctls = Annotated[dict[str, str], BeforeValidator(_sysctls)]


def _stack(value: object) -> dict[str, str]:
    """Settings by name, each one value, as text."""
    if not isinstance(value, dict):
        raise wrong(f"{as_written(value)} is no table", 'a table like { min_rto = "100ms" }')
    work = value.get(WORK, {})
    if not isinstance(work, dict):
        raise wrong(
            f"{as_written(work)} is no table", 'a table like { receive = "21us" }', key=WORK
        )
    named = {str(key): entry for key, entry in value.items() if key != WORK}
    named |= {f"{WORK}.{key}": entry for key, entry in work.items()}
    texts: dict[str, str] = {}
    for key, entry in named.items():
        if isinstance(entry, list | tuple):
            raise wrong("is one value, not a list", "a configuration for each value", key=key)
        if not isinstance(entry, bool | int | float | str):
            raise wrong(
                f"{as_written(entry)} is no value", "a number, a text, true or false", key=key
            )
        texts[key] = str(entry).lower() if isinstance(entry, bool) else str(entry)
    return texts


def _stack_tables(settings: dict[str, str]) -> dict[str, Any]:
    """What `_stack` reads."""
    plain: dict[str, Any] = {}
    for key, value in settings.items():
        table, dot, name = key.partition(".")
        if dot:
            plain.setdefault(table, {})[name] = value
        else:
            plain[key] = value
    return plain


StackSettings = Annotated[dict[str, str], BeforeValidator(_stack), PlainSerializer(_stack_tables)]
"""By name; those of the table `work` as `work.receive`."""

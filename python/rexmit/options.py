"""What a function, or a command, is told by an object: a frozen dataclass of its options.

A number that is none, or out of its range, is refused before any work.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import wraps
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from rexmit.errors import UserError, argument

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")
Function = TypeVar("Function", bound=Callable[..., object])


def takes(options: type, keywords: type | None = None) -> Callable[[Function], Function]:
    """Says that what a function takes as `**` are the fields of a dataclass. Its signature, which
    `help` and the documentation read, has those that `keywords`, a TypedDict, has, or all, each
    with its default.
    """

    def declare(function: Function) -> Function:
        own = inspect.signature(function)
        fields = inspect.signature(options).parameters.values()
        parameters = [
            *(one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD),
            *(one for one in fields if keywords is None or one.name in keywords.__annotations__),
        ]
        # It is what `inspect.signature` gives.
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return declare


def typed(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Makes a command of a function that takes all that can be typed as one object: each field of a
    dataclass is an argument or an option, which `cli.front` reads.
    """

    def declare(function: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(function)
        def command(**words: object) -> None:
            function(options(**words))

        own = inspect.signature(options)
        # Of a field the module of the class that declares it knows the names.
        types = get_type_hints(options, include_extras=True)
        fields = [one.replace(annotation=types[name]) for name, one in own.parameters.items()]
        # It is what `inspect.signature` gives.
        command.__signature__ = own.replace(parameters=fields)  # type: ignore[attr-defined]
        return command

    return declare


def given(asked: Options | None, options: type[Options], keywords: Mapping[str, Any]) -> Options:
    """The options that a caller has made, with those changed that are given as keywords."""
    return options(**keywords) if asked is None else replace(asked, **keywords)


def as_typed(options: type[Options], command: object, **others: Any) -> Options:  # noqa: ANN401
    """The options of a function that a command was given: those that have the same names there,
    and `others`.
    """
    names = [one.name for one in fields(options) if one.name not in others]
    return options(**{name: getattr(command, name) for name in names}, **others)


def whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raises UserError (usage) where it is no whole number from `least` to `most`, of 63 bits."""
    good = isinstance(value, int) and not isinstance(value, bool)
    largest = 2**63 - 1 if most is None else most
    if not good or not least <= value <= largest:  # type: ignore[operator]
        is_low = most is None and (not good or value < least)  # type: ignore[operator]
        bounds = f"of at least {least}" if is_low else f"from {least} to {largest}"
        raise UserError(argument(name, value), f"give a whole number {bounds}", usage=True)


def workers(jobs: object) -> None:
    """Raises UserError (usage) where it is neither None nor a number of threads or kernels."""
    if jobs is not None:
        whole("jobs", jobs, 1)


def part(name: str, value: object, most: float) -> None:
    """Raises UserError (usage) where it is no number from 0 to `most`."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not good or not 0 <= value <= most:  # type: ignore[operator]
        raise UserError(argument(name, value), f"give a number from 0 to {most:g}", usage=True)

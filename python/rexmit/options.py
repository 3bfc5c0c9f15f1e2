"""What a function, or a command, is told by an object: a frozen dataclass of its options.

A number that is none, or out of its range, is refused before any work.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from rexmit.errors import UserError, argument

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")
Function = TypeVar("Function", bound=Callable[..., object])


def takes(
    options: type, keywords: type | None = None, *, typed: bool = False
) -> Callable[[Function], Function]:
    """Says that what a function takes as `**` are the fields of a dataclass. Its signature, which
    Typer, `help` and the documentation read, has each of them with its default; of a function that
    takes some of them alone those that `keywords`, a TypedDict, has. `typed` evaluates their types.
    """

    def declare(function: Function) -> Function:
        own = inspect.signature(function)
        fields = inspect.signature(options, eval_str=typed).parameters.values()
        parameters = [
            *(one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD),
            *(one for one in fields if keywords is None or one.name in keywords.__annotations__),
        ]
        # It is what `inspect.signature` gives.
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return declare


def given(made: Options | None, options: type[Options], keywords: Mapping[str, Any]) -> Options:
    """The options that a caller has made, with those changed that are given as keywords."""
    return options(**keywords) if made is None else replace(made, **keywords)


def whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raises UserError (usage) where it is no whole number from `least` to `most`."""
    good = isinstance(value, int) and not isinstance(value, bool)
    if not good or value < least or (most is not None and value > most):  # type: ignore[operator]
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
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

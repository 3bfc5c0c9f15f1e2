"""Frozen dataclasses for the way to the first packet.

The library writes six functions for each dataclass and compiles them when its module is imported,
0.6 ms each: a tenth of `rexmit trace` of a small capture. Here all classes share one of each, which
reads the fields; `fields`, `replace`, `asdict` and pickling are the library's. So are classes of
which very many objects are made.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import Field
    from inspect import Signature


def _init(self: Any, /, *given: object, **named: object) -> None:  # noqa: ANN401 - of any class
    every = fields(self)
    places = [one.name for one in every if not one.kw_only]
    values = {one.name: value for one in every if (value := _default(one)) is not MISSING}
    values |= zip(places, given, strict=False)
    values |= named
    is_twice = not named.keys().isdisjoint(places[: len(given)])
    if len(given) > len(places) or is_twice or values.keys() != {one.name for one in every}:
        type(self).__signature__.bind(*given, **named)  # says what is wrong
    for name, value in values.items():
        object.__setattr__(self, name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _default(field: Field[Any]) -> object:
    """Of a field, `MISSING` where it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def _repr(self: Any) -> str:  # noqa: ANN401
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(value: Any) -> tuple[object, ...]:  # noqa: ANN401
    return tuple(getattr(value, one.name) for one in fields(value) if one.compare)


def _eq(self: object, other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: object) -> int:
    return hash(_compared(self))


def _setattr(_: object, name: str, __: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Signature:
    """That of a class, which `inspect.signature` looks for here."""

    def __get__(self, _: object, owner: Any) -> Signature:  # noqa: ANN401
        from inspect import Parameter, Signature

        by_place, by_name = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
        every = [
            Parameter(
                one.name,
                by_name if one.kw_only else by_place,
                default=Parameter.empty if _default(one) is MISSING else _default(one),
                annotation=one.type,
            )
            for one in sorted(fields(owner), key=lambda one: one.kw_only is True)
        ]
        return Signature(every, return_annotation=None)


_SHARED = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__signature__": _Signature(),
}

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, kw_only: bool = False) -> Callable[[type], type]:
        """A dataclass, to be changed by nobody."""
        if not frozen:
            raise TypeError("values are frozen")

        def declare(cls: type) -> type:
            dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
            for name, shared in _SHARED.items():
                if name not in vars(cls):
                    setattr(cls, name, shared)
            return cls

        return declare

"""Values are the dataclasses of the library, but for how soon they are there."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, asdict, field, fields, replace

import pytest

from rexmit import values


def declared(dataclass: Callable[..., Callable[[type], type]]) -> type:
    """A class with all that ours have."""

    class Base:
        first: int
        second: str = "two"
        hidden: float = field(default=0.5, compare=False, repr=False)

    class Kept(dataclass(frozen=True)(Base)):  # type: ignore[misc]
        made: Mapping[str, int] = field(default_factory=dict, compare=False)
        named: bool = field(kw_only=True)

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError("first is less than nothing")

    for cls in (Base, Kept):
        cls.__qualname__ = cls.__name__
    return dataclass(frozen=True)(Kept)


OURS, LIBRARYS = declared(values.dataclass), declared(dataclasses.dataclass)

# By which pickling finds it.
Kept = OURS


def test_made_alike() -> None:
    for given, named in (
        ((1,), {"named": True}),
        ((1, "b", 2.0, {"a": 1}), {"named": False}),
        ((), {"first": 1, "named": True, "hidden": 1.0}),
    ):
        ours, librarys = OURS(*given, **named), LIBRARYS(*given, **named)
        assert asdict(ours) == asdict(librarys)
        assert repr(ours) == repr(librarys)
        assert hash(ours) == hash(librarys)
    ours, librarys = (list(inspect.signature(cls).parameters) for cls in (OURS, LIBRARYS))
    assert ours == librarys
    assert [one.name for one in fields(OURS)] == [one.name for one in fields(LIBRARYS)]
    assert OURS(1, named=True).made is not OURS(1, named=True).made


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((), {"named": True}),
        ((1,), {}),
        ((1, "b", 2.0, {}, True), {}),
        ((1,), {"first": 1, "named": True}),
        ((1,), {"named": True, "other": 1}),
        ((), {"named": True, "other": 1}),
    ],
)
def test_refused_alike(given: tuple[object, ...], named: dict[str, object]) -> None:
    for cls in (LIBRARYS, OURS):
        with pytest.raises(TypeError):
            cls(*given, **named)


def test_checked_once_made() -> None:
    with pytest.raises(ValueError, match="less than nothing"):
        OURS(-1, named=True)


def test_compared_by_value() -> None:
    one = OURS(1, named=True)
    assert one == OURS(1, "two", 9.0, {"a": 1}, named=True)
    assert one != OURS(2, named=True)
    assert one != OURS(1, named=False)
    assert one != LIBRARYS(1, named=True)


def test_frozen() -> None:
    one = OURS(1, named=True)
    with pytest.raises(FrozenInstanceError):
        one.first = 2
    with pytest.raises(FrozenInstanceError):
        del one.first
    assert replace(one, first=2) == OURS(2, named=True)


def test_copied() -> None:
    one = OURS(1, named=True)
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - ours
    assert copy.deepcopy(one) == one

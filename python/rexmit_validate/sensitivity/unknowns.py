"""What is not known about a scenario's bench: departures from it; and what a kernel showed on one.

A file `unknowns/NAME.toml` beside the scenario `NAME.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from rexmit.errors import UserError

AS_PRINTED: Literal["printed"] = "printed"
"""How a time may be read otherwise than a run's column has it: as the paper's text says."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def keys(settings: Iterable[str]) -> frozenset[str]:
    """What they set, of settings KEY=VALUE."""
    return frozenset(one.partition("=")[0].strip() for one in settings)


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)


class Unknown(_Part):
    """One departure: `set` as `rexmit run --set` takes it, and how times are read."""

    name: str = Field(min_length=1)
    about: str = ""
    set: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
    read: dict[Literal["t_recover", "t_total"], Literal["printed"]] = {}
    penalty: float = Field(default=1.0, ge=0)
    """What it costs a bench to depart so, in percentage points of its distance from the paper."""

    @model_validator(mode="after")
    def _departs(self) -> Unknown:
        if not self.set and not self.read:
            raise ValueError("it changes nothing: give set or read")
        return self

    @property
    def touches(self) -> frozenset[str]:
        """The keys that it sets and the times that it reads: no other departure that touches one of
        them goes with it.
        """
        return keys(self.set) | frozenset(self.read)


class Recorded(_Part):
    """Rows that a real kernel left on a bench that the model can have, too."""

    name: str = Field(min_length=1)
    about: str = ""
    rows: str = Field(min_length=1)
    """A CSV file beside this one, with columns of `transfers` and `bench`."""
    bench: str = Field(min_length=1)
    """Which of its rows: the value of the column `bench`."""
    set: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
    """What makes the scenario's bench the kernel's."""


class Unknowns(_Part):
    """The file."""

    format: Literal[1]
    unknown: Annotated[tuple[Unknown, ...], BeforeValidator(_as_tuple)] = Field(min_length=1)
    recorded: Annotated[tuple[Recorded, ...], BeforeValidator(_as_tuple)] = ()


def load(file: Path) -> Unknowns:
    """Raises UserError (usage) for a file that is none."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}", usage=True) from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}", usage=True) from None
    try:
        unknowns = Unknowns.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{file}: {where}: {first['msg']}", usage=True) from None
    for names in (
        [unknown.name for unknown in unknowns.unknown],
        [recorded.name for recorded in unknowns.recorded],
    ):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UserError(f"{file}: {twice!r} stands there twice", usage=True)
    return unknowns

"""What is not known about a scenario's bench: departures from it, each on its own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from rexmit.errors import UserError


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)


class Unknown(_Part):
    """One departure: `set` as `rexmit run --set` takes it."""

    name: str = Field(min_length=1)
    about: str = ""
    set: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = Field(min_length=1)


class Unknowns(_Part):
    """The file."""

    format: Literal[1]
    unknown: Annotated[tuple[Unknown, ...], BeforeValidator(_as_tuple)] = Field(min_length=1)


def load(file: Path) -> Unknowns:
    """Raises UserError (usage) for a file that is none."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}", usage=True) from None
    except ValueError as error:
        raise UserError(f"{file}: {error}", usage=True) from None
    try:
        found = Unknowns.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{file}: {where}: {first['msg']}", usage=True) from None
    names = [unknown.name for unknown in found.unknown]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"{file}: {twice!r} stands there twice", usage=True)
    return found

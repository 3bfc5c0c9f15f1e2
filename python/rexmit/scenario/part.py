"""What tables of a scenario have in common, and tables of which there are several kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from rexmit.scenario.problem import Path


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


AS_TUPLE = BeforeValidator(_as_tuple)
"""Strict tuples refuse the lists that TOML and JSON give."""


def unsaid(default: object) -> Callable[[object], bool]:
    """For `exclude_if` of a key that run.json leaves out at its default. A run goes on only with
    the scenario that its run.json has.
    """
    return lambda value: value == default


def obeyed_by(*engines: str, why: str, harmless: object = None) -> dict[str, Any]:
    """For `json_schema_extra` of a key that other engines refuse unless it has its default or the
    `harmless` value, and why they do.
    """
    return {"obeyed_by": Obedience(engines, why, harmless)}


@dataclass(frozen=True, slots=True)
class Obedience:
    """Which engines obey a key, and why others do not."""

    engines: tuple[str, ...]
    why: str
    harmless: object


def obedience(part: type[BaseModel], key: str) -> Obedience | None:
    """Which engines obey this key of a table; None where all do."""
    extra = part.model_fields[key].json_schema_extra
    there = extra.get("obeyed_by") if isinstance(extra, dict) else None
    return there if isinstance(there, Obedience) else None


def refused(part: Part, path: Path, engine: str) -> Iterator[tuple[Path, Obedience]]:
    """The keys of a table, and of those in it, that an engine refuses as they stand."""
    for key, field in type(part).model_fields.items():
        value, at = getattr(part, key), (*path, key)
        there = obedience(type(part), key)
        if there is not None and engine not in there.engines:
            default = field.get_default(call_default_factory=True)
            if value != default and (value is None or value != there.harmless):
                yield at, there
            continue
        each = enumerate(value) if isinstance(value, tuple) else [(None, value)]
        for index, one in each:
            if isinstance(one, Part):
                yield from refused(one, at if index is None else (*at, index), engine)


class Part(BaseModel):
    """What all parts of a scenario share: no unknown keys, no conversions, no changes."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)


def merged(*tables: Part) -> dict[str, Any]:
    """What tables say of which later ones go first, key by key; None says nothing."""
    return {name: value for table in tables for name, value in table if value is not None}


@dataclass(frozen=True, slots=True)
class Kinds:
    """A table of which there are several kinds; each has keys of its own and refuses the others'.

    `Kinds.kind` is the discriminator of the union.
    """

    key: str
    """What tells a kind by its value, or by being there."""
    default: str
    """The kind where `key` is not there."""
    tables: Mapping[str, type[Part]]
    """By kind."""
    of: str
    """How a message names a kind."""
    by_presence: str | None = None
    """The kind where `key` is there, whatever its value."""

    def kind(self, table: object) -> str | None:
        """Of a table or a part; None of anything else."""
        if isinstance(table, dict):
            if self.by_presence is not None:
                return self.by_presence if self.key in table else self.default
            return str(table.get(self.key, self.default))
        return next((kind for kind, part in self.tables.items() if isinstance(table, part)), None)

    def foreign(self, key: str, kind: str, table: str) -> tuple[str, str] | None:
        """What is wrong with a key of another kind in `table`, and what to do; None of a key that
        no kind has.
        """
        for other, part in self.tables.items():
            if other != kind and key in part.model_fields:
                change = f"leave out {self.key}"
                if self.by_presence is None:
                    change = f'write {table}.{self.key} = "{other}"'
                return f"not a key {self.of.format(kind)}", f"leave it out, or {change}"
        return None

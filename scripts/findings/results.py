"""Result files: what was measured, by what, and of which code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from scripts.findings.stamps import ROOT

from rexmit.store.files import write_text

FOLDER: Final = ROOT / "docs" / "findings" / "results"
FORMAT: Final = 1

Value: TypeAlias = float | int | str | bool | None
DIGITS: Final = 7
"""Significant digits of what is kept: more than any document has, and a thousandth of what chance
does to a mean.
"""


@dataclass(frozen=True)
class Data:
    """`values` are for sentences, `tables` rows of named cells for tables."""

    values: Mapping[str, Value] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Mapping[str, Value]]] = field(default_factory=dict)

    def rows(self, table: str) -> Sequence[Mapping[str, Value]]:
        """The rows of a table. Raises KeyError."""
        return self.tables[table]

    def row(self, table: str, **cells: Value) -> Mapping[str, Value]:
        """The row of a table that has these cells. Raises KeyError where there are none or two."""
        found = [row for row in self.tables[table] if cells.items() <= row.items()]
        if len(found) != 1:
            raise KeyError(f"{table} has {len(found)} rows with {cells}")
        return found[0]


@dataclass(frozen=True)
class Made:
    """Who measured, and how. `seconds` of the whole on the machine that did, and `cores_s`, what
    its processors worked, which others that use them do not change (None in results of before it
    was counted); `confirmed` says by what the numbers were found to be those of a later code,
    without measuring all of them.
    """

    command: str
    rexmit: str
    commit: str | None
    tier: str
    seconds: float
    kernels: Sequence[str]
    confirmed: str | None = None
    cores_s: float | None = None


@dataclass(frozen=True)
class Result:
    """A result file's contents."""

    name: str
    made: Made
    code: Mapping[str, str]  #: what it depends on: patterns of files, and a digest of each
    data: Data
    files: Mapping[
        str, str
    ]  #: figures and long tables below docs/findings, and the SHA-256 of each
    sample: Mapping[str, str] = field(default_factory=dict)


def kept(value: Any) -> Any:  # noqa: ANN401 - whatever JSON has
    """The same with so many digits as are kept."""
    if isinstance(value, float):
        short = float(f"{value:.{DIGITS}g}")
        return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short
    if isinstance(value, Mapping):
        return {key: kept(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [kept(one) for one in value]
    return value


def path(name: str, folder: Path = FOLDER) -> Path:
    """Where a result is."""
    return folder / f"{name}.json"


def write(result: Result, folder: Path = FOLDER) -> Path:
    """Writes it, whole or not at all: a line for each value and row; a table's first line has the
    names of its columns.
    """
    made = {key: value for key, value in vars(result.made).items() if value not in (None, [])}
    made |= {key: round(made[key]) for key in ("seconds", "cores_s") if key in made}
    head = {
        "code": result.code,
        "files": result.files,
        "format": FORMAT,
        "made": made,
        "name": result.name,
        "sample": result.sample,
        "values": kept(result.data.values),
    }
    lines = json.dumps(head, indent=1, sort_keys=True, ensure_ascii=False)[:-2]
    body = ",\n".join(_table(*table) for table in sorted(result.data.tables.items()))
    text = f'{lines},\n "tables": {{\n{body}\n }}\n}}\n'
    file = path(result.name, folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
    return file


def _table(name: str, rows: Sequence[Mapping[str, Value]]) -> str:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [columns, *([kept(row.get(column)) for column in columns] for row in rows)]
    text = ",\n".join(f"   {json.dumps(line, ensure_ascii=False)}" for line in lines)
    return f"  {json.dumps(name)}: [\n{text}\n  ]"


def _rows(lines: Sequence[Sequence[Value]]) -> list[dict[str, Value]]:
    columns, *rows = lines
    return [dict(zip(map(str, columns), row, strict=True)) for row in rows]


def read(name: str, folder: Path = FOLDER) -> Result:
    """Opens a result. Raises OSError where there is none, ValueError where it is no result."""
    file = path(name, folder)
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["format"] != FORMAT or found["name"] != name:
            raise ValueError(f"{file}: not the result {name} of format {FORMAT}")
        made = {"kernels": [], **found["made"]}
        data = Data(found["values"], {key: _rows(lines) for key, lines in found["tables"].items()})
        files, sample = found["files"], found["sample"]
        return Result(name, Made(**made), found["code"], data, files, sample)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{file}: no result file ({error})") from error

"""Tables of a folder held against their declaration, before anything relies on it.

A digest says that a table is what was written, and not who wrote it: a folder may come from anyone.
So names, types and values are looked at once, when the folder is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from rexmit import _core, memory
from rexmit.errors import UserError
from rexmit.store.schema import Column, polars_schema

LONGEST_S: Final = 2**63 / 1e9
"""Times are made of nanoseconds in 64 bits."""

LARGEST: Final = 2**48
"""Of other numbers: what is summed up of them stays within 64 bits, and exact."""

LONGEST_TEXT: Final = 65_536
"""Bytes."""

_MECHANISMS: Final = tuple(_core.mechanisms())

WORDS: Final[Mapping[str, Sequence[str]]] = {
    "mechanism": _MECHANISMS,
    "runner_up": _MECHANISMS,
    "episode_cause": _MECHANISMS,
    "owner": tuple(_core.owners()),
    "need": ("needed", "spurious", "unknown"),
    "direction": ("forward", "backward"),
    "parameter": ("d", "a", "b", "m", "k", "min_rto_s"),
}
"""Columns that hold one of a few words, whichever table they are of."""

TOGETHER: Final = (
    ("reset_by", "reset_state", "reset_after"),
    ("alert_by", "alert"),
    ("mptcp_connection", "mptcp_subflow"),
    ("first_ns", "last_ns"),
    ("runner_up", "runner_up_confidence"),
)
"""Columns of a table that are null in the same rows."""


_FREE: Final = 16 << 20
"""Bytes: rows that take no more are read, however small the file."""

_TIMES: Final = 2
"""So much more memory is wanted while rows are unpacked and held against their declaration: of
100,000 retransmissions it was 1.4 times what they take."""

UNREADABLE: Final = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What Polars raises for a file that is no table, or a damaged one."""


def fits(file: Path, hint: str, *, whole: bool) -> None:
    """Looks at what a table, a file or a folder of files, says of itself, before anything in it is
    unpacked: Polars takes any memory that its rows want. `whole`: they are all read at once, not
    group by group. Raises UserError where they take more than there is, or far more than the file,
    and where it is no file: of a pipe whoever opens it would wait for its writer.
    """
    parts = (file, *sorted(file.rglob("*"))) if file.is_dir() else (file,)
    for part in parts:
        if part.is_dir() or not part.exists():
            continue
        if not part.is_file():
            raise UserError(f"{part}: is no file", hint)
        try:
            rows, size, largest = _core.table_size(part)
        except (OSError, ValueError) as error:
            raise UserError(f"{part}: cannot be read: {error}", hint) from error
        packed, limit = part.stat().st_size, _core.unpack_limit()
        if size > _FREE and size > packed * limit:
            raise UserError(
                f"{part}: its {rows:,} rows take {size // packed:,} times as many bytes as the "
                f"file, and the limit is {limit:,} times",
                "if you trust it, raise --unpack-limit",
            )
        due, there = _TIMES * (size if whole else largest), memory.available()
        if due > there:
            raise UserError(
                f"{part}: its {rows:,} rows take {_mib(due)} of memory, and {_mib(there)} are free",
                "read it on a machine that has more",
            )


def _mib(size: int) -> str:
    return f"{size >> 20:,} MiB"


def types(frame: pl.LazyFrame, file: Path, hint: str) -> Mapping[str, pl.DataType]:
    """The columns that a file has, and their types. Raises UserError."""
    try:
        return frame.collect_schema()
    except UNREADABLE as error:
        raise UserError(f"{file}: cannot be read: {line(error)}", hint) from error


def fitting(frame: pl.LazyFrame, columns: Sequence[Column], file: Path, hint: str) -> pl.LazyFrame:
    """The rows of a table in its columns, in their order and types. Raises UserError, which
    names the file and the column, where one is missing or of another type.
    """
    due_types = polars_schema(tuple(columns))
    there = types(frame, file, hint)
    missing = [one.name for one in columns if one.name not in there]
    if missing:
        raise UserError(f"{file}: column {', '.join(missing)} is missing", hint)
    for name, due in due_types.items():
        actual = there[name]
        # A column without a value has no type of its own; of numbers the width makes no difference.
        if not (actual in (due, pl.Null) or (actual.is_integer() and due.is_numeric())):
            raise UserError(f"{file}: column {name} has type {actual}, not {due}", hint)
    return frame.select(
        pl.col(name) if there[name] == due else pl.col(name).cast(due)
        for name, due in due_types.items()
    )


def hold(rows: pl.LazyFrame, columns: Sequence[Column], file: Path, hint: str) -> None:
    """Reads all rows, as `fitting` gives them. Raises UserError, which names the file and the
    column, where one holds what it may not.
    """
    tests = [(f"column {one.name} {what}", test) for one in columns for what, test in _tests(one)]
    names = {one.name for one in columns}
    for first, *others in (group for group in TOGETHER if names.issuperset(group)):
        for other in others:
            apart = pl.col(first).is_null() != pl.col(other).is_null()
            tests.append((f"column {other} is null in other rows than {first}", apart))
    try:
        results = rows.select(test.any().alias(what) for what, test in tests)
        wrong = results.collect(engine="streaming").row(0, named=True)
    except UNREADABLE as error:
        raise UserError(f"{file}: cannot be read: {line(error)}", hint) from error
    for what, is_wrong in wrong.items():
        if is_wrong:
            raise UserError(f"{file}: {what}", hint)


def line(error: BaseException) -> str:
    """The first line of an error's text; what follows speaks of programs."""
    return str(error).partition("\n")[0]


def _tests(column: Column) -> Iterator[tuple[str, pl.Expr]]:
    """What is wrong with a value of a column, and where it is so."""
    value = pl.col(column.name)
    if not column.nullable:
        yield "lacks a value", value.is_null()
    if column.kind == "number":
        most = LONGEST_S if column.unit == "s" else LARGEST
        # What is no number is no more than any.
        yield "holds too large a number, or none", ~value.is_between(-most, most)
    elif column.kind == "integer" and column.unit != "ns":
        yield "holds too large a number", ~value.is_between(-LARGEST, LARGEST)
    elif column.name in WORDS:
        yield "holds another word than it may", ~value.is_in(list(WORDS[column.name]))
    elif column.name == "flow":
        yield "names no two ends", ~value.str.contains(" > ", literal=True)
    elif column.kind == "text":
        yield "holds too long a text", value.str.len_bytes() > LONGEST_TEXT

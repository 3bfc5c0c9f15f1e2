"""A baseline: what `rexmit diff` compares of a run, in one small file of text.

It is the run's run.json with the rows of its transfers in it, a line each, in the columns that are
compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit.errors import UserError
from rexmit.store import checked
from rexmit.store.files import write_text
from rexmit.store.open_run import Run
from rexmit.store.plain_json import read
from rexmit.store.run_json import OtherFormatError, checked_run
from rexmit.store.schema import GRID, TRANSFERS, polars_schema

FORMAT: Final = 1
"""Raise it when a column goes or means something else."""

_NAMES: Final = frozenset(
    {
        *GRID,
        *("cell", "repetition", "phase_s", "transfer_size_bytes"),
        *("complete", "stalled", "exact", "is_tlp", "mechanism"),
        *("t_total_s", "t_recover_s", "client_s", "srtt_s", "rto_s"),
        *("retransmissions", "timeouts", "probes", "spurious_retransmissions", "dsacks"),
    }
)
COLUMNS: Final = tuple(column for column in TRANSFERS if column.name in _NAMES)
"""Of transfers, what is compared."""

_ABOUT: Final = (
    *("format", "state", "name", "rexmit", "created", "command", "engine", "kernel", "model"),
    *("scenario", "seed", "failed_cells"),
)
"""Of run.json, what does not speak of the machine or of other files."""

_BEGINS: Final = b'{\n"baseline": '
_HINT: Final = "write it again: rexmit run SCENARIO --baseline FILE"


def write_baseline(run: Run, path: Path) -> None:
    """Writes what is compared of a run. Raises OSError."""
    rows = run.transfers.select(column.name for column in COLUMNS)
    about: dict[str, Any] = {key: run.meta[key] for key in _ABOUT if key in run.meta}
    lines = [json.dumps(row, ensure_ascii=False) for row in rows.rows()]
    head: dict[str, Any] = {"baseline": FORMAT, **about, "columns": rows.columns}
    fields = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    write_text(path, "{\n" + ",\n".join([*fields, '"rows": [\n' + ",\n".join(lines)]) + "\n]}\n")


def is_baseline(path: Path) -> bool:
    """Whether a file begins as one."""
    try:
        # Opening a pipe waits for its writer.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_BEGINS)) == _BEGINS
    except OSError:
        return False


def read_baseline(path: Path) -> Run:
    """As a run whose transfers have `COLUMNS`. Raises UserError."""
    try:
        data = read(path)
        if data.get("baseline") != FORMAT:
            raise UserError(
                f"{path}: the baseline has format {data.get('baseline')}, this program reads "
                f"format {FORMAT}",
                _HINT,
            )
        meta = checked_run(data)
        frame = _frame(data)
    except OtherFormatError as error:
        raise UserError(f"{path}: {error}", _HINT) from None
    except (OSError, ValueError, *checked.UNREADABLE) as error:
        raise UserError(f"{path}: cannot be read: {checked.line(error)}", _HINT) from None
    rows = checked.fitting(frame.lazy(), COLUMNS, path, _HINT)
    checked.hold(rows, COLUMNS, path, _HINT)
    if frame.is_empty() or frame.select("cell", "repetition").is_duplicated().any():
        raise UserError(f"{path}: it has no rows, or one of them twice", _HINT)
    return Run(path, meta, rows.collect())


def _frame(data: dict[str, Any]) -> pl.DataFrame:
    columns, rows = data.get("columns"), data.get("rows")
    names = [column.name for column in COLUMNS]
    if columns != names:
        raise ValueError("its columns are not those of a baseline")
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and len(row) == len(names) for row in rows
    ):
        raise ValueError("rows must be a list of rows, with a value a column")
    return pl.DataFrame(rows, schema=polars_schema(COLUMNS), orient="row", strict=True)

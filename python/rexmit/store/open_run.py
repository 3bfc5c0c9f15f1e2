"""Opening a run folder for reading: its format is checked here; failures say what to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from rexmit import escaping
from rexmit.errors import UserError
from rexmit.store import checked, digests, formats
from rexmit.store.run_json import NAME, OtherFormatError, read_run
from rexmit.store.schema import (
    BURSTS,
    GRID,
    RETRANSMISSIONS,
    SUBFLOWS,
    TRANSFERS,
    Column,
)
from rexmit.store.short_table import ShortTable, listed
from rexmit.wording import count

_TABLES = ("transfers", "retransmissions", "bursts", "subflows")


@dataclass(frozen=True, repr=False)
class Run(ShortTable):
    """A finished run. `meta` is run.json as it stands; transfers are in the file's order (row K is
    flow K).
    """

    path: Path
    meta: dict[str, Any]
    transfers: pl.DataFrame

    def retransmissions(self) -> pl.DataFrame:
        """The rows of retransmissions.parquet; UserError when it is missing or broken."""
        return _parquet(self.path / "retransmissions.parquet", RETRANSMISSIONS)

    def bursts(self) -> pl.DataFrame:
        """The rows of bursts.parquet, which runs with bursts have; UserError as above."""
        return _parquet(self.path / "bursts.parquet", BURSTS)

    def subflows(self) -> pl.DataFrame:
        """The rows of subflows.parquet, which runs with bursts have; UserError as above."""
        return _parquet(self.path / "subflows.parquet", SUBFLOWS)

    def about(self) -> list[tuple[str, str]]:
        """What it ran, and what of its grid varies."""
        title = self.scenario.get("title")
        names = [str(part) for part in (self.meta.get("name"), title) if part]
        kernel = self.meta.get("kernel")
        release = kernel.get("version") if isinstance(kernel, dict) else None
        ran = " ".join(str(part) for part in (self.meta.get("engine"), release) if part)
        frame = self.transfers
        axes = [
            (name, listed(frame[name].unique(maintain_order=True)))
            for name in GRID
            if name in ("network", "config") or frame[name].n_unique() > 1
        ]
        tables = [name for name in _TABLES if (self.path / f"{name}.parquet").is_file()]
        size = f"{count(frame.height, 'transfer')} in {count(frame['cell'].n_unique(), 'cell')}"
        return [
            ("run", str(self.path)),
            ("scenario", ": ".join(names)),
            ("ran on", ran),
            ("size", size),
            *axes,
            ("tables", ", ".join(tables)),
            ("to repeat", self.command or ""),
        ]

    @property
    def command(self) -> str | None:
        """What repeats the run, as run.json has it; it names no folder."""
        command = self.meta.get("command")
        return str(command) if command else None

    @property
    def scenario(self) -> dict[str, Any]:
        """The effective scenario; empty when run.json has none."""
        scenario = self.meta.get("scenario")
        return scenario if isinstance(scenario, dict) else {}


def open_run(path: Path) -> Run:
    """Reads RUN. Raises UserError for no such run, an unfinished one, another format, unreadable
    files, no transfers.
    """
    if not path.is_dir():
        what = "is a file, not a run folder" if path.exists() else "no such run"
        raise UserError(
            f"{path}: {what}", "give the folder that `rexmit run` wrote; it holds a run.json"
        )
    meta = _meta(path)
    table = path / "transfers.parquet"
    if not table.is_file():
        raise (
            _unfinished(path, meta)
            if meta is not None or (path / "partial").is_dir()
            else _no_run(path)
        )
    if meta is None:
        raise _no_run(path)
    fault = digests.fault(path, meta)
    if fault is not None:
        raise UserError(fault, _mended_by(path, meta))
    transfers = _parquet(table, TRANSFERS)
    if transfers.select("cell", "repetition").is_duplicated().any():
        raise UserError(f"{table}: two rows have the same cell, repetition", "repeat the run")
    if transfers.is_empty():
        raise UserError(f"{path}: the run has no transfer", _why_empty(meta))
    return Run(path, meta, transfers)


def _meta(path: Path) -> dict[str, Any] | None:
    file = path / NAME
    if not file.is_file():
        return None
    try:
        return read_run(file)
    except OtherFormatError as error:
        raise UserError(
            f"{file}: the run has format {error.found}, this program reads format {formats.RUN}",
            "show it with the version of rexmit that wrote it, or repeat the run",
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(
            f"{file}: cannot be read: {error}", "the file is damaged; repeat the run"
        ) from None


def _again(path: Path, meta: dict[str, Any] | None) -> str:
    """The command that goes on with the run, or makes it again where it is."""
    command = (meta or {}).get("command") or "rexmit run SCENARIO"
    return f"`{command} --out {escaping.shell_word(str(path))}`"


def _mended_by(path: Path, meta: dict[str, Any]) -> str:
    return f"{_again(path, meta)} makes the tables again"


def _no_run(path: Path) -> UserError:
    return UserError(
        f"{path}: not a run folder", "a run folder holds run.json and transfers.parquet"
    )


def _unfinished(path: Path, meta: dict[str, Any] | None) -> UserError:
    return UserError(
        f"{path}: the run is not finished",
        f"{_again(path, meta)} continues it where it stopped; "
        f"what is done is kept in {path / 'partial'}",
    )


def _why_empty(meta: dict[str, Any]) -> str:
    failed = meta.get("failed_cells") or []
    if not failed:
        return "its scenario asks for none"
    first = failed[0].get("message", "no message")
    return f"{count(len(failed), 'cell')} failed; the first: {first}"


def _parquet(file: Path, columns: tuple[Column, ...]) -> pl.DataFrame:
    if not file.exists():
        raise UserError(f"{file}: not there", "the run folder is not complete; repeat the run")
    checked.fits(file, "the file is damaged; repeat the run", whole=True)
    try:
        frame = pl.read_parquet(file, glob=False)
    except checked.UNREADABLE as error:
        raise UserError(
            f"{file}: cannot be read: {checked.line(error)}", "the file is damaged; repeat the run"
        ) from error
    hint = "the table was written by another version of rexmit; repeat the run"
    rows = checked.fitting(frame.lazy(), columns, file, hint)
    checked.hold(rows, columns, file, hint)
    return rows.collect()

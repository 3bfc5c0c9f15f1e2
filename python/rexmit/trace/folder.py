"""A trace's folder: written as batches come, whole or not at all; opened lazily.

`trace.json` (format, program, captures, what was read, the command), `connections.parquet`,
`retransmissions.parquet`, `whatif.parquet`, `whatif_totals.parquet`, with `--csv` each as CSV as
well, and `figures/`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import polars as pl

from rexmit.errors import UserError
from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import TABLES
from rexmit.trace.source import Batch, Facts, conformed, empty

FORMAT: Final = 1
"""The version of trace.json."""

META: Final = "trace.json"

_PART_VALUES: Final = 8_000_000
"""So many values of a table wait in memory for a part of it to be written. A table of one part is
sorted; a larger one keeps the order in which its connections ended (the same however many threads
analysed them), so that memory does not grow with the length of a capture.
"""

_ORDER: Final[Mapping[str, tuple[str, ...]]] = {
    "connections": ("connection",),
    "retransmissions": ("connection", "time_ns", "seq_start"),
    "whatif": ("connection", "direction"),
    "whatif_totals": ("stack", "setting"),
}


@dataclass(frozen=True)
class Trace:
    """A finished trace. `facts` is what was read of the captures."""

    path: Path
    meta: Mapping[str, Any]
    facts: Facts

    def scan(self, table: str) -> pl.LazyFrame:
        """A table, read when asked."""
        return pl.scan_parquet(self.path / f"{table}.parquet")

    @property
    def captures(self) -> list[str]:
        """The files that were analysed."""
        return [str(name) for name in self.meta.get("captures", [])]

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings under which the connections were replayed."""
        return tuple(self.facts.settings)


class Writer:
    """Writes a folder in one go; whatever ends it early leaves nothing behind.

    A folder that holds a trace is replaced at the end, one that holds anything else is refused.
    Of a folder that is not to be kept (`passing`) a table of several parts stays in them: a folder
    by the table's name, which is read as the file is.
    """

    def __init__(self, path: Path, *, passing: bool = False) -> None:
        self.path = path
        self._passing = passing
        self._work = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._waiting: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
        self._parts: dict[str, list[Path]] = {name: [] for name in TABLES}
        self._finished = False

    def __enter__(self) -> Self:
        if self.path.exists() and not self.path.is_dir():
            raise UserError(f"{self.path} is a file", "name another folder with --out")
        if self.path.is_dir() and any(self.path.iterdir()) and not (self.path / META).is_file():
            raise UserError(
                f"{self.path} holds other files and no trace",
                "name an empty or a new folder with --out",
            )
        try:
            (self._work / "parts").mkdir(parents=True)
        except OSError as error:
            raise UserError(
                f"{self.path}: cannot be written: {error.strerror}", "name another with --out"
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._work, ignore_errors=True)

    def add(self, batch: Batch) -> None:
        """Keeps the rows of a batch; they are on the disk when there are many."""
        for name, rows in batch.items():
            if rows.height:
                self._waiting[name].append(conformed(name, rows))
                waiting = sum(frame.height for frame in self._waiting[name])
                if waiting * len(TABLES[name]) >= _PART_VALUES:
                    self._flush(name)

    def _flush(self, name: str) -> None:
        if self._waiting[name]:
            rows = pl.concat(self._waiting[name])
            part = self._work / "parts" / f"{name}-{len(self._parts[name]):06}.parquet"
            # Read once, and whole: statistics would say what to leave out.
            rows.write_parquet(part, compression="lz4", statistics=False)
            self._parts[name].append(part)
            self._waiting[name] = []

    def finish(self, facts: Facts, meta: Mapping[str, Any], *, csv: bool = False) -> Trace:
        """Joins the parts and puts the folder in its place."""
        made = self._work / "made"
        made.mkdir()
        try:
            for name in TABLES:
                self._join(name, made / f"{name}.parquet")
                if csv:
                    pl.scan_parquet(made / f"{name}.parquet").sink_csv(made / f"{name}.csv")
            whole = {"format": FORMAT, "kind": "trace", **meta, "facts": asdict(facts)}
            text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
            (made / META).write_text(text, encoding="utf-8")
            self._put(made)
        except OSError as error:
            raise UserError(f"{self.path}: cannot be written: {error}") from error
        return Trace(self.path, whole, facts)

    def _join(self, name: str, path: Path) -> None:
        parts = self._parts[name]
        if not parts:
            whole = pl.concat([empty(name), *self._waiting[name]])
            whole.sort(*_ORDER[name], maintain_order=True).write_parquet(path, compression="zstd")
            return
        self._flush(name)
        if self._passing:
            path.mkdir()
            for part in parts:
                part.rename(path / part.name)
            return
        pl.scan_parquet(parts).sink_parquet(path, compression="zstd")

    def _put(self, made: Path) -> None:
        """The old folder makes room in one step and the new one takes its place in the next."""
        if self.path.exists():
            self.path.rename(self._work / "old")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        made.rename(self.path)


def is_trace(path: Path) -> bool:
    """Whether the folder holds a trace."""
    return (path / META).is_file()


def open_trace(path: Path) -> Trace:
    """Opens a trace's folder. Raises UserError for none, another format, missing tables."""
    if not is_trace(path):
        what = "there is no such folder" if not path.exists() else "it holds no trace"
        raise UserError(f"{path}: {what}", f"rexmit trace CAPTURE --out {path}")
    try:
        meta = json.loads((path / META).read_text(encoding="utf-8"))
        found, facts = meta["format"], Facts(**meta["facts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path / META}: cannot be read: {error}", "analyse the captures again"
        ) from error
    if found != FORMAT:
        raise UserError(
            f"{path / META}: the trace has format {found}, this program reads format {FORMAT}",
            "analyse the captures again",
        )
    trace = Trace(path, meta, facts)
    for name, columns in TABLES.items():
        _check(trace, name, set(polars_schema(columns)))
    return trace


def _check(trace: Trace, name: str, wanted: set[str]) -> None:
    file = trace.path / f"{name}.parquet"
    try:
        missing = wanted - set(trace.scan(name).collect_schema())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{file}: cannot be read: {error}", "analyse the captures again") from error
    if missing:
        raise UserError(
            f"{file}: column {', '.join(sorted(missing))} is missing", "analyse the captures again"
        )

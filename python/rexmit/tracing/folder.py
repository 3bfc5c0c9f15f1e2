"""A trace's folder: written as batches come, whole or not at all; opened lazily.

`trace.json` (format, program, captures, what was read, the command), a parquet file for each table
of `trace_schema`, with `--csv` each as CSV as well, and `figures/`. Where the captures are of
several points there are the tables of `points_schema`, too; with `--tables` only those named.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import polars as pl

from rexmit.errors import UserError, argument
from rexmit.store import checked, digests, formats, trace_tables
from rexmit.store.files import whole_file, whole_folder, write_text
from rexmit.store.opening import is_temporary
from rexmit.store.plain_json import (
    either,
    list_of,
    mapping_of,
    nothing,
    number,
    one_of,
    read,
    shape,
    text,
    whole,
)
from rexmit.store.schema import polars_schema, scan_table, without_formulas
from rexmit.store.short_table import ShortTable, listed
from rexmit.store.trace_schema import ORDERS, POINT_TABLES, TABLES
from rexmit.store.trace_tables import ANALYSE
from rexmit.tracing import changed as changes
from rexmit.tracing.changed import AS_READ, Changed
from rexmit.tracing.points.clocks import aligned
from rexmit.tracing.source import Batch, Facts, Failure, File, Lookup, empty, together
from rexmit.tracing.table_parts import TableParts, values

META: Final = "trace.json"

PART_VALUES: Final = 8_000_000
"""So many values of a table wait in memory for a part of it to be written. A table of one part is
sorted; a larger one keeps the order in which its connections ended (the same however many threads
analysed them), so that memory does not grow with the length of a capture.
"""

TALL: Final = 100_000
"""A table in memory of so many rows is sorted when it is read, as far as it is wanted: a page wants
few columns and rows of it."""

PIECE: Final = "piece"
"""The key in the trace.json of a piece: a trace that is a part of a longer one, in a folder with
the others. `began_s` is when it began to be written, seconds since 1970."""

NEXT: Final = "next_connection"
"""In there: the number that no connection of this piece, or of those before it, has reached."""

ONLY: Final = "only"
"""The key in a trace.json that names the tables of a trace that has not all."""

_LAST: Final = checked.LARGEST // 2
"""So many connections may come before a piece: further ones have numbers that tables may hold."""

_FILES: Final = tuple(
    f"{name}.{kind}" for name in (*TABLES, *POINT_TABLES) for kind in ("parquet", "csv")
)

_FILE: Final = shape(
    {
        "path": text,
        "packets": whole(),
        "first_s": either(number(), nothing),
        "last_s": either(number(), nothing),
    },
    needed=("path", "packets", "first_s", "last_s"),
)

_FAILURE: Final = shape(
    {
        "start_s": number(most=checked.LONGEST_S),
        "client": text,
        "client_port": whole(),
        "server": text,
        "server_port": whole(),
        "defect": text,
    },
    needed=("start_s", "client", "client_port", "server", "server_port", "defect"),
)

_LOOKUP: Final = shape(
    {
        "asker": text,
        "server": text,
        "name": either(text, nothing),
        "start_s": number(most=checked.LONGEST_S),
        "waited_s": number(most=checked.LONGEST_S),
        "questions": whole(),
        "answered": one_of(True, False),
    },
    needed=("asker", "server", "name", "start_s", "waited_s", "questions", "answered"),
)


def _captures(value: object, where: str) -> None:
    """Those of a point: one at least."""
    list_of(text)(value, where)
    if not value:
        raise ValueError(f"{where} is empty")


def _clock(value: object, where: str) -> None:
    """What times of a point are aligned by."""
    try:
        aligned(value, [])  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{where} is no clock: {error}") from error


def _pieces(_value: object, where: str) -> None:
    raise ValueError(f"{where} is not of one trace: its folder would be another's")


_CHECK: Final = shape(
    {
        "kind": one_of("trace"),
        "rexmit": text,
        "captures": list_of(text),
        "files": list_of(text),
        "command": text,
        "wall_s": number(),
        "points": list_of(
            shape(
                {
                    "name": text,
                    "captures": _captures,
                    "files": list_of(text),
                    "clock": _clock,
                },
                needed=("name", "captures", "files", "clock"),
            )
        ),
        "pieces": _pieces,
        ONLY: list_of(one_of(*TABLES, *POINT_TABLES)),
        PIECE: shape({"began_s": number(), NEXT: whole(most=_LAST)}, needed=("began_s", NEXT)),
        "facts": shape(
            {
                "packets": whole(),
                "tcp_packets": whole(),
                "bytes": whole(),
                "cut_packets": whole(),
                "not_understood": mapping_of(whole()),
                "evicted": whole(),
                "evicted_openings": whole(),
                "failed": whole(),
                "failed_packets": whole(),
                "failures": list_of(_FAILURE),
                "lookups": list_of(_LOOKUP),
                "warnings": list_of(text),
                "settings": list_of(text),
                "named": list_of(text),
                "stacks": list_of(text),
                "files": list_of(_FILE),
                "capture_filter": text,
                "left_out": whole(),
            }
        ),
        AS_READ: changes.CHECK,
        digests.KEY: digests.CHECK,
    },
    needed=("format", "facts"),
)
"""What this program reads of a trace.json."""


SLOW_S: Final = 0.2
"""A stretch of time that a person notices; the table `account` counts those."""


NAMED: Final = ("name", "path")
"""Columns of the table `requests` that hold what hosts sent."""

_LOOKUPS: Final = {
    **dict.fromkeys(("asker", "server", "name"), pl.String),
    **dict.fromkeys(("start_s", "waited_s"), pl.Float64),
    "questions": pl.Int64,
    "answered": pl.Boolean,
}

LOOKUPS: Final = "lookups"
"""What `Trace.scan` has besides: names that were looked up, rows with the fields of `Lookup`."""


@dataclass(frozen=True, repr=False)
class Trace(ShortTable):
    """A finished trace. `facts` is what was read of the captures. `meta["pieces"]`, where it is,
    has the names of the folders in `path` that it consists of, in the order of time. Its page calls
    a wait of `slow_s` slow; without `names` none is shown that hosts sent.
    """

    path: Path
    meta: Mapping[str, Any]
    facts: Facts
    held: Mapping[str, pl.DataFrame | pl.LazyFrame] = field(default_factory=dict, kw_only=True)
    slow_s: float = field(default=SLOW_S, kw_only=True)
    names: bool = field(default=True, kw_only=True)

    def scan(self, table: str) -> pl.LazyFrame:
        """A table, read when asked. Tables of points are without rows where there is one point.
        Raises UserError for one that was not made.
        """
        if self.only and table in TABLES | POINT_TABLES and table not in self.only:
            raise UserError(
                f"{self.path} has no table {table}, only {', '.join(self.only)}",
                f"{ANALYSE}, without {argument('tables')}",
            )
        if table in POINT_TABLES and not self.points:
            return pl.LazyFrame(schema=polars_schema(POINT_TABLES[table]))
        if table == LOOKUPS:
            shown = [asdict(one) for one in self.facts.lookups]
            rows = pl.DataFrame(shown, schema=_LOOKUPS).lazy()
            return rows if self.names else rows.with_columns(pl.lit("").alias("name"))
        if table in self.held:
            rows = self.held[table].lazy()
        elif self.held:
            # The folder is this process's own, and may lack what no page is made of.
            rows = scan_table(self.path / f"{table}.parquet")
        else:
            folders = [self.path / name for name in self.meta.get("pieces", [])] or [self.path]
            rows = pl.concat(trace_tables.scan(folder, table) for folder in folders)
        if table == "requests" and not self.names:
            rows = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in NAMED)
        return rows

    def about(self) -> list[tuple[str, str]]:
        """What it is of, and how much."""
        return [
            ("trace", str(self.path)),
            ("captures", listed(self.captures)),
            *([("points", listed(self.points))] if self.points else []),
            ("packets", f"{self.facts.packets:,}, {self.facts.tcp_packets:,} of TCP"),
            ("tables", ", ".join(self.only or TABLES)),
        ]

    @property
    def only(self) -> Sequence[str]:
        """The tables that it has, where it has not all."""
        return self.meta.get(ONLY) or ()

    @property
    def in_memory(self) -> bool:
        """Whether all its tables are there."""
        return TABLES.keys() <= self.held.keys()

    def numbered(self) -> pl.LazyFrame:
        """The connections with `number`, their rows in connections.parquet."""
        return self.scan("connections").with_row_index("number")

    @property
    def captures(self) -> list[str]:
        """The files that were analysed."""
        return [str(name) for name in self.meta.get("captures", [])]

    @property
    def points(self) -> list[str]:
        """The names of the points at which packets were captured; none where there is one point."""
        return [str(point["name"]) for point in self.meta.get("points", [])]

    @property
    def changed(self) -> list[Changed]:
        """The captures that have changed since they were analysed, as far as they are to be seen
        from here. `facts.warnings` says so, too.
        """
        return changes.changed(self.meta)

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings under which the connections were replayed."""
        return tuple(self.facts.settings)


class Writer:
    """Writes a folder in one go; whatever ends it early leaves nothing behind.

    A folder that holds a trace is replaced at the end where `replace` says so; one that holds
    anything else is refused.
    Of a folder that is not to be kept (`passing`), and of parts that others have written (`take`),
    a table of several parts stays in them: a folder by the table's name, which is read as the file
    is, with a folder `part=NUMBER` for each, in the order in which connections ended. The other
    tables of one that is not to be kept are held in memory, and it has no trace.json. `beside` is
    what may lie in the folder before it is a trace's; it goes when the trace is there. Where
    `tables` names some, the others are left out.
    """

    def __init__(
        self,
        path: Path,
        *,
        passing: bool = False,
        beside: str | None = None,
        replace: bool = False,
        tables: Sequence[str] | None = None,
    ) -> None:
        self.path = path
        self._only = tables or ()
        self._passing = self._stays = passing
        self._check = partial(check_place, path, beside=beside, replace=replace)
        self._whole = ExitStack()
        self._of_points: dict[str, pl.DataFrame] = {}
        self._left = False

    def __enter__(self) -> Self:
        self._check()
        try:
            # While the captures were analysed, somebody may have put something there.
            self._made = self._whole.enter_context(whole_folder(self.path, replaces=self._check))
        except OSError as error:
            raise UserError(
                f"{self.path}: cannot be written: {error.strerror}",
                f"name another with {argument('out')}",
            ) from error
        self._parts = TableParts(self._made / "parts", PART_VALUES, lasting=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._left and kind is None:
            self._whole.__exit__(_LeftError, _LeftError(), None)
            return
        self._whole.__exit__(kind, error, trace)

    def add(self, batch: Batch) -> None:
        """Keeps the rows of a batch; they are on the disk when there are many. Tables of several
        points come once, whole.
        """
        self._of_points |= {name: rows for name, rows in batch.items() if name in POINT_TABLES}
        self._parts.add({name: rows for name, rows in batch.items() if name in TABLES})

    def take(self, name: str, parts: Sequence[tuple[Path, int]]) -> None:
        """Takes in a table that was written in parts on this file system: files in their order,
        and how many rows each has. They are moved here. In place of `add`, not beside it.
        """
        self._stays = True
        if values(name, sum(rows for _, rows in parts)) < PART_VALUES:
            self._parts.add(
                {
                    name: pl.concat(
                        [empty(name), *(pl.read_parquet(p, glob=False) for p, _ in parts)]
                    )
                }
            )
            return
        for part, _ in parts:
            self._parts.take(name, part)

    def flush(self) -> None:
        """Writes the rows that wait in memory."""
        for name in TABLES:
            self._parts.flush(name)

    @property
    def waiting_bytes(self) -> int:
        """Bytes of the rows that wait in memory, there."""
        frames = (frame for waiting in self._parts.waiting.values() for frame in waiting)
        return sum(int(frame.estimated_size()) for frame in frames)

    @property
    def parts_bytes(self) -> int:
        """Bytes of the rows that are on the disk."""
        return sum(part.stat().st_size for files in self._parts.files.values() for part in files)

    def leave(self) -> None:
        """Nothing is kept: the folder is as it was."""
        self._left = True

    def finish(self, facts: Facts, meta: Mapping[str, Any], *, csv: bool = False) -> Trace:
        """Joins the parts. The folder is in its place once the writer is left."""
        folder = self._made
        held: dict[str, pl.DataFrame | pl.LazyFrame] = {}
        kept = self._only or (*TABLES, *self._of_points)
        tables = {name: self._whole_table(name) for name in TABLES if name in kept}
        tables |= {name: rows for name, rows in self._of_points.items() if name in kept}
        if self._only:
            meta = {**meta, ONLY: list(self._only)}
        for name, rows in tables.items():
            path = folder / f"{name}.parquet"
            if rows is None:
                self._join(name, path)
            elif self._passing:
                held[name] = rows
            else:
                assert isinstance(rows, pl.DataFrame)  # noqa: S101 - it is sorted already
                with whole_file(path) as file:
                    rows.write_parquet(file, compression="zstd")
            if csv and not self._passing:
                with whole_file(folder / f"{name}.csv") as file:
                    without_formulas(scan_table(path)).sink_csv(file)
        shutil.rmtree(self._parts.folder, ignore_errors=True)
        if self._passing:
            return Trace(self.path, meta, facts, held=held)
        about = {
            "format": formats.TRACE,
            "kind": "trace",
            **meta,
            "facts": asdict(facts),
            digests.KEY: digests.of_tables(folder, _all_files(folder)),
        }
        write_text(folder / META, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
        return Trace(self.path, about, facts)

    def _whole_table(self, name: str) -> pl.DataFrame | pl.LazyFrame | None:
        """A table of one part, sorted; a tall one that passes is sorted when it is read. None for
        one of which parts are on the disk.
        """
        if self._parts.files[name]:
            self._parts.flush(name)
            return None
        parts = self._parts.waiting[name]
        rows = pl.concat(parts) if parts else empty(name)
        tall = self._passing and rows.height >= TALL
        return (rows.lazy() if tall else rows).sort(*ORDERS[name], maintain_order=True)

    def _join(self, name: str, path: Path) -> None:
        """A table of the parts that are on the disk."""
        parts = self._parts.files[name]
        if not self._stays:
            with whole_file(path) as file:
                pl.scan_parquet(parts, glob=False).sink_parquet(file, compression="zstd")
            return
        for at, part in enumerate(parts):
            place = path / f"part={at:06}" / "rows.parquet"
            place.parent.mkdir(parents=True)
            part.rename(place)


def _all_files(folder: Path) -> list[str]:
    """The files of all tables, those in parts too."""
    parts = folder.glob("*.parquet/part=*/rows.parquet")
    return [*_FILES, *sorted(str(part.relative_to(folder)) for part in parts)]


class _LeftError(Exception):
    """A folder is left as it was."""


def check_place(path: Path, *, beside: str | None = None, replace: bool = False) -> None:
    """Raises UserError where a trace cannot be written to this folder: it is a file, it holds a
    trace that is not to be replaced, or other files than a trace's and `beside`.
    """
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file", f"name another folder with {argument('out')}")
    there = path.iterdir() if path.exists() else ()
    names = {one.name for one in there if not is_temporary(one)} - {beside}
    if META not in names and names:
        raise UserError(
            f"{path} holds other files and no trace",
            f"name an empty or a new folder with {argument('out')}",
        )
    if names and not replace:
        raise UserError(
            f"{path} holds a trace already",
            f"replace it with {argument('replace')}, or name another folder with {argument('out')}",
        )
    if strange := sorted(names - {META, "figures", *_FILES}):
        raise UserError(
            f"{path} holds {strange[0]} beside its trace, which would be lost",
            f"move it away, or name another folder with {argument('out')}",
        )


def is_trace(path: Path) -> bool:
    """Whether the folder holds a trace, or pieces of one."""
    return (path / META).is_file() or bool(pieces_of(path))


def pieces_of(path: Path) -> list[Path]:
    """The folders of the pieces in a folder, the oldest first."""
    try:
        names = sorted(one.name for one in path.iterdir())
    except OSError:
        return []
    return [path / name for name in names if _PIECE_NAME.fullmatch(name) and _is_piece(path / name)]


_PIECE_NAME: Final = re.compile(r"\d{8}T\d{6}Z-\d{4,}")
"""When it began, UTC, and a number, should another have begun in that second."""


def _is_piece(path: Path) -> bool:
    return (path / META).is_file()


def next_connection(path: Path) -> int:
    """The smallest number that no connection of a folder's pieces has; 0 without pieces."""
    known = {piece: _meta(piece).get(PIECE) for piece in pieces_of(path)}
    strange = next((piece for piece, about in known.items() if about is None), None)
    if strange is not None:
        raise UserError(f"{strange} is a trace of its own, and no piece", "name another folder")
    return max((int(about[NEXT]) for about in known.values() if about), default=0)


def _open_pieces(path: Path, folders: Sequence[Path]) -> Trace:
    """Pieces as one trace. Those that are deleted meanwhile are left out."""
    opened = []
    for folder in folders:
        try:
            opened.append(open_trace(folder))
        except UserError:
            if folder.exists():
                raise
    if not opened:
        raise UserError(f"{path}: its pieces were deleted", "look again")
    strange = next((one.path for one in opened if PIECE not in one.meta), None)
    if strange is not None:
        raise UserError(f"{path} is a folder of traces", f"give one of them, as {strange}")
    captures = list(dict.fromkeys(name for one in opened for name in one.captures))
    meta = {
        **opened[-1].meta,
        "captures": captures,
        "pieces": [one.path.name for one in opened],
        "wall_s": sum(one.meta.get("wall_s", 0.0) for one in opened),
    }
    return Trace(path, meta, together([one.facts for one in opened], ", ".join(captures)))


def open_trace(path: Path) -> Trace:
    """Opens a trace's folder, or one of pieces as one trace. Raises UserError for none, another
    format, missing tables.
    """
    if not (path / META).is_file() and (folders := pieces_of(path)):
        return _open_pieces(path, folders)
    if not is_trace(path):
        what = "there is no such folder" if not path.exists() else "it holds no trace"
        raise UserError(f"{path}: {what}", f"rexmit trace CAPTURE --out {path}")
    meta = _meta(path)
    version, facts = meta["format"], _facts(meta["facts"])
    if version != formats.TRACE:
        by = f", written by rexmit {meta['rexmit']}" if "rexmit" in meta else ""
        raise UserError(
            f"{path / META}: the trace has format {version}{by}; this program reads format "
            f"{formats.TRACE}",
            ANALYSE,
        )
    tables = {*TABLES, *POINT_TABLES}
    kept = [name for name in meta.get(digests.KEY, {}) if name.partition(".parquet")[0] in tables]
    fault = digests.fault(path, meta, kept)
    if fault is not None:
        raise UserError(fault, ANALYSE)
    trace_tables.hold(path, meta.get(ONLY) or (tables if meta.get("points") else TABLES))
    change = changes.line(changes.changed(meta))
    return Trace(path, meta, replace(facts, warnings=[*facts.warnings, *change]))


def _meta(path: Path) -> Mapping[str, Any]:
    """A trace.json. Raises UserError."""
    try:
        meta: Mapping[str, Any] = read(path / META)
        _CHECK(meta, "")
        _facts(meta["facts"])
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{path / META}: cannot be read: {error}", ANALYSE) from error
    return meta


def _facts(data: Mapping[str, Any]) -> Facts:
    files = tuple(File(**file) for file in data.get("files", ()))
    failures = tuple(Failure(**failure) for failure in data.get("failures", ()))
    lookups = tuple(Lookup(**lookup) for lookup in data.get("lookups", ()))
    return Facts(**{**data, "files": files, "failures": failures, "lookups": lookups})

"""The run folder: what stands where, who may write, and whether it is the run that is asked for."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from rexmit.errors import UserError, argument
from rexmit.store import digests, formats
from rexmit.store import record as records
from rexmit.store.files import remove, write_text
from rexmit.store.opening import inner_folder, is_temporary, lasting_file, named_folder
from rexmit.store.record import Record
from rexmit.store.run_json import NAME, OtherFormatError, read_run
from rexmit.store.untrusted import copy_file

TABLES: Final = ("transfers.parquet", "transfers.csv", "retransmissions.parquet")
"""The tables of every run."""

ALL_TABLES: Final = (*TABLES, "bursts.parquet", "subflows.parquet")
"""Those and what only some have."""


class RunFolder:
    """The folder of one run, finished or not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.meta_file = path / NAME
        self.partial = path / "partial"
        self.captures = path / "captures"

    def read_meta(self) -> dict[str, Any] | None:
        """run.json as it stands; None where there is no run yet.

        Raises UserError where the folder holds something else, or a run of another format.
        """
        if not self.path.exists():
            return None
        if not self.path.is_dir():
            raise UserError(f"{self.path} is a file", f"name another folder with {argument('out')}")
        if not self.meta_file.exists():
            # A program that was killed at its very start leaves no more than this.
            strange = [
                entry
                for entry in self.path.iterdir()
                if entry != self.partial and not is_temporary(entry)
            ]
            if strange:
                raise UserError(
                    f"{self.path} holds other files and no run",
                    f"name an empty or a new folder with {argument('out')}",
                )
            return None
        try:
            return read_run(self.meta_file, own=True)
        except OtherFormatError as error:
            raise UserError(
                f"{self.meta_file} has format {error.found}, this program writes {formats.RUN}",
                f"name another folder with {argument('out')}",
            ) from None
        except ValueError as error:
            raise UserError(
                f"cannot read {self.meta_file}: it is no run.json of a run ({error})",
                f"name another folder with {argument('out')}, or remove this one",
            ) from None

    def write_meta(self, meta: Mapping[str, Any]) -> None:
        """Write run.json, whole or not at all."""
        write_text(self.meta_file, json.dumps(meta, indent=2, ensure_ascii=False) + "\n")

    def table_digests(self) -> dict[str, Any]:
        """The digests of all tables, for run.json."""
        return digests.of_tables(self.path, ALL_TABLES)

    def tables_fault(self, meta: Mapping[str, Any]) -> str | None:
        """What is wrong with the tables, by what `meta`, its run.json, says of them."""
        for name in TABLES:
            if not (self.path / name).is_file():
                return f"{self.path / name}: not there"
        return digests.fault(self.path, meta)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if need be and keep other processes from writing here.

        Raises UserError where one does already. What a killed one left half written goes.
        """
        with self._lock():
            for place in (self.path, self.partial, self.captures):
                if place.is_dir() and (place == self.path or not place.is_symlink()):
                    for entry in place.iterdir():
                        if is_temporary(entry):
                            remove(entry)
            yield

    def _lock(self) -> IO[str]:
        path = self.partial / "lock"
        while True:
            named_folder(self.path)
            try:
                inner_folder(self.partial)
                lock = os.fdopen(lasting_file(path), "r")
            except FileNotFoundError:
                continue  # whoever was here has just removed it
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                raise UserError(
                    f"another rexmit is at work in {self.path}",
                    f"wait for it, or name another folder with {argument('out')}",
                ) from None
            except BaseException:
                lock.close()
                raise
            # One that was locked and removed by another in between keeps nobody out.
            if path.exists() and path.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                return lock
            lock.close()

    def records(self, damaged: Callable[[str], None] | None = None) -> Iterator[Record]:
        """The records of the cells that ended well.

        One that cannot be read is removed and `damaged` told, or without that a UserError.
        """
        for path in sorted(self.partial.glob("cell-*.record")):
            try:
                record = records.read(path)
                if path != self._file(record.cell):
                    raise ValueError(f"it is of cell {record.cell}")
            except ValueError as error:
                if damaged is None:
                    raise UserError(
                        f"cannot read {path}: {error}",
                        "give the same command again: it runs that cell again",
                    ) from None
                path.unlink()
                damaged(f"{path} was damaged: its cell runs again ({error})")
            else:
                yield record

    def _file(self, cell: int) -> Path:
        return self.partial / f"cell-{cell:06}.record"

    @property
    def has_records(self) -> bool:
        """There is something to go on from."""
        return any(self.partial.glob("cell-*.record"))

    def add(self, record: Record) -> None:
        """Keep the record of a cell that did not fail."""
        records.write(record, self._file(record.cell))

    def take_captures(self, source: Path, cell: int, first: int = 0) -> None:
        """Move a guest's captures, `ID-REPETITION.HOST.pcapng`, here and name them by the cell, and
        by repetitions that are counted from `first` on."""
        for path in sorted(source.glob("*-*.pcapng")):
            inner_folder(self.captures)
            parts = re.fullmatch(r"[0-9]+-([0-9]{1,9})(\.h[0-9]\.pcapng)", path.name)
            if parts is None:
                continue
            name = f"{cell}-{int(parts[1]) + first}{parts[2]}"
            if path.is_file() and not path.is_symlink():
                copy_file(path, self.captures / name)
                path.unlink()

    def drop_partial(self) -> None:
        """Remove what only an unfinished run needs."""
        shutil.rmtree(self.partial, ignore_errors=True)

    def clear(self) -> None:
        """Remove a run that did not come to anything; the folder too where nothing else is in it.

        Only for who holds the lock.
        """
        self.meta_file.unlink(missing_ok=True)
        shutil.rmtree(self.captures, ignore_errors=True)
        self.drop_partial()
        with contextlib.suppress(OSError):
            self.path.rmdir()

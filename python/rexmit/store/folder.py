"""The run folder: what stands where, who may write, and whether it is the run that is asked for."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError
from rexmit.store import record as records
from rexmit.store.files import write_text
from rexmit.store.record import Record

FORMAT: Final = 1
"""The version of run.json."""


class RunFolder:
    """The folder of one run, finished or not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.meta_file = path / "run.json"
        self.partial = path / "partial"
        self.captures = path / "captures"

    def read_meta(self) -> dict[str, Any] | None:
        """run.json as it stands; None where there is no run yet.

        Raises UserError where the folder holds something else, or a run of another format.
        """
        if not self.path.exists():
            return None
        if not self.path.is_dir():
            raise UserError(f"{self.path} is a file", "name another folder with --out")
        if not self.meta_file.exists():
            if any(self.path.iterdir()):
                raise UserError(
                    f"{self.path} holds other files and no run",
                    "name an empty or a new folder with --out",
                )
            return None
        try:
            meta = json.loads(self.meta_file.read_text(encoding="utf-8"))
            found = meta["format"]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(
                f"cannot read {self.meta_file}: {error}", "name another folder with --out"
            ) from None
        if found != FORMAT:
            raise UserError(
                f"{self.meta_file} has format {found}, this program writes {FORMAT}",
                "name another folder with --out",
            )
        return dict(meta)

    def write_meta(self, meta: Mapping[str, Any]) -> None:
        """Write run.json, whole or not at all."""
        write_text(self.meta_file, json.dumps(meta, indent=2, ensure_ascii=False) + "\n")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing here. Raises UserError where one does already."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.partial.mkdir(exist_ok=True)
        with (self.partial / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(
                    f"another rexmit is at work in {self.path}",
                    "wait for it, or name another folder with --out",
                ) from None
            yield

    def records(self) -> Iterator[Record]:
        """The records of the boots that ended with no failed cell."""
        for path in sorted(self.partial.glob("boot-*.json")):
            yield records.read(path)

    def add(self, record: Record) -> None:
        """Keep the record of a boot; one with failed cells is not kept."""
        if not record.failed:
            records.write(record, self.partial / f"boot-{record.boot:06}.json")

    def take_captures(self, source: Path, cells: set[int]) -> None:
        """Move the captures of these cells out of a share folder."""
        for path in sorted(source.glob("*.pcapng")):
            cell = path.name.partition("-")[0]
            if cell.isdecimal() and int(cell) in cells:
                self.captures.mkdir(exist_ok=True)
                temporary = self.captures / f".{path.name}.tmp"
                shutil.move(path, temporary)
                temporary.replace(self.captures / path.name)

    def drop_partial(self) -> None:
        """Remove what only an unfinished run needs."""
        shutil.rmtree(self.partial, ignore_errors=True)

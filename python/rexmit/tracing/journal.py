"""What an interrupted analysis on a cluster has done already.

While it is at work, the trace's folder holds `partial/` alone: `journal.json` says what is asked,
and has the key by which connections are spread over groups, drawn once for all workers;
`parts/` has what was read of each capture, `rows/` the rows of each group of connections and
`tables/` those of all groups, put together. Each is under a name that follows from all that it
depends on: the capture (its name, size, and tag or time), the settings, the program. So what is
there is what would be made, and a capture that has changed has another name.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError, argument
from rexmit.sources import Capture
from rexmit.sources.capture import identity
from rexmit.store.files import remove, write_text
from rexmit.store.opening import inner_folder, lasting_file, named_folder
from rexmit.store.plain_json import read
from rexmit.tracing.folder import check_place
from rexmit.tracing.tasks import SEEN

PARTIAL: Final = "partial"
"""The folder of what is not yet a trace."""

JOURNAL: Final = "journal.json"


class Journal:
    """The folder `partial` of a trace that is being made by `program` with `settings`."""

    def __init__(self, out: Path, program: str, settings: Mapping[str, Any]) -> None:
        self.folder = (out / PARTIAL).absolute()
        self.parts, self.rows = self.folder / "parts", self.folder / "rows"
        self.tables = self.folder / "tables"
        self._out = out
        self.key = self._kept_key() or [secrets.randbits(64) for _ in range(3)]
        self._asked = {"program": program, "settings": dict(settings), "key": self.key}
        self._about: dict[str, Any] = {}

    def _kept_key(self) -> list[int] | None:
        """The key by which an interrupted analysis spreads connections over groups."""
        key = self._kept("key")
        try:
            is_one = len(key) == 3 and all(0 <= word < 1 << 64 for word in key)
        except TypeError:
            return None
        return list(map(int, key)) if is_one else None

    @contextmanager
    def open(
        self, captures: Sequence[Capture], *, resume: bool, replace: bool = False
    ) -> Iterator[bool]:
        """Makes the folder, or goes on with one that is there where `resume` says so. Others are
        kept out meanwhile. Gives whether a trace that is there is replaced: as `replace` says, or
        as whoever began with the same captures said. Where nothing was made, nothing is left.
        Raises UserError.
        """
        if resume and not self.folder.exists():
            raise UserError(
                f"{self._out} holds no analysis that was interrupted",
                f"leave {argument('resume')} out",
                usage=True,
            )
        asked = [identity(one) for one in captures]
        replace = replace or (resume and self._begun_with() == [one["name"] for one in asked])
        if resume or not self.has_any():
            check_place(self._out, beside=PARTIAL, replace=replace)
        is_ours = not self._out.exists()
        lock = self._lock()
        try:
            if self.has_any() and not resume:
                raise UserError(
                    f"{self._out} holds an analysis that was interrupted",
                    f"go on with {argument('resume')}, or remove {self.folder}",
                )
            self._about = {**self._asked, "captures": asked, "groups": self._kept("groups")}
            self._write()
            yield replace
        finally:
            if not self.has_any():
                self.drop()
                if is_ours:
                    # It is kept where it holds anything.
                    with suppress(OSError):
                        self._out.rmdir()
            os.close(lock)

    def groups(self, groups: int) -> int:
        """How many groups connections are divided into: so many, or as an analysis had them that
        was interrupted. Inside `open`.
        """
        before = self._about["groups"]
        if not isinstance(before, int) or before < 1:
            self._about["groups"] = groups
            self._write()
        return int(self._about["groups"])

    def _write(self) -> None:
        write_text(self.folder / JOURNAL, json.dumps(self._about, indent=2) + "\n")

    def _kept(self, name: str) -> Any:  # noqa: ANN401 - as JSON has it
        """What the journal of an interrupted analysis has under this name."""
        try:
            return read(self.folder / JOURNAL)[name]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _begun_with(self) -> list[str] | None:
        """The names of the captures of the analysis that was interrupted."""
        try:
            return [one["name"] for one in self._kept("captures")]
        except (KeyError, TypeError):
            return None

    def _lock(self) -> int:
        """Makes the folder. Gives what keeps others out of it while it is open."""
        try:
            named_folder(self._out)
            inner_folder(self.folder)
            for place in self._folders:
                os.close(lasting_file(inner_folder(place) / SEEN))
            lock = lasting_file(self.folder / "lock")
        except OSError as error:
            raise UserError(
                f"{self._out}: cannot be written: {error.strerror}",
                f"name another with {argument('out')}",
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise UserError(
                f"another rexmit is at work in {self._out}",
                f"wait for it, or name another folder with {argument('out')}",
            ) from None
        return lock

    @property
    def _folders(self) -> tuple[Path, ...]:
        return (self.parts, self.rows, self.tables)

    def has_any(self) -> bool:
        """Whether anything was made that need not be made again."""
        return any(True for folder in self._folders for _ in folder.glob("*.json"))

    def part(self, capture: Capture, **settings: object) -> Path:
        """Where what is read of a capture lies."""
        return self.parts / _name(self._asked["program"], identity(capture), settings)

    def of_group(self, parts: Sequence[Path], group: int) -> Path:
        """Where the rows of a group lie."""
        return self.rows / _name(self._asked, [part.name for part in parts], group)

    def judged(self, rows: Sequence[Path]) -> Path:
        """Where what is judged over all groups lies."""
        return self.rows / _name([path.name for path in rows])

    def merged(self, judged: Path, pieces: tuple[int, int]) -> Path:
        """Where the tables of some pieces lie, those from one number on to before another."""
        return self.tables / f"{judged.name}-{pieces[0]:06}-{pieces[1]:06}"

    def forget(self, wanted: Iterable[Path]) -> None:
        """Removes what nobody asks for any more: of captures that have changed."""
        names = {path.name for path in wanted} | {SEEN}
        for folder in self._folders:
            for path in folder.iterdir():
                if path.name.removesuffix(".json").partition("-")[0] in names:
                    continue
                remove(path)

    def drop(self) -> None:
        """Removes all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _name(*values: object) -> str:
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]

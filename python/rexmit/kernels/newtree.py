"""A new folder that is filled from a source of somebody else's: nothing leads out of it.

The folder is private to this process, so what it contains is what was put there through this
class. A folder of it is one that was made here, never a link to one: an entry can only be made
below folders like that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels.kernel import printable
from rexmit.kernels.within import LONGEST_NAME, check_name
from rexmit.store.opening import new_file

MOST_ENTRIES: Final = 500_000
"""Linux 6.12 has 93,000 files and folders."""
MOST_BYTES: Final = 8 << 30
"""Linux 6.12 has 1.6 GB."""


class NewTree:
    """The folder `top`, made here; `where` names its source in errors.

    Its methods raise UserError for names that lead out or cannot be, and for a source without end.
    """

    def __init__(self, top: Path, where: str) -> None:
        top.mkdir(parents=True)
        self._top = str(top)
        self._where = where
        self._folders = {""}
        self._entries = 0
        self._bytes = 0

    def file(self, name: str, content: Iterable[bytes], *, executable: bool) -> None:
        """Make a file."""
        path = self._place(name)
        try:
            descriptor = new_file(path, 0o777 if executable else 0o666)
        except FileExistsError:
            raise self._twice(name) from None
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            for block in content:
                self._bytes += len(block)
                if self._bytes > MOST_BYTES:
                    raise UserError(f"{self._where}: more than {MOST_BYTES >> 30} GiB")
                file.write(block)

    def link(self, name: str, target: str) -> None:
        """Make a symbolic link. It may lead anywhere: nothing here follows it."""
        path = self._place(name)
        encoded = os.fsencode(target)
        if not encoded or b"\0" in encoded or len(encoded) > LONGEST_NAME:
            raise UserError(f"{self._where}: the link {printable(name)} has an impossible target")
        try:
            Path(path).symlink_to(target)
        except FileExistsError:
            raise self._twice(name) from None

    def _place(self, name: str) -> str:
        check_name(name, self._where)
        self._count()
        folder = name.rpartition("/")[0]
        if folder not in self._folders:
            self._make(folder)
        return f"{self._top}/{name}"

    def _make(self, folder: str) -> None:
        parts = folder.split("/")
        for depth in range(1, len(parts) + 1):
            above = "/".join(parts[:depth])
            if above in self._folders:
                continue
            self._count()
            try:
                Path(self._top, above).mkdir()
            except FileExistsError:
                raise UserError(
                    f"{self._where}: {printable(folder)} leads out of the tree or nowhere: "
                    f"{printable(above)} is no folder"
                ) from None
            self._folders.add(above)

    def _count(self) -> None:
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            raise UserError(f"{self._where}: more than {MOST_ENTRIES:,} files")

    def _twice(self, name: str) -> UserError:
        return UserError(f"{self._where}: {printable(name)} is there twice")

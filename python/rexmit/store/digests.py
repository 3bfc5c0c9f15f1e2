"""Digests of a folder's tables, kept in the file that describes the folder.

Parquet has a checksum for each page, which Polars neither writes nor reads: a bit that flips on the
disk is another value, and nobody is told. So what describes a folder has each table's size and
SHA-256, and whoever opens the folder looks whether they are still the same. A folder whose
description has none is taken as it is.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from rexmit.store.plain_json import Check, mapping_of, shape, text, whole

KEY: Final = "tables"
"""Where the digests stand."""


def _digest(value: object, where: str) -> None:
    text(value, where)
    if not re.fullmatch("[0-9a-f]{64}", str(value)):
        raise ValueError(f"{where} must be 64 hexadecimal digits")


_EACH: Final = mapping_of(shape({"bytes": whole(), "sha256": _digest}, needed=("bytes", "sha256")))

_NAME: Final = re.compile(r"[\w=-][\w.=-]*(/[\w=-][\w.=-]*)*")
"""A file in the folder or below."""


def _digests(value: object, where: str) -> None:
    _EACH(value, where)
    assert isinstance(value, dict)  # noqa: S101 - was just checked
    for name in value:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{where} names {name}, which is no table")


CHECK: Final[Check] = _digests
"""What stands there."""


def of_tables(folder: Path, names: Iterable[str]) -> dict[str, Any]:
    """The digests of these tables, of those that are there."""
    return {name: _of_table(folder / name) for name in names if (folder / name).is_file()}


def _of_table(file: Path) -> dict[str, Any]:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return {"bytes": opened.tell(), "sha256": digest}


def fault(folder: Path, meta: Mapping[str, Any], names: Iterable[str] | None = None) -> str | None:
    """What is wrong with the folder's tables (with those of `names`, where it is given), by the
    digests in `meta`, which was read from the file that describes it. None where nothing is."""
    for name, kept in meta.get(KEY, {}).items():
        if names is not None and name not in names:
            continue
        file = folder / name
        try:
            status = file.stat()
            if not stat.S_ISREG(status.st_mode):
                return f"{file}: is no file"
            size = status.st_size
            if size != kept["bytes"]:
                return f"{file}: damaged: it has {size:,} bytes, {kept['bytes']:,} were written"
            if _of_table(file) != kept:
                return f"{file}: damaged: its content is not what was written"
        except FileNotFoundError:
            return f"{file}: not there"
        except OSError as error:
            return f"{file}: cannot be read: {error.strerror or error}"
    return None

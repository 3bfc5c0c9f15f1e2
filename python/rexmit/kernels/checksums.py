"""Whether a kernel's files are those that were built: their digests in `SHA256SUMS`.

The file is one that `sha256sum --check` reads. It stands beside `kernel.json` and not in it: so it
covers that file too.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from rexmit.kernels.kernel import DESCRIPTION, SYMBOLS, Kernel
from rexmit.store.files import write_text

SUMS: Final = "SHA256SUMS"
FILES: Final = ("config", DESCRIPTION, "linux")
"""What is covered: all that anything depends on."""
OPTIONAL: Final = ("modules", SYMBOLS)
"""Covered, too, where there are any."""

_LONGEST: Final = 4096


def write(folder: Path) -> None:
    """Write the sums of a kernel that is finished."""
    write_text(folder / SUMS, _text(folder))


def fault(kernel: Kernel) -> str | None:
    """What is wrong with the kernel's files, or None. Reads them all: some 10 MB, 10 ms."""
    try:
        with (kernel.folder / SUMS).open("rb") as file:
            kept = file.read(_LONGEST)
        if kept == _text(kernel.folder).encode("ascii"):
            return None
    except FileNotFoundError as error:
        return f"damaged: {Path(error.filename).name} is missing"
    except OSError as error:
        return f"damaged: {error.strerror}"
    lines = kept.splitlines()
    changed = [
        name for name in _files(kernel.folder) if _line(kernel.folder, name).encode() not in lines
    ]
    return f"damaged: not as {SUMS} has it: {', '.join(changed) or SUMS}"


def _text(folder: Path) -> str:
    return "".join(f"{_line(folder, name)}\n" for name in _files(folder))


def _files(folder: Path) -> tuple[str, ...]:
    return (*FILES, *(name for name in OPTIONAL if (folder / name).exists()))


def _line(folder: Path, name: str) -> str:
    descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        return f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}"

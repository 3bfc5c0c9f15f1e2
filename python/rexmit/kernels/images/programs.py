"""Programs of this machine as files for a guest that sees none of its own: with their libraries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels.images import cpio
from rexmit.kernels.within import whole

_LIBRARY: Final = re.compile(r"(?:=> )?(/\S+) \(0x[0-9a-f]+\)$")
_FIRST_LINE: Final = 256
MOST_BYTES: Final = 1 << 30
"""All that a guest is given at a time."""

ACCOUNTS: Final = {
    "/etc/passwd": cpio.file(
        b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
    ),
    "/etc/group": cpio.file(b"root:x:0:\nnogroup:x:65534:\n"),
    "/etc/nsswitch.conf": cpio.file(b"passwd: files\ngroup: files\nhosts: files\n"),
    "/etc/hosts": cpio.file(b"127.0.0.1 localhost\n::1 localhost\n"),
}


def files(programs: Iterable[Path]) -> dict[str, cpio.Entry]:
    """Programs, their libraries and interpreters, by their paths here. Links are followed. Raises
    UserError for what is no file, and for more than a guest's memory holds."""
    entries: dict[str, cpio.Entry] = {}
    left = MOST_BYTES
    waiting = [program.absolute() for program in reversed(list(programs))]
    while waiting:
        path = waiting.pop()
        if str(path) in entries:
            continue
        content = whole(path, left, "a guest, with what else it is given")
        left -= len(content)
        entries[str(path)] = cpio.file(content, executable=os.access(path, os.X_OK))
        waiting += reversed(_with_it(path, content))
    return entries


def _with_it(path: Path, content: bytes) -> list[Path]:
    """What a program needs besides itself."""
    if content.startswith(b"#!"):
        words = content[2:_FIRST_LINE].split(b"\n")[0].decode(errors="replace").split()
        # "/usr/bin/env PROGRAM", too.
        places = (word if word.startswith("/") else shutil.which(word) for word in words)
        return [Path(place) for place in places if place and Path(place).is_file()]
    if content.startswith(b"\x7fELF"):
        return [Path(library) for library in _libraries(path)]
    return []


def _libraries(program: Path) -> list[str]:
    """What the program's loader would load with it. None of the program itself is run."""
    done = subprocess.run(
        ["ldd", str(program)], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    )
    if missing := re.findall(r"(\S+) => not found", done.stdout):
        raise UserError(f"{program} lacks its library {missing[0]}")
    lines = [line.strip() for line in done.stdout.splitlines()]
    return [match[1] for line in lines if (match := _LIBRARY.search(line))]

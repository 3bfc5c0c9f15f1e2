"""A pipe kept in a temporary file, for what reads captures more than once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rexmit.errors import UserError
from rexmit.sources.capture import STDIN, Capture, Spooled, is_file
from rexmit.store.files import scratch_folder
from rexmit.store.opening import created


@contextmanager
def spooled(captures: Sequence[Capture]) -> Iterator[list[Capture]]:
    """The captures, those that are pipes as they came, once they have ended.

    What a pipe brings is kept in the folder for temporary files (TMPDIR) until this is left: there
    must be room for all of it. Raises UserError.
    """
    with scratch_folder() as folder:
        kept: list[Capture] = []
        for number, capture in enumerate(captures):
            if is_file(capture) or not isinstance(capture, Path):
                kept.append(capture)
                continue
            path = folder / f"pipe-{number}"
            try:
                with _opened(capture) as pipe, created(path) as file:
                    shutil.copyfileobj(pipe, file, 1 << 20)
            except OSError as error:
                raise UserError(
                    f"{capture}: what came from the pipe cannot be kept in {folder.parent}: "
                    f"{error.strerror or error}",
                    "TMPDIR=FOLDER names another place for it",
                ) from error
            kept.append(Spooled(path, str(capture)))
        yield kept


def _opened(pipe: Path) -> IO[bytes]:
    if str(pipe) == STDIN:
        return os.fdopen(os.dup(0), "rb", buffering=0)
    return pipe.open("rb", buffering=0)

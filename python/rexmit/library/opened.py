"""Opening what earlier calls left."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from rexmit.store import open_run as runs
from rexmit.store.open_run import Run


def open_run(folder: str | PathLike[str]) -> Run:
    """A finished run. Raises UserError for none, an unfinished one, or one that cannot be read."""
    return runs.open_run(Path(folder))

"""Captures that the tests read: those beside this file, and a folder of more where there is one."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent / "captures"

FOLDER = "REXMIT_CAPTURES"
"""The environment variable that names a folder of more captures."""

TEXTS = {".md", ".tsv", ".txt"}


def committed() -> list[Path]:
    """The captures of the repository."""
    return _of(HERE)


def others() -> list[Path]:
    """The captures of the folder that the environment names, and of folders in it; none without."""
    named = os.environ.get(FOLDER)
    return _of(Path(named)) if named else []


def _of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in TEXTS)

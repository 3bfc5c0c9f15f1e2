"""Writing a drawn figure, whole or not at all; the same numbers give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Canvas

from rexmit.errors import UserError
from rexmit.store.files import whole_file

FORMATS = ("pdf", "png", "svg")

#: No dates and no versions: the same numbers give the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"Creator": "rexmit", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
    "svg": {"Creator": "rexmit", "Date": None},
}


def save_all(canvas: Canvas, name: str, folder: Path, formats: Iterable[str]) -> list[Path]:
    """Writes FOLDER/NAME.FORMAT for each format and returns the paths. Raises UserError where the
    folder cannot be written.
    """
    paths = [folder / f"{name}.{ending}" for ending in formats]
    for path in paths:
        save(canvas, path, path.suffix.removeprefix("."))
    return paths


def save(canvas: Canvas, path: Path, ending: str) -> None:
    """Writes one file, whole or not at all. Raises UserError where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            canvas.savefig(file, format=ending, metadata=_METADATA[ending])
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written: {error.strerror or error}",
            "choose another folder with --out DIR",
        ) from error

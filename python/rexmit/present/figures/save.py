"""Writing a drawn figure, whole or not at all; the same numbers give the same bytes."""

from __future__ import annotations

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

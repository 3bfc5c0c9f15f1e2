"""Writing a drawn figure, whole or not at all; the same numbers give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rexmit.errors import UserError
from rexmit.present.figures import formats
from rexmit.present.figures.style import RC, styled
from rexmit.store.files import whole_file
from rexmit.store.opening import named_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: No dates and no versions: the same numbers give the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"Creator": "rexmit", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
    "svg": {"Creator": "rexmit", "Date": None},
}


def save_all(figures: Mapping[str, Canvas], folder: Path, endings: Sequence[str]) -> list[Path]:
    """Writes FOLDER/NAME.FORMAT for each figure and ending and returns the paths. Raises UserError
    where the folder cannot be written.
    """
    return [
        path
        for name, canvas in figures.items()
        for path in save(canvas, [folder / f"{name}.{ending}" for ending in endings])
    ]


def save(canvas: Canvas, paths: Iterable[Path]) -> list[Path]:
    """Writes the files, each whole or not at all, and returns their paths. The format is the
    ending, one of `formats.FORMATS`. Raises UserError where one cannot be written.
    """
    written = []
    with styled(), _laid_out(canvas):
        for path in paths:
            _save(canvas, path, formats.ending(path))
            written.append(path)
    return written


@contextmanager
def _laid_out(canvas: Canvas) -> Iterator[None]:
    """Inside, all in the figure is in its place: matplotlib would look for it, and draw the figure
    without a file, once more for each format."""
    engine, dpi = canvas.get_layout_engine(), canvas.get_dpi()
    if engine is None:
        yield
        return
    canvas.set_dpi(RC["savefig.dpi"])
    engine.execute(canvas)
    canvas.set_dpi(dpi)
    canvas.set_layout_engine(None)
    try:
        yield
    finally:
        canvas.set_layout_engine(engine)


def save_text(text: str, path: Path) -> None:
    """Writes what another program draws, whole or not at all. Raises UserError as `save`."""
    with _writing(path) as file:
        file.write(text.encode())


def _save(canvas: Canvas, path: Path, ending: str) -> None:
    with _writing(path) as file:
        canvas.savefig(file, format=ending, metadata=_METADATA[ending])


@contextmanager
def _writing(path: Path) -> Iterator[IO[bytes]]:
    new = [one for one in (path.parent, *path.parent.parents) if not one.exists()]
    try:
        named_folder(path.parent)
        with whole_file(path) as file:
            yield file
    except OSError as error:
        # Folders that have nothing in them now.
        with suppress(OSError):
            for one in new:
                one.rmdir()
        raise UserError(
            f"{path}: cannot be written: {error.strerror or error}", "choose another folder"
        ) from error

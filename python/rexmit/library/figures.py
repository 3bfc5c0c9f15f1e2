"""The figures of a run, to look at, to change, or to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from matplotlib.figure import Figure

from rexmit.analysis.bursts import cases, has_bursts
from rexmit.errors import UserError, argument
from rexmit.present.figures import bursts
from rexmit.present.figures.draw import draw
from rexmit.present.figures.plan import plan
from rexmit.present.figures.save import FORMATS, save_all
from rexmit.present.figures.style import styled
from rexmit.store.open_run import Run


def figures(run: Run, *, losses: int | None = None, inexact: bool = False) -> dict[str, Figure]:
    """matplotlib's figures by name: times (seconds) against lost segments, or completion times of
    bursts.

    `losses` takes only transfers of a run with so many lost segments, drawn against what else the
    run varies. `inexact` takes in transfers that lost other segments than those asked for. Raises
    UserError where there is nothing to draw.
    """
    with styled():
        if has_bursts(run):
            return _of_bursts(run, losses, inexact=inexact)
        planned = plan(run, losses, keep_inexact=inexact)
        if not planned:
            raise UserError(
                f"{run.path}: no transfer that a figure can be drawn from",
                "`rexmit show` says why transfers are left out",
            )
        return {figure.name: draw(figure) for figure in planned}


def save_figures(
    figures: Mapping[str, Figure],
    folder: str | PathLike[str],
    *,
    formats: Iterable[str] = ("pdf", "png"),
) -> list[Path]:
    """Writes FOLDER/NAME.FORMAT for each figure and format (pdf, png, svg) and returns the paths.
    The same numbers give the same bytes. Raises UserError where the folder cannot be written.
    """
    endings = list(formats)
    wrong = [ending for ending in endings if ending not in FORMATS]
    if wrong:
        raise UserError(
            f"{argument('formats')}: {', '.join(wrong)} is not known",
            f"there are {', '.join(FORMATS)}",
            usage=True,
        )
    return save_all(figures, Path(folder), endings)


def _of_bursts(run: Run, losses: int | None, *, inexact: bool) -> dict[str, Figure]:
    if losses is not None:
        raise UserError(
            f"{argument('losses')} counts segments lost at the end of a page: this run has bursts",
            "leave it out",
            usage=True,
        )
    drawn = cases(run, keep_inexact=inexact)
    return dict(bursts.draw(bursts.plan(run, drawn), drawn))

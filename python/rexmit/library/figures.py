"""The figures of a run or of a study, to look at, to change, or to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from matplotlib.figure import Figure

from rexmit.analysis.bursts import has_bursts
from rexmit.errors import UserError, argument
from rexmit.library.study import UncStudy
from rexmit.papers.probe_or_wait_2017 import diagrams
from rexmit.papers.probe_or_wait_2017 import figures as of_bursts
from rexmit.papers.ryll_2013.figures import PRINTED
from rexmit.papers.unc_2007 import figures as of_study
from rexmit.present.figures.draw import draw
from rexmit.present.figures.plan import plan
from rexmit.present.figures.save import FORMATS, save_all
from rexmit.present.figures.style import styled
from rexmit.store.open_run import Run


def figures(
    of: Run | UncStudy, *, losses: int | None = None, inexact: bool = False
) -> dict[str, Figure]:
    """matplotlib's figures by name. Of a run: times (seconds) against lost segments, or completion
    times of bursts and, where it kept captures, their timing diagrams. Of a study: figures 1 to 7
    of UNC 2007, those that its traces have data for.

    `losses` takes only transfers of a run with so many lost segments, drawn against what else the
    run varies. `inexact` takes in transfers that lost other segments than those asked for. Raises
    UserError where there is nothing to draw.
    """
    with styled():
        if isinstance(of, UncStudy):
            return of_study.draw(of.planned[0])
        if has_bursts(of):
            return _of_bursts(of, losses, inexact=inexact)
        planned = plan(of, losses, printed=PRINTED, keep_inexact=inexact)
        if not planned:
            raise UserError(
                f"{of.path}: no transfer that a figure can be drawn from",
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
    return {**dict(of_bursts.draw(run, keep_inexact=inexact)), **dict(diagrams.draw(run))}

"""The figures of runs, to look at, to change, or to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from matplotlib.figure import Figure

from rexmit.analysis.bursts import cases, has_bursts
from rexmit.analysis.chart import Chart, Question, charts, check_size, points_data
from rexmit.analysis.choice import Cells
from rexmit.errors import UserError, argument
from rexmit.options import given, takes
from rexmit.present.figures import bursts
from rexmit.present.figures.draw import draw
from rexmit.present.figures.formats import FORMATS
from rexmit.present.figures.plan import plan
from rexmit.present.figures.save import save_all
from rexmit.present.figures.style import styled
from rexmit.store.open_run import Run


class Keywords(TypedDict, total=False):
    """`Question` as keywords."""

    x: str | None
    y: str | Sequence[str] | None
    colour: str | None
    facet: str | Sequence[str] | None
    ci: float | None
    cells: Cells | None
    inexact: bool


@takes(Question, Keywords)
def plot(
    runs: Run | Sequence[Run], question: Question | None = None, **keywords: Unpack[Keywords]
) -> dict[str, Figure]:
    """matplotlib's figures by name: means of columns of transfers with their intervals, of one run
    or of several in the same figures.

    `x`, `colour` and `facet` are axes of the grid, by a column (`lost_segments`) or by what a
    scenario calls it (`loss.segments`), and `run`, of several. What is None is chosen from what the
    runs vary; an axis that has no place makes a figure for each of its values. `facet` may be two:
    panels to the right, and downwards. `y` are columns with numbers (`t_total_s`), by default the
    three times. `ci` is the percent of the intervals, None for standard deviations. `cells` chooses
    cells by axis: `{"network": "mobile", "lost": "1..5"}`. `inexact` takes in transfers that lost
    other segments than those asked for. All that may be made once, as a `question`; keywords beside
    it change it.

    Of a run with bursts of which nothing is asked: their completion times, a figure for each loss.

    Raises UserError where there is no such axis or column, where the runs vary more axes than a
    figure shows and nothing says which is `x`, and where there is nothing to draw.
    """
    return plot_with_points(_several(runs), given(question, Question, keywords))[0]


@takes(Question, Keywords)
def plot_points(
    runs: Run | Sequence[Run], question: Question | None = None, **keywords: Unpack[Keywords]
) -> list[dict[str, Any]]:
    """What `plot` draws, as rows: the value of each axis, the column, how many transfers, their
    mean, both ends of its interval (None for a single transfer), and how many were left out by
    reason. Raises UserError as `plot` does.
    """
    asked, several = given(question, Question, keywords), _several(runs)
    return [] if _of_bursts(several, asked) else points_data(_charts(several, asked))


def plot_with_points(
    runs: Sequence[Run], asked: Question
) -> tuple[dict[str, Figure], list[dict[str, Any]]]:
    """What `plot` and `plot_points` return, computed once."""
    with styled():
        if _of_bursts(runs, asked):
            every = cases(runs[0], keep_inexact=asked.inexact)
            return dict(bursts.draw(bursts.plan(runs[0], every), every)), []
        drawn = _charts(runs, asked)
        return {figure.name: draw(figure) for figure in plan(drawn)}, points_data(drawn)


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


def _several(runs: Run | Sequence[Run]) -> list[Run]:
    several = [runs] if isinstance(runs, Run) else list(runs)
    if not several:
        raise UserError(f"{argument('runs')} names none", "give a run, or several", usage=True)
    return several


def _of_bursts(runs: Sequence[Run], asked: Question) -> bool:
    """Whether nothing is asked that is of transfers."""
    return len(runs) == 1 and has_bursts(runs[0]) and asked.is_plain


def _charts(runs: Sequence[Run], asked: Question) -> list[Chart]:
    drawn = charts(runs, asked)
    if not drawn:
        raise UserError(
            f"{', '.join(str(run.path) for run in runs)}: no transfer that a figure can be drawn "
            "from",
            "`rexmit show` says why transfers are left out"
            if asked.y is None
            else f"of those that count none has {' or '.join(asked.y)}",
        )
    check_size(drawn)
    return drawn

"""The figures of papers, of a run or of a study."""

from __future__ import annotations

from matplotlib.figure import Figure

from rexmit.analysis.bursts import cases, has_bursts
from rexmit.errors import UserError, argument
from rexmit.library.figures import plot
from rexmit.present.figures import bursts
from rexmit.present.figures.draw import draw
from rexmit.present.figures.style import styled
from rexmit.store.open_run import Run
from rexmit_papers.library.study import UncStudy
from rexmit_papers.probe_or_wait_2017 import diagrams
from rexmit_papers.probe_or_wait_2017 import figures as of_bursts
from rexmit_papers.ryll_2013 import figures as of_pages
from rexmit_papers.unc_2007 import figures as of_study


def paper_figures(
    of: Run | UncStudy, *, losses: int | None = None, inexact: bool = False
) -> dict[str, Figure]:
    """matplotlib's figures by name, as a paper has them and with what it prints. Of a run: Figures
    4 and 5 of Ryll 2013; or, where it has bursts, Figures 2, 4 and 6 of Probe or Wait 2017, and of
    its captures the timing diagrams 3 and 5. What else `rexmit.plot` has of the run is there,
    too. Of a study: figures 1 to 7 of UNC 2007, those that its traces have data for.

    `losses` takes only transfers of a run with so many lost segments, drawn against what else the
    run varies. `inexact` takes in transfers that lost other segments than those asked for. Raises
    UserError where there is nothing to draw.
    """
    if isinstance(of, UncStudy):
        with styled():
            return of_study.draw(of.planned[0])
    if has_bursts(of):
        if losses is not None:
            raise UserError(
                f"{argument('losses')} counts segments lost at the end of a page: this run has "
                "bursts",
                "leave it out",
                usage=True,
            )
        burst_cases = cases(of, keep_inexact=inexact)
        with styled():
            drawn = dict(bursts.draw(of_bursts.plan(of, burst_cases), burst_cases))
            return {**drawn, **dict(diagrams.draw(of))}
    planned = of_pages.plan(of, losses, keep_inexact=inexact)
    if not planned:
        return plot(of, inexact=inexact)
    with styled():
        return {figure.name: draw(figure) for figure in planned}

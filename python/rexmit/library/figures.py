"""The figures of a run, to look at or to change."""

from __future__ import annotations

from matplotlib.figure import Figure

from rexmit.analysis.bursts import has_bursts
from rexmit.papers.probe_or_wait_2017 import figures as of_bursts
from rexmit.papers.ryll_2013.figures import PRINTED
from rexmit.present.figures.draw import draw
from rexmit.present.figures.plan import plan
from rexmit.present.figures.style import styled
from rexmit.store.open_run import Run


def figures(run: Run, *, losses: int | None = None, inexact: bool = False) -> dict[str, Figure]:
    """matplotlib's figures of a run by name: times against lost segments, or completion times of
    bursts.

    `losses` takes only transfers with so many lost segments, drawn against what else the run
    varies. `inexact` takes in transfers that lost other segments than those asked for.
    """
    with styled():
        if has_bursts(run):
            return dict(of_bursts.draw(run, keep_inexact=inexact))
        planned = plan(run, losses, printed=PRINTED, keep_inexact=inexact)
        return {figure.name: draw(figure) for figure in planned}

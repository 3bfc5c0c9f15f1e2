"""What papers print of a run beside what it shows, and what they claim of it."""

from __future__ import annotations

from collections.abc import Sequence

from rexmit.analysis.beside import Beside
from rexmit.analysis.bursts import has_bursts
from rexmit.analysis.times import Times
from rexmit.errors import UserError, argument
from rexmit.library.tables import check_page
from rexmit.store.open_run import Run
from rexmit_papers.claim import Claim
from rexmit_papers.probe_or_wait_2017 import claims as probe_or_wait_2017
from rexmit_papers.ryll_2013 import claims as ryll_2013
from rexmit_papers.ryll_2013.beside import beside
from rexmit_papers.ryll_2013.table1 import Table1
from rexmit_papers.ryll_2013.table1 import table1 as make_table1
from rexmit_papers.ryll_2013.table4 import table4 as make_table4


def table4(run: Run, *, losses: int | None = None, inexact: bool = False) -> Times:
    """Table 4 of Ryll 2013: the blocks of `rexmit.times` with the gain over `er`, and in each entry
    the paper's number and the time to the letter of the paper.

    Of transfers with so many `losses`, lost segments; where it is None of five, as in the paper, or
    the most that there are. `inexact` takes in transfers that lost other segments than those asked
    for. Raises UserError where the run has no such transfer, or has bursts.
    """
    check_page(run)
    return make_table4(run, losses, keep_inexact=inexact)


def table1(run: Run, *, losses: int | None = None, inexact: bool = False) -> Table1:
    """Table 1 of Ryll 2013: a row for each network and number of lost segments with the mechanisms
    that repaired the tail of configuration `tlp` after the probe.

    `losses` and `inexact` as for `table4`; all losses where it is None. Raises UserError.
    """
    check_page(run)
    return make_table1(run, losses, keep_inexact=inexact)


def table4_beside(
    runs: Sequence[Run], *, losses: int | None = None, inexact: bool = False
) -> Beside:
    """`rexmit.beside` with the means of Ryll 2013 in place of the first run's. `losses` and
    `inexact` as for `table4`. Raises UserError where a run has no such transfer.
    """
    for run in runs:
        check_page(run)
    return beside(list(runs), losses, keep_inexact=inexact)


def claims(run: Run, *, inexact: bool = False, departing: bool = False) -> tuple[Claim, ...]:
    """What the run's paper claims: the `verdict` of each (None: the run has nothing to tell it by),
    what was `measured`, and the `parts` that it rests on, with intervals and bands. Of
    Ryll 2013, or of Probe or Wait 2017 where the run has bursts. `departing` judges what has the
    names of Ryll's networks though its rates, delays, jitter, window or page are others. Raises
    UserError.
    """
    if has_bursts(run):
        if departing:
            raise UserError(f"{argument('departing')} is of Ryll 2013", "leave it out", usage=True)
        return tuple(probe_or_wait_2017.claims(run, keep_inexact=inexact))
    return tuple(ryll_2013.claims(run, keep_inexact=inexact, departing=departing))

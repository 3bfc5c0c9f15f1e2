"""The tables of a run, what papers claim of it, and runs beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from rexmit.analysis import bursts as of_bursts
from rexmit.analysis.bursts import Cases, has_bursts
from rexmit.analysis.overview import Overview
from rexmit.analysis.overview import overview as make_overview
from rexmit.errors import UserError, by_caller
from rexmit.papers.claim import Claim, Source
from rexmit.papers.probe_or_wait_2017 import claims as probe_or_wait_2017
from rexmit.papers.ryll_2013 import claims as ryll_2013
from rexmit.papers.ryll_2013.beside import Beside
from rexmit.papers.ryll_2013.beside import beside as make_beside
from rexmit.papers.ryll_2013.table1 import Table1
from rexmit.papers.ryll_2013.table1 import table1 as make_table1
from rexmit.papers.ryll_2013.table4 import Table4
from rexmit.papers.ryll_2013.table4 import table4 as make_table4
from rexmit.store.open_run import Run


def overview(run: Run) -> Overview:
    """Which run it is, and what to know before trusting it: what ran it, cells that failed,
    settings that were ignored, remarks of rows.
    """
    return make_overview(run)


def table4(run: Run, *, losses: int | None = None, inexact: bool = False) -> Table4:
    """Table 4 of Ryll 2013: a block for each network with the means of t_total and t_recover
    (seconds) of each configuration, what it gains over `er` (percent), and the paper's numbers.

    Of transfers with so many `losses`, lost segments; where it is None of five, as in the paper, or
    the most that there are. `inexact` takes in transfers that lost other segments than those asked
    for. Raises UserError where the run has no such transfer, or has bursts.
    """
    _check_page(run)
    return make_table4(run, losses, keep_inexact=inexact)


def table1(run: Run, *, losses: int | None = None, inexact: bool = False) -> Table1:
    """Table 1 of Ryll 2013: a row for each network and number of lost segments with the mechanisms
    that repaired the tail of configuration `tlp` after the probe.

    `losses` and `inexact` as for `table4`; all losses where it is None. Raises UserError.
    """
    _check_page(run)
    return make_table1(run, losses, keep_inexact=inexact)


def bursts(run: Run, *, inexact: bool = False) -> Cases:
    """The cases of a run with bursts, by network, configuration and loss: completion times of the
    last burst and times to the first retransmission, seconds, and which path it took.

    Raises UserError where the run has none.
    """
    return of_bursts.cases(run, keep_inexact=inexact)


def claims(run: Run, *, inexact: bool = False) -> tuple[Claim, ...]:
    """What the run's paper claims: whether it `holds` (None: the run cannot tell) and what was
    `measured`. Of Ryll 2013, or of Probe or Wait 2017 where the run has bursts. Raises UserError.
    """
    make = probe_or_wait_2017.claims if has_bursts(run) else ryll_2013.claims
    return tuple(make(run, keep_inexact=inexact))


def source(run: Run) -> Source:
    """Whose claims `claims` has."""
    return probe_or_wait_2017.SOURCE if has_bursts(run) else ryll_2013.SOURCE


def beside(runs: Sequence[Run], *, losses: int | None = None, inexact: bool = False) -> Beside:
    """Table 4 of several runs and of Ryll 2013 in one: a section for each network and time, a line
    for each configuration, a value for each run. `losses` and `inexact` as for `table4`.

    Raises UserError where a run has no such transfer.
    """
    return make_beside(list(runs), losses, keep_inexact=inexact)


def _check_page(run: Run) -> None:
    if has_bursts(run):
        raise UserError(
            f"{run.path}: bursts have no Table 1 or 4, and losses by position",
            by_caller(
                called="`bursts` has their times, `claims` the claims of 2017",
                typed="leave out --table1, --table4 and --losses; --claims shows the claims of "
                "2017",
            ),
            usage=True,
        )

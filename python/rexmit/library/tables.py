"""The tables of a run, and runs beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from rexmit.analysis import beside as of_runs
from rexmit.analysis import bursts as of_bursts
from rexmit.analysis import repairs as of_tails
from rexmit.analysis import times as of_pages
from rexmit.analysis.beside import Beside
from rexmit.analysis.bursts import Cases, has_bursts
from rexmit.analysis.overview import Overview
from rexmit.analysis.overview import overview as make_overview
from rexmit.analysis.repairs import Repair
from rexmit.analysis.times import Times
from rexmit.errors import UserError, by_caller
from rexmit.store.open_run import Run


def overview(run: Run) -> Overview:
    """Which run it is, and what to know before trusting it: what ran it, cells that failed,
    settings that were ignored, remarks of rows.
    """
    return make_overview(run)


def times(
    run: Run, *, losses: int | None = None, baseline: str | None = None, inexact: bool = False
) -> Times:
    """How long transfers took: a block for each network, group of other settings and number of lost
    segments, with the means of t_total and t_recover (seconds) of each configuration and what it
    gains over `baseline` (percent), by default the first configuration.

    Of transfers with so many `losses`, lost segments; where it is None of each number, or where the
    run varies other settings as well of the largest. `inexact` takes in transfers that lost other
    segments than those asked for. Raises UserError where the run has no such transfer, or has
    bursts.
    """
    check_page(run)
    return of_pages.times(run, losses, baseline=baseline, keep_inexact=inexact)


def repairs(run: Run, *, losses: int | None = None, inexact: bool = False) -> tuple[Repair, ...]:
    """What retransmitted the lost tail: a row for each network, group, configuration and number of
    lost segments with the mechanisms, in order, and how many transfers each order had.

    `losses` and `inexact` as for `times`; all losses where it is None. Raises UserError.
    """
    check_page(run)
    return of_tails.repairs(run, losses, keep_inexact=inexact)


def bursts(run: Run, *, inexact: bool = False) -> Cases:
    """The cases of a run with bursts, by network, configuration and loss: completion times of the
    last burst and times to the first retransmission, seconds, and which path it took.

    Raises UserError where the run has none.
    """
    return of_bursts.cases(run, keep_inexact=inexact)


def beside(
    runs: Sequence[Run],
    *,
    losses: int | None = None,
    baseline: str | None = None,
    inexact: bool = False,
) -> Beside:
    """Times of several runs in one table: a section for each network and time, a line for each
    configuration, a value for each run, set against the first run's. `losses`, by default the most
    that the first run has, `baseline` and `inexact` as for `times`.

    Raises UserError where a run has no such transfer.
    """
    for run in runs:
        check_page(run)
    return of_runs.beside(list(runs), losses, baseline=baseline, keep_inexact=inexact)


def check_page(run: Run) -> None:
    """Raises UserError (usage) for a run with bursts, which have losses by position."""
    if has_bursts(run):
        raise UserError(
            f"{run.path}: the run has bursts, and losses by position",
            by_caller(
                called="`bursts` has their times",
                typed="leave out --losses, --baseline, --full and --repairs",
            ),
            usage=True,
        )

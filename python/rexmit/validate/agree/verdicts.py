"""The model held against kernel logs: of a whole folder, and of one case."""

from __future__ import annotations

from collections.abc import Iterator

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit.validate.agree import judge, judge_paths
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.folder import About, Folder
from rexmit.validate.agree.judge import Judged
from rexmit.validate.agree.judge_paths import PathJudged
from rexmit.validate.agree.model import Bench
from rexmit.validate.agree.outcome import Outcome
from rexmit.validate.agree.rates import Rates
from rexmit.validate.agree.recorded import Recorded


def rates(folder: Folder, about: About, stack: str, recorded: Recorded) -> Rates:
    """How often they agree. Disagreements are kept in the folder."""
    pages: dict[int, Judged] = {}
    bursts: dict[int, PathJudged] = {}
    for number, one in _every(folder, about, stack, recorded):
        if isinstance(one, Judged):
            pages[number] = one
        else:
            bursts[number] = one
    return judge_paths.tally(bursts) if about.paths > 1 else judge.tally(pages)


def _every(
    folder: Folder, about: About, stack: str, recorded: Recorded
) -> Iterator[tuple[int, Judged | PathJudged]]:
    folder.clear_disagreements()
    for number, outcome in sorted(folder.outcomes().items()):
        if number not in recorded.cases:
            continue
        one = verdict(recorded.cases[number], outcome, stack, about.hz, recorded.bench)
        if one.counts and not one.agrees:
            title = f"{about.version} at {about.hz} Hz against {stack}: {one.kind}"
            folder.keep(one.case, title, (("kernel", one.kernel), ("model", one.model)))
        yield number, one


def verdict(
    case: Case, outcome: Outcome, stack: str, hz: int, bench: Bench | None = None
) -> Judged | PathJudged:
    """The model on one case."""
    streams = core_streams()
    if case.minds_paths:
        return judge_paths.judge(case, outcome, run_model, streams, stack=stack, hz=hz)
    return judge.judge(case, outcome, run_model, streams, stack=stack, hz=hz, bench=bench)

"""The model held against kernel logs: of a whole folder, and of one case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit.errors import UserError, argument
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.classes import skews
from rexmit.validate.agree.folder import About, Folder
from rexmit.validate.agree.judge import Judged, judge, judge_kernels
from rexmit.validate.agree.model import Bench
from rexmit.validate.agree.outcome import Outcome
from rexmit.validate.agree.rates import PACKETS, RETRANSMISSIONS, Measures, Rates
from rexmit.validate.agree.recorded import Recorded


def rates(folder: Folder, about: About, stack: str, recorded: Recorded, ticks: int = 1) -> Rates:
    """How often they agree, times within so many `ticks`. Disagreements are kept in the folder."""
    judged = dict(_every(folder, about, stack, recorded, ticks))
    return tally(judged, RETRANSMISSIONS if about.paths > 1 else PACKETS)


def rates_of_kernels(folder: Folder, other: Folder, ticks: int) -> Rates:
    """How often the kernels of two folders agree, in the cases that both ran. Raises UserError
    where there are none.
    """
    about, second = folder.about(), other.about()
    if about.hz != second.hz:
        raise UserError(
            f"{folder.path} is of a kernel of {about.hz} Hz, {other.path} of one of {second.hz} Hz",
            "timers of different ticks are not compared",
        )
    cases, theirs, outcomes = folder.cases(), other.cases(), other.outcomes()
    judged = {
        number: judge_kernels(case, outcome, outcomes[number], hz=about.hz, ticks=ticks)
        for number, outcome in sorted(folder.outcomes().items())
        if (case := cases.get(number)) is not None
        and case == theirs.get(number)
        and number in outcomes
    }
    if not judged:
        raise UserError(
            f"{folder.path} and {other.path} have no case in common",
            f"run both with the same {argument('seed')} and {argument('paths')}",
        )
    return tally(judged, RETRANSMISSIONS if about.paths > 1 else PACKETS)


def tally(judged: Mapping[int, Judged], measures: Measures) -> Rates:
    """Add up cases of one kind."""
    counted = {number: one for number, one in judged.items() if one.counts}
    verdicts = [one.verdict for one in counted.values() if one.verdict is not None]
    kinds: dict[str, list[str]] = {}
    for one in counted.values():
        if not one.agrees:
            kinds.setdefault(one.kind or "", []).append(one.case.name)
    failed = [number for number, one in counted.items() if not one.agrees]
    cases = {number: one.case for number, one in counted.items()}
    return Rates(
        measures=measures,
        cases=len(counted),
        failed=len(judged) - len(counted),
        counts={one.name: sum(map(one.of, verdicts)) for one in measures.told},
        with_retransmissions=sum(one.retransmitted for one in counted.values()),
        kinds=dict(sorted(kinds.items(), key=lambda item: -len(item[1]))),
        skews=skews(cases, failed) if failed else (),
    )


def _every(
    folder: Folder, about: About, stack: str, recorded: Recorded, ticks: int
) -> Iterator[tuple[int, Judged]]:
    folder.clear_disagreements()
    for number, outcome in sorted(folder.outcomes().items()):
        if number not in recorded.cases:
            continue
        one = verdict(recorded.cases[number], outcome, stack, about.hz, recorded.bench, ticks)
        if one.counts and not one.agrees:
            title = f"{about.version} at {about.hz} Hz against {stack}: {one.kind}"
            folder.keep(one.case, title, (("kernel", one.kernel.rows), ("model", one.model.rows)))
        yield number, one


def verdict(
    case: Case, outcome: Outcome, stack: str, hz: int, bench: Bench | None = None, ticks: int = 1
) -> Judged:
    """The model on one case."""
    return judge(
        case, outcome, run_model, core_streams(), stack=stack, hz=hz, bench=bench, ticks=ticks
    )

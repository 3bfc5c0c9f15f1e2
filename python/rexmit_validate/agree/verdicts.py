"""The model held against kernel logs: of a whole folder, and of one case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit.errors import UserError, argument
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.classes import skews
from rexmit_validate.agree.folder import About, Folder
from rexmit_validate.agree.judge import Judged, judge, judge_kernels
from rexmit_validate.agree.model import Bench, Model
from rexmit_validate.agree.outcome import Outcome
from rexmit_validate.agree.rates import PACKETS, RETRANSMISSIONS, Measures, Rates
from rexmit_validate.agree.recorded import Recorded


def rates(folder: Folder, about: About, stack: str, recorded: Recorded, ticks: int = 1) -> Rates:
    """How often they agree, times within so many `ticks`. Disagreements are kept in the folder."""
    folder.clear_disagreements()
    judged: dict[int, Judged] = {}
    for number, one in judged_cases(folder, about, stack, recorded, ticks):
        if one.counts and not one.agrees:
            title = f"{about.version} at {about.hz} Hz against {stack}: {one.kind}"
            folder.keep(one.case, title, (("kernel", one.kernel.rows), ("model", one.model.rows)))
        judged[number] = one
    return tally(judged, RETRANSMISSIONS if about.paths > 1 else PACKETS)


def rates_of_kernels(folder: Folder, other: Folder, ticks: int) -> Rates:
    """How often the kernels of two folders agree, in the cases that both ran. Raises UserError
    where there are none.
    """
    paths = folder.about().paths
    judged = judged_kernels(folder, other, ticks)
    return tally(judged, RETRANSMISSIONS if paths > 1 else PACKETS)


def judged_kernels(folder: Folder, other: Folder, ticks: int) -> dict[int, Judged]:
    """The cases that both kernels ran. Raises UserError where there are none."""
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
    return judged


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
        counts={one.name: sum(map(one.holds, verdicts)) for one in measures.printed},
        with_retransmissions=sum(one.retransmitted for one in counted.values()),
        kinds=dict(sorted(kinds.items(), key=lambda item: -len(item[1]))),
        skews=skews(cases, failed) if failed else (),
    )


def judged_cases(
    folder: Folder, about: About, stack: str, recorded: Recorded, ticks: int
) -> Iterator[tuple[int, Judged]]:
    """The model on every case that the kernel ran."""
    for number, outcome in sorted(folder.outcomes().items()):
        if number in recorded.cases:
            case = recorded.cases[number]
            yield number, verdict(case, outcome, stack, about.hz, recorded.bench, ticks)


def verdict(
    case: Case, outcome: Outcome, stack: str, hz: int, bench: Bench | None = None, ticks: int = 1
) -> Judged:
    """The model on one case."""
    return judge(
        case, outcome, Model(run_model, core_streams(), stack, hz), bench=bench, ticks=ticks
    )

"""Holds the model against the kernel, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import eq
from typing import Final

from rexmit_validate.agree import classes, model
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.compare import Verdict, by_counters, compare, told_alike
from rexmit_validate.agree.outcome import Outcome, why_no_log
from rexmit_validate.agree.packet import SERVER, Log
from rexmit_validate.agree.rates import PACKETS, RETRANSMISSIONS, Measures
from rexmit_validate.agree.show import side_by_side

_UNSENT: Final = "names a packet that is never sent"
"""What both engines say of a case that loses data on a path that bears none of the burst."""

_ROUNDS: Final = 3
"""Runs of the model in which its server comes to answer when the kernel's did: work that lies in
the shadow of other work does not make it later.
"""

_PHASES: Final = (0, 2, 3, 4, 5, 6, 7)
"""In which BBR's cycle of gains may begin: a kernel draws one (`bbr_reset_probe_bw_mode`)."""

_NONE: Final = Log()


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, both logs, and how far they agree; or why there is no comparison."""

    case: Case
    kernel: Log = _NONE
    model: Log = _NONE
    verdict: Verdict | None = None
    kind: str | None = None
    """The class of a disagreement."""
    kernel_error: str | None = None
    """Why the kernel did not run the case: it does not count."""

    @property
    def measures(self) -> Measures:
        """What counts of the case."""
        return measures(self.case)

    @property
    def counts(self) -> bool:
        """The kernel ran it."""
        return self.kernel_error is None

    @property
    def agrees(self) -> bool:
        """What is counted agrees."""
        return self.verdict is not None and self.measures.counted.holds(self.verdict)

    @property
    def exact(self) -> bool:
        """Every packet agrees."""
        return self.verdict is not None and self.verdict.exact

    @property
    def words(self) -> str:
        """How it went."""
        if self.exact:
            return "every packet agrees"
        return self.measures.counted.words if self.agrees else str(self.kind)

    @property
    def retransmitted(self) -> bool:
        """The kernel sent data again, re-injections included."""
        return bool(self.kernel.retransmissions)

    def beside(self) -> Iterator[str]:
        """Both logs beside each other, path by path, with a mark where they part."""
        difference = self.verdict.difference if self.verdict else None
        for path in range(1, self.case.paths + 1):
            if self.case.paths > 1:
                yield f"path {path}"
            kernel, modelled = (
                [packet for packet in log.packets if packet.path == path]
                for log in (self.kernel, self.model)
            )
            yield from side_by_side(kernel, modelled, difference)


def measures(case: Case) -> Measures:
    """What counts of such a case."""
    return RETRANSMISSIONS if case.minds_paths else PACKETS


def judge(
    case: Case,
    outcome: Outcome,
    against: model.Model,
    *,
    bench: model.Bench | None = None,
    ticks: int = 1,
) -> Judged:
    """Run the model on the case and compare. With a `bench` the log is of a kernel that is not the
    lab's: the model's SYN leaves when its did, and its mechanisms come from counters alone. Times
    agree within so many `ticks`. Of the phases that a kernel draws for BBR, that counts which
    agrees best.
    """
    ours = _log(case, outcome)
    if case.congestion_control != "bbr":
        return _judge(case, outcome, ours, against, bench, ticks, {})
    judged: list[Judged] = []
    for phase in _PHASES:
        settings = {"bbr_phase": str(phase)}
        judged.append(_judge(case, outcome, ours, against, bench, ticks, settings))
        if judged[-1].exact or not judged[-1].counts:
            break
    return max(judged, key=_agreement)


def _agreement(one: Judged) -> tuple[bool, bool, bool, int]:
    """What agrees the better is greater."""
    verdict = one.verdict
    if verdict is None:
        return (False, False, False, 0)
    place = verdict.difference.place if verdict.difference else 0
    return (verdict.exact, verdict.recovery, verdict.packets and verdict.mechanisms, place)


def _judge(
    case: Case,
    outcome: Outcome,
    ours: Log,
    against: model.Model,
    bench: model.Bench | None,
    ticks: int,
    settings: Mapping[str, str],
) -> Judged:
    error = None if "packets" in outcome else why_no_log(outcome)
    if error is not None and _UNSENT not in error:
        return Judged(case, kernel_error=error)
    hz = against.hz
    late_ns = ours.packets[0].at_ns if bench is not None and ours.packets else 0
    start_ns = _start_ns(outcome) if bench is not None and not bench.aligned else None

    def run(on: model.Bench | None) -> Outcome:
        return model.run(
            case, against, bench=on, late_ns=late_ns, start_ns=start_ns, settings=settings
        )

    ran = run(bench)
    theirs = _log(case, ran)
    for _ in range(_ROUNDS):
        later_ns = _answer_ns(ours) - _answer_ns(theirs)
        if bench is None or bench.aligned or not later_ns or bench.answer_ns + later_ns < 0:
            break
        # The server answers when it did in this case.
        bench = replace(bench, answer_ns=bench.answer_ns + later_ns)
        ran = run(bench)
        theirs = _log(case, ran)
    if error is not None:
        if "packets" in ran:
            return Judged(case, model=theirs, kind="only the model sends what is lost")
        return Judged(case, kernel_error=error)
    if _UNSENT in ran.get("error", ""):
        return Judged(case, ours, kind="only the kernel sends what is lost")
    if "packets" not in ran:
        return Judged(case, ours, kind=f"the model failed: {why_no_log(ran)}")
    within_ns = ticks * 1_000_000_000 // hz
    verdict = compare(ours, theirs, within_ns, eq if bench is None else by_counters)
    return Judged(case, ours, theirs, verdict, _kind(case, verdict, ours, theirs, hz))


def _answer_ns(log: Log) -> int:
    """When the server's first data left; 0 if none did."""
    data = (p.at_ns for p in log.packets if p.direction == SERVER and p.length)
    return next(data, 0)


def judge_kernels(case: Case, one: Outcome, other: Outcome, *, hz: int, ticks: int) -> Judged:
    """Compare what two kernels made of the case: the second takes the model's place."""
    for outcome in (one, other):
        if "packets" not in outcome:
            return Judged(case, kernel_error=why_no_log(outcome))
    ours, theirs = _log(case, one), _log(case, other)
    verdict = compare(ours, theirs, ticks * 1_000_000_000 // hz, told_alike)
    kind = _kind(case, verdict, ours, theirs, hz)
    return Judged(case, ours, theirs, verdict, kind and kind.replace("model", "other"))


def _kind(case: Case, verdict: Verdict, ours: Log, theirs: Log, hz: int) -> str | None:
    tick_ns = 1_000_000_000 // hz
    return (
        classes.of_retransmissions(verdict, ours, theirs, tick_ns)
        if measures(case) is RETRANSMISSIONS
        else classes.of_packets(verdict, tick_ns)
    )


def _log(case: Case, outcome: Outcome) -> Log:
    rows, completions = outcome.get("packets", []), outcome.get("completions_ns", [])
    return Log.read(rows, completions, own=case.minds_paths)


def _start_ns(outcome: Outcome) -> int | None:
    """When the kernel that ran the case began with it, since it was switched on."""
    first_ns = (outcome.get("transfer") or {}).get("t_start_ns")
    data = [row for row in outcome.get("packets", []) if row[1] == 0 and row[3] > 0]
    return None if first_ns is None or not data else first_ns - data[0][0]

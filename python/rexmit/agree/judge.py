"""Holds the model against the kernel, case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from rexmit.agree import classes, model
from rexmit.agree.case import Case
from rexmit.agree.compare import Verdict, compare
from rexmit.agree.kernel import Outcome
from rexmit.agree.packet import Packet, read
from rexmit.agree.rates import Rates
from rexmit.campaign.streams import Streams


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, both logs, and how far they agree; or why there is no comparison."""

    case: Case
    kernel: list[Packet] = field(default_factory=list)
    model: list[Packet] = field(default_factory=list)
    verdict: Verdict | None = None
    kind: str | None = None
    """The class of a disagreement."""
    kernel_error: str | None = None
    """The kernel did not run the case: it does not count."""

    @property
    def counts(self) -> bool:
        """The kernel ran it."""
        return self.kernel_error is None

    @property
    def exact(self) -> bool:
        """Every packet agrees."""
        return self.verdict is not None and self.verdict.exact

    @property
    def agrees(self) -> bool:
        """What is counted: every packet."""
        return self.exact

    @property
    def words(self) -> str:
        """How it went."""
        return "every packet agrees" if self.exact else str(self.kind)


def judge(
    case: Case,
    outcome: Outcome,
    run_model: model.RunModel,
    streams: Streams,
    *,
    stack: str,
    hz: int,
) -> Judged:
    """Run the model on the case and compare."""
    if "packets" not in outcome:
        return Judged(case, kernel_error=str(outcome.get("error", "no log")))
    ours = read(outcome["packets"])
    made = model.run(case, run_model, streams, stack=stack, hz=hz)
    if "packets" not in made:
        return Judged(case, kernel=ours, kind=f"the model failed: {made.get('error', 'no log')}")
    theirs = read(made["packets"])
    tick_ns = 1_000_000_000 // hz
    verdict = compare(ours, theirs, tick_ns)
    kind = None if verdict.difference is None else classes.kind(verdict.difference, tick_ns)
    return Judged(case, ours, theirs, verdict, kind)


@dataclass(frozen=True, slots=True)
class Tally(Rates):
    """How often the model and a kernel agree. Exact: order, bytes, mechanism, time within a
    tick.
    """

    RATES: ClassVar = ("exact", "mechanisms", "packets", "recovery", "with_resends")

    mechanisms: int
    """The same packets in the same order for the same reasons, at any time."""
    packets: int
    """The same packets in the same order."""
    recovery: int
    """Mechanism of the first resend of lost data, and t_recover within a tick."""
    skews: list[classes.Skew]


def tally(judged: Mapping[int, Judged]) -> Tally:
    """Add up."""
    counted = {number: one for number, one in judged.items() if one.counts}
    verdicts = [one.verdict for one in counted.values() if one.verdict is not None]
    failed = [number for number, one in counted.items() if not one.exact]
    kinds: dict[str, list[str]] = {}
    order = Counter(counted[number].kind or "" for number in failed).most_common()
    for kind, _ in order:
        kinds[kind] = [counted[n].case.name for n in failed if (counted[n].kind or "") == kind]
    cases = {number: one.case for number, one in counted.items()}
    return Tally(
        cases=len(counted),
        failed=len(judged) - len(counted),
        with_resends=sum(
            any(packet.mechanism is not None for packet in one.kernel if packet.is_data)
            for one in counted.values()
        ),
        exact=sum(verdict.exact for verdict in verdicts),
        mechanisms=sum(verdict.mechanisms for verdict in verdicts),
        packets=sum(verdict.packets for verdict in verdicts),
        recovery=sum(verdict.recovery for verdict in verdicts),
        kinds=kinds,
        skews=classes.skews(cases, failed) if failed else [],
    )

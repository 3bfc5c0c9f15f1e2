"""Holds the model against the kernel, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import ClassVar

from rexmit.campaign.streams import Streams
from rexmit.validate.agree import classes, model
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.compare import Verdict, by_counters, compare
from rexmit.validate.agree.judged import AnyJudged
from rexmit.validate.agree.outcome import Outcome, why_no_log
from rexmit.validate.agree.packet import Packet, read
from rexmit.validate.agree.rates import Rates, common
from rexmit.validate.agree.show import side_by_side


class Judged(AnyJudged[Packet, Verdict]):
    """A case of pages, its packets on both sides, and whether every one of them agrees."""

    __slots__ = ()

    @property
    def retransmitted(self) -> bool:
        """The kernel sent data again."""
        return any(packet.mechanism is not None for packet in self.kernel if packet.is_data)

    def beside(self) -> Iterator[str]:
        """Both logs beside each other, with a mark where they part."""
        difference = self.verdict.difference if self.verdict else None
        return side_by_side(self.kernel, self.model, difference)


def judge(
    case: Case,
    outcome: Outcome,
    run_model: model.RunModel,
    streams: Streams,
    *,
    stack: str,
    hz: int,
    bench: model.Bench | None = None,
) -> Judged:
    """Run the model on the case and compare. With a `bench` the log is of a kernel that is not the
    lab's: the model's SYN leaves when its did, and its mechanisms come from counters alone.
    """
    if "packets" not in outcome:
        return Judged(case, kernel_error=why_no_log(outcome))
    ours = read(outcome["packets"])
    late_ns = ours[0].at_ns if bench is not None and ours else 0
    made = model.run(case, run_model, streams, stack=stack, hz=hz, bench=bench, late_ns=late_ns)
    if "packets" not in made:
        return Judged(case, kernel=ours, kind=f"the model failed: {why_no_log(made)}")
    theirs = read(made["packets"])
    tick_ns = 1_000_000_000 // hz
    verdict = compare(ours, theirs, tick_ns, eq if bench is None else by_counters)
    kind = None if verdict.difference is None else classes.kind(verdict.difference, tick_ns)
    return Judged(case, ours, theirs, verdict, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally(Rates):
    """How often the model and a kernel agree. Exact: order, bytes, mechanism, time within a
    tick.
    """

    RATES: ClassVar = ("exact", "mechanisms", "packets", "recovery", "with_retransmissions")
    CASES: ClassVar = "cases"
    DIFFERENCE: ClassVar = "first differing packet"

    mechanisms: int
    """The same packets in the same order for the same reasons, at any time."""
    packets: int
    """The same packets in the same order."""
    recovery: int
    """Mechanism of the first retransmission of lost data, and t_recover within a tick."""

    @property
    def agreed(self) -> int:
        """Cases in which every packet agrees."""
        return self.exact

    def rows(self) -> Sequence[tuple[str, int, str]]:
        """In print."""
        return (
            ("every packet agrees", self.exact, "order, bytes, mechanism, time within a tick"),
            ("the same packets and mechanisms", self.mechanisms, "at whatever time"),
            ("the same packets in the same order", self.packets, ""),
            (
                "mechanism and t_recover",
                self.recovery,
                "of the first retransmission, within a tick",
            ),
            (
                "retransmissions",
                self.with_retransmissions,
                "cases in which something was sent again",
            ),
        )


def tally(judged: Mapping[int, Judged]) -> Tally:
    """Add up."""
    counted = {number: one for number, one in judged.items() if one.counts}
    verdicts = [one.verdict for one in counted.values() if one.verdict is not None]
    failed = [number for number, one in counted.items() if not one.agrees]
    cases = {number: one.case for number, one in counted.items()}
    return Tally(
        **common(judged),
        mechanisms=sum(verdict.mechanisms for verdict in verdicts),
        packets=sum(verdict.packets for verdict in verdicts),
        recovery=sum(verdict.recovery for verdict in verdicts),
        skews=classes.skews(cases, failed) if failed else (),
    )

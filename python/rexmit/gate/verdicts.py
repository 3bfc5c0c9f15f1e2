"""What all runs of a test say together, and all tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexmit.errors import EXIT_CANNOT_TELL, EXIT_FAILED, EXIT_OK, EXIT_SPLAT, SPLATTED
from rexmit.gate.attempts import Attempt, Test, Verdict
from rexmit.gate.beside import beside

_STATUS: Final = {
    Verdict.SPLAT: EXIT_SPLAT,
    Verdict.WORSE: EXIT_FAILED,
    Verdict.CANNOT_TELL: EXIT_CANNOT_TELL,
    Verdict.GOOD: EXIT_OK,
}
"""The exit status for each verdict. Of several verdicts the first one here is that of all."""


def of_all(verdicts: Iterable[Verdict]) -> Verdict:
    """One verdict for several."""
    every = set(verdicts)
    return next((one for one in _STATUS if one in every), Verdict.GOOD)


def status_of(verdicts: Iterable[Verdict]) -> int:
    """What a program ends with for these."""
    return _STATUS[of_all(verdicts)]


def exit_status(results: Iterable[Result]) -> int:
    """What a program ends with for these results."""
    return status_of(one.verdict for one in results)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a test, in one run or several."""

    test: Test
    attempts: Sequence[Attempt]

    @property
    def verdict(self) -> Verdict:
        """None can be told where the runs of a test have different ones."""
        verdicts = {one.verdict for one in self.attempts}
        if verdicts == {Verdict.GOOD, Verdict.WORSE}:
            return Verdict.CANNOT_TELL
        return of_all(verdicts)

    @property
    def packet_logs(self) -> int:
        """How many different logs of packets its runs gave: 1 where all are alike."""
        return len({one.packets for one in self.attempts})

    @property
    def shown(self) -> Attempt:
        """The first run that has something to show: one with the worst verdict."""
        worst = of_all(one.verdict for one in self.attempts)
        return next(one for one in self.attempts if one.verdict is worst)

    @property
    def group(self) -> str:
        """What the test belongs to."""
        return self.test.group

    @property
    def part(self) -> str:
        """Which one of its group it is."""
        return self.test.part

    @property
    def name(self) -> str:
        """Both."""
        return self.test.name

    @property
    def parts(self) -> tuple[str, ...]:
        """What a test consists of, in lines of KTAP."""
        return self.shown.parts

    @property
    def virtual_s(self) -> float:
        """The longest run, by the kernel's clock."""
        return max(one.virtual_s for one in self.attempts)

    @property
    def why(self) -> list[str]:
        """Why it is not good, in lines, and whether its runs differ."""
        lines = self._fault
        if self.packet_logs > 1:
            lines.append(f"{self.packet_logs} different packet logs in {len(self.attempts)} runs")
        return lines

    @property
    def _fault(self) -> list[str]:
        verdict = self.verdict
        if verdict is Verdict.GOOD:
            return []
        shown = self.shown
        lines = shown.text.splitlines()
        if verdict is Verdict.SPLAT:
            return [*lines, f"{SPLATTED}:", *shown.splat]
        if verdict is Verdict.WORSE:
            return [*lines, *beside(self.test.script, shown)]
        if len(self.attempts) > 1:
            good = sum(one.verdict is Verdict.GOOD for one in self.attempts)
            lines.insert(0, f"{good} of {len(self.attempts)} runs are good")
        return lines

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        return {
            "group": self.group,
            "test": self.part,
            "parts": list(self.parts),
            "verdict": self.verdict.value,
            "runs": len(self.attempts),
            "packet_logs": self.packet_logs,
            "why": self.why,
            "splat": list(self.shown.splat),
            "virtual_s": self.virtual_s,
            "cpu_s": round(sum(one.cpu_s for one in self.attempts), 3),
            "packets": list(self.shown.packets),
        }

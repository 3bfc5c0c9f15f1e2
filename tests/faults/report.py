"""What a driver says: progress, every failure in full, and a table of commands and faults."""

from __future__ import annotations

from collections import Counter
from typing import Any

Told = dict[str, Any]


class Report:
    """Of all campaigns of a run."""

    def __init__(self, seed: str, faults: int, again: str) -> None:
        self._seed, self._planned, self._again = seed, faults, again
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._campaigns = self._removed = self._faults = self._said = 0
        self.wrong = 0

    def take(self, told: Told) -> None:
        """A campaign has ended."""
        self._campaigns += 1
        self._faults += len(told["faults"])
        self._removed += len(told["removed"])
        for kind, outcome in told["faults"]:
            self._counts[told["command"], kind, outcome] += 1
        if told["wrong"] is not None:
            self.wrong += 1
            print(f"WRONG: campaign {told['number']}, {told['command']}: {told['wrong']}")
            print(f"again: {self._again} --campaign {told['number']}\n", flush=True)
        if self._faults >= self._said + 50:
            self._said = self._faults
            print(f"{self._faults} of {self._planned} faults, {self.wrong} wrong", flush=True)

    def summary(self) -> str:
        """By command and fault: how many, and how the command ended."""
        lines = []
        total = late = 0
        keys = sorted({(command, kind) for command, kind, _ in self._counts})
        for command, kind in keys:
            outcomes = {
                outcome: count
                for (c, k, outcome), count in sorted(self._counts.items())
                if (c, k) == (command, kind)
            }
            total += sum(outcomes.values())
            late += outcomes.get("after the end", 0) + outcomes.get("nothing there", 0)
            ends = ", ".join(f"{outcome}: {count}" for outcome, count in outcomes.items())
            lines.append(f"{command:22}{kind:12}{sum(outcomes.values()):6}   {ends}")
        lines.append(
            f"seed {self._seed}: {total} faults in {self._campaigns} campaigns, {late} of which "
            f"met nothing; {self._removed} things removed as messages said; {self.wrong} wrong"
        )
        return "\n".join(lines)

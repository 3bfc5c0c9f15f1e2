"""Random cases on the kernel of a commit, beside those of the commit before it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rexmit import escaping
from rexmit.engines.engine import cores
from rexmit.progress import Progress
from rexmit.wording import count
from rexmit_validate.agree.folder import Folder
from rexmit_validate.agree.kernel import CASES_A_BOOT
from rexmit_validate.agree.logs import Wanted, kernel_logs
from rexmit_validate.agree.rates import PACKETS, Rates
from rexmit_validate.agree.verdicts import judged_kernels, tally

_SEED = 1
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Beside:
    """Cases that ran, and, where a kernel ran them before, how often it did the same."""

    folder: Path
    before: Path | None
    cases: int
    rates: Rates | None

    @property
    def failed(self) -> int:
        """Cases that one of the kernels did not run."""
        return self.rates.failed if self.rates else 0

    @property
    def differ(self) -> int:
        """Cases in which a packet, its mechanism or, by more than a tick, its time differs."""
        return self.rates.cases - self.rates.agreed if self.rates else 0

    def lines(self) -> Iterator[str]:
        """What there is to say."""
        if self.rates is None:
            yield count(self.cases, "random case")
            return
        yield f"{count(self.rates.cases, 'random case')}, {self.differ} differ"
        for kind, names in self.rates.kinds.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"  {len(names)}: {kind}: {', '.join(names[:_NAMED])}{more}"
        if self.failed:
            yield f"{count(self.failed, 'random case')} did not run"
        if self.differ:
            words = ["rexmit", "validate", "agree", "--again", self.folder, "--against"]
            yield f"  again: {escaping.shell(map(str, [*words, self.before]))}"


def run(
    kernel: str,
    keep: Path,
    before: Path | None,
    *,
    seconds: float,
    jobs: int | None,
    progress: Progress,
) -> Beside:
    """Runs as many cases as fit into so many real seconds, or those that ran `before`."""
    step = CASES_A_BOOT * len(cores()[:jobs])
    most = None if before is None else len(Folder(before).cases())
    ran, left_s, took_s = 0, seconds, 0.0
    while ran < most if most is not None else not ran or took_s <= left_s:
        ran = ran + step if most is None else min(ran + step, most)
        began = time.monotonic()
        kernel_logs(Wanted(kernel, ran, 1, _SEED), keep, jobs, progress)
        took_s = time.monotonic() - began
        left_s -= took_s
    rates = None
    if before is not None:
        rates = tally(judged_kernels(Folder(keep), Folder(before), 1), PACKETS)
    return Beside(keep, before, ran, rates)

"""The shortest packet script of a connection that a kernel passes."""

from __future__ import annotations

import time
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rexmit import interrupt
from rexmit.engines.engine import slots
from rexmit.engines.kernel import HANG_LIMIT_S, find_kernel
from rexmit.errors import UserError
from rexmit.gate import scripts
from rexmit.gate.attempts import Bench, Verdict
from rexmit.gate.beside import CAUSES, packet_times_ns, recorded_causes
from rexmit.ladder.shorter import Ran, Search, lines_of
from rexmit.library.flow import scripted
from rexmit.progress import Hear, Progress, heard
from rexmit.store.files import scratch_folder, write_text
from rexmit.store.open_run import Run

if TYPE_CHECKING:
    from rexmit.ladder.packet_script import Conditions
    from rexmit.ladder.picture import Picture
    from rexmit.tracing.folder import Trace

SECONDS: Final = 60.0
"""Real seconds that the search takes at most, unless its caller says."""

_ANY_TIME: Final = ("--tolerance_usecs=1000000000",)


def shortest_script(
    of: Run | Trace,
    which: int | str | None = None,
    *,
    at: float | None = None,
    kernel: str | None = None,
    tool: str | PathLike[str] | None = None,
    seconds: float = SECONDS,
    progress: Hear = None,
) -> str:
    """As `packet_script`, as short as can be found in `seconds`.

    What needs not be there is left out as long as the script still passes, by the packetdrill
    `tool` (None: the one on PATH), on `kernel` (None: the one that made the run, of a trace the
    default), and the kernel's own record still has the same causes of retransmissions.

    Raises UserError as `packet_script`, and where there is no such kernel or packetdrill, or the
    whole script does not pass.
    """
    identity = find_kernel(kernel or _made_by(of))
    if identity.image is not None:
        raise UserError(
            f"{identity.name} is an image: scripts run on kernels that rexmit built",
            "rexmit kernel build FOLDER builds one from its source",
        )
    bench = Bench(identity.path, seed=1, memory="256M", hang_limit_s=HANG_LIMIT_S)
    with (
        interrupt.undone_by(interrupt.nothing),
        scratch_folder() as folder,
    ):
        trials = _Trials(bench, scripts.tool(tool), folder, seconds, heard(progress, "runs"))
        return scripted(of, which, at, partial(_shortest, trials, identity.name))


def _made_by(of: Run | Trace) -> str | None:
    """The kernel of a run."""
    kernel = of.meta.get("kernel") if isinstance(of, Run) else None
    return (kernel or {}).get("hash")


def _shortest(trials: _Trials, kernel: str, picture: Picture, conditions: Conditions) -> str:
    search = Search(picture, conditions, trials.run, trials.are_over)
    lines = lines_of(search.text)
    try:
        if not search.whole():
            raise UserError(
                f"the whole script does not pass on {kernel}: there is nothing to shorten",
                trials.why.splitlines() or None,
            )
        search.shorten()
    finally:
        trials.progress.close()
    again = ", ".join(CAUSES.get(one, one) for one in search.causes)
    return search.telling(
        f"Shortened from {lines} lines to {lines_of(search.text)}, on {kernel}, which sends again: "
        f"{again or 'nothing'}.",
        "Timestamps of the sender are names here: each stands for what the kernel sends then.",
    )


class _Trials:
    """Runs of scripts in one folder, for so many real seconds."""

    def __init__(
        self, bench: Bench, tool: Path, folder: Path, seconds: float, progress: Progress
    ) -> None:
        self._bench, self._tool = bench, tool
        self._script = folder / f"case{scripts.SUFFIX}"
        self._until = time.monotonic() + seconds
        self.progress = progress
        self.runs = 0
        self.why = ""
        """What packetdrill said of the last one."""
        progress.start(None)

    def are_over(self) -> bool:
        """No run is to begin."""
        return time.monotonic() >= self._until

    def run(self, text: str, any_time: bool) -> Ran:
        """Of a script with IPv4."""
        write_text(self._script, text)
        options = _ANY_TIME if any_time else ()
        (case,) = scripts.cases([self._script], ["ipv4"], self._tool, options)
        attempt = self._bench.attempt(case, slots(1)[0], lambda: False)
        self.runs += 1
        self.progress.advance(1)
        self.why = attempt.text
        return Ran(
            attempt.verdict is Verdict.GOOD,
            recorded_causes(attempt),
            "timing error" in attempt.text,
            packet_times_ns(attempt),
        )

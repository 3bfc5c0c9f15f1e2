"""How often the first sentence of `trace` names whose the time was, where that is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from rexmit import configuration
from rexmit.engines.engine import slots
from rexmit.engines.kernel import find_kernel
from rexmit.errors import UserError, argument, choice
from rexmit.options import given, takes, whole, workers
from rexmit.progress import Hear, Progress, heard
from rexmit.version import version
from rexmit_validate.troubles import judge as judging
from rexmit_validate.troubles import make as making
from rexmit_validate.troubles.judge import Judgement
from rexmit_validate.troubles.scenes import SCENES


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which captures are made, and on what. Raises UserError (usage)."""

    troubles: Iterable[str] = ()
    kernel: str | None = None
    seed: int = 1
    jobs: int | None = None

    def __post_init__(self) -> None:
        whole("seed", self.seed, 0, 2**64 - 1)
        workers(self.jobs)
        for name in self.names:
            if name not in SCENES:
                raise UserError(
                    f"{argument('troubles')} {name}: there is none",
                    choice(name, SCENES, "scenes"),
                    usage=True,
                )

    @property
    def names(self) -> Sequence[str]:
        """Of all where none is named."""
        return tuple(dict.fromkeys(self.troubles)) or tuple(SCENES)


def make(asked: Wanted, out: Path | None, progress: Progress) -> Path:
    """Makes the captures; the folder. Raises UserError."""
    kernel = find_kernel(asked.kernel)
    folder = out or configuration.runs() / f"troubles-{kernel.version}-{kernel.hz}-{asked.seed}"
    names = asked.names
    about = {
        "version": making.VERSION,
        "seed": asked.seed,
        "command": f"rexmit validate troubles --kernel {kernel.name} --seed {asked.seed}",
        "program": f"rexmit {version()}",
        "kernel": {"name": kernel.name, **kernel.plain()},
    }
    progress.start(len(names))
    try:
        making.make(
            folder,
            names,
            about,
            kernel=asked.kernel,
            cores=slots(asked.jobs),
            on_scene=lambda: progress.advance(1),
        )
    finally:
        progress.close()
    return folder


def judge(folder: Path, jobs: int | None, progress: Progress) -> Judgement:
    """Holds captures that are there against their truth. Raises UserError."""
    captures = judging.found(folder)
    progress.start(len(captures))
    try:
        return judging.judge(folder, captures, len(slots(jobs)), lambda: progress.advance(1))
    finally:
        progress.close()


@takes(Wanted)
def troubles(
    asked: Wanted | None = None,
    *,
    out: str | PathLike[str] | None = None,
    again: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: object,
) -> Judgement:
    """Makes captures of connections with one trouble each, on a real kernel in virtual time, and
    holds what `trace` says first of them against what was done to them.

    Real programs think, pause, read slowly, write in pieces; real queues are long, short, lossy or
    a policer's. Each connection is captured beside its server, midway and beside its client, once
    more over TLS, and with merged segments and cut packets. `troubles` are names of some; all
    without any. The new folder is `out`, below runs/ where it is None; with `again` the captures of
    such a folder are judged once more. Raises UserError.
    """
    wanted = given(asked, Wanted, keywords)
    if again is None:
        folder = make(wanted, None if out is None else Path(out), heard(progress, "troubles"))
    else:
        folder = Path(again)
    return judge(folder, wanted.jobs, heard(progress, "captures"))

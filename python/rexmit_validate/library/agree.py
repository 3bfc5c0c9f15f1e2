"""How often the model and a real kernel agree, packet by packet."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit import stacks
from rexmit.campaign.streams import core_streams
from rexmit.engines.kernel import KernelEngine, find_kernel
from rexmit.engines.model import CONTROLS
from rexmit.errors import UserError, argument
from rexmit.gate.attempts import Verdict
from rexmit.gate.cells import JudgedCell
from rexmit.gate.formats import JudgedItem
from rexmit.options import given, takes, whole, workers
from rexmit.progress import Hear, heard
from rexmit.webpage import commands
from rexmit.webpage.part import Part
from rexmit_validate import page
from rexmit_validate.agree import report as words
from rexmit_validate.agree.beside import Beside
from rexmit_validate.agree.beside import run as run_beside
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.folder import META, About, Folder
from rexmit_validate.agree.judge import Judged
from rexmit_validate.agree.kernel import run_alone
from rexmit_validate.agree.logs import Wanted, kernel_logs, room_of
from rexmit_validate.agree.rates import Rates
from rexmit_validate.agree.read import read
from rexmit_validate.agree.recorded import Recorded, of_folder, of_image
from rexmit_validate.agree.verdicts import (
    judged_cases,
    judged_kernels,
    rates,
    rates_of_kernels,
    verdict,
)

if TYPE_CHECKING:
    from rexmit.cluster import Where


@dataclass(frozen=True, slots=True)
class Agreement:
    """A kernel's logs held against a stack of the model: `rates` says how often they agree, and
    names those that do not by class. `folder` has the logs, and a scenario for each disagreement.
    """

    folder: Path
    about: About
    stack: str
    recorded: Recorded
    rates: Rates
    ticks: int = 1
    """Times agree within so many."""
    against: Path | None = None
    """The folder of another kernel that took the model's place."""

    @property
    def other(self) -> str:
        """What the kernel is held against, in words."""
        if self.against is None:
            unlike = not self.about.modelled and self.stack == self.about.stack
            return f"model {self.stack}{', the nearest,' if unlike else ''}"
        return f"kernel {Folder(self.against).about().kernel}"

    def page_part(self, place: int) -> Part:
        """Its part of a page; `place` is its own among the parts."""
        lines = [
            *self.recorded.lines(),
            *words.lines(
                self.rates,
                kernel=self.about.version,
                other=self.other,
                hz=self.about.hz,
                ticks=self.ticks,
            ),
        ]
        options = [] if self.ticks == 1 else ["--ticks", self.ticks]
        if self.against is not None:
            options += ["--against", self.against]
        elif self.stack != self.about.stack:
            options += ["--stack", self.stack]
        held = page.Held(
            self.folder,
            lines,
            f"kernel {self.about.kernel}",
            self.other,
            commands.command("validate", "agree", "--again", self.folder, *options),
            list(judged(self).values()),
        )
        return page.part(held, place)

    def as_json(self) -> dict[str, Any]:
        """Plain data; rates in percent."""
        bench = self.recorded.as_json()
        more = {} if bench is None else {"bench": bench}
        other = {"stack": self.stack} if self.against is None else {"against": str(self.against)}
        return {
            "folder": str(self.folder),
            **other,
            "ticks": self.ticks,
            **self.rates.as_json(),
            **more,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """Which cases are run, where, and what they are held against. Raises UserError (usage)."""

    kernel: str | None = None
    cases: int = 300
    paths: int = 1
    seed: int = 1
    control: str | None = None
    stack: str | None = None
    jobs: int | None = None
    cluster: Where | None = None
    ticks: int = 1

    def __post_init__(self) -> None:
        if self.stack is not None:
            stacks.known(self.stack)
        if self.control is not None and self.control not in CONTROLS:
            raise UserError(
                f"{argument('control')} {self.control}: the model has no such control",
                f"it has: {', '.join(CONTROLS)}",
                usage=True,
            )
        whole("cases", self.cases, 1, 1_000_000)
        whole("paths", self.paths, 1, 2)
        whole("seed", self.seed, 0, 2**64 - 1)
        workers(self.jobs)
        whole("ticks", self.ticks, 1, 1000)


@takes(Cases)
def agree(
    asked: Cases | None = None,
    *,
    keep: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: object,
) -> Agreement:
    """Runs random cases on a kernel and on the model, and compares every packet; with `paths` 2
    bursts of TCP and Multipath TCP over two paths, of which retransmissions and completion are
    compared.

    `control` is the congestion control of all cases, where it is not to be drawn: of BBR that phase
    of its cycle counts, which a kernel draws, with which the model agrees best.
    `stack` is the model's, that of the kernel's series where it is None. The kernel's logs are kept
    in the folder `keep`, below runs/ where it is None; what is there already is not run again.
    `jobs` kernels run at a time, one a core where it is None; or as many as `cluster` has workers
    (`local:8`, or `tls://HOST:PORT` of a Dask scheduler). Times agree within so many `ticks`.
    Raises UserError.
    """
    asked = given(asked, Cases, keywords)
    wanted = Wanted(asked.kernel, asked.cases, asked.paths, asked.seed, asked.control)
    place = None if keep is None else Path(keep)
    folder, about = kernel_logs(wanted, place, asked.jobs, heard(progress, "cases"), asked.cluster)
    return _held(folder, about, asked.stack, asked.ticks)


def agree_again(
    folder: str | PathLike[str],
    *,
    stack: str | None = None,
    against: str | PathLike[str] | None = None,
    ticks: int = 1,
) -> Agreement:
    """The kernel's logs of a folder that `agree` kept, held against the model as it is now, or
    `against` those of another such folder: two kernels in the cases that both ran. Times agree
    within so many `ticks`. Raises UserError where a folder is none.
    """
    whole("ticks", ticks, 1, 1000)
    if against is not None:
        if stack is not None:
            raise UserError("give a stack or another folder, not both", usage=True)
        logs, other = Folder(Path(folder)), Folder(Path(against))
        agreeing = rates_of_kernels(logs, other, ticks)
        about = logs.about()
        return Agreement(
            logs.path, about, "", Recorded(logs.cases()), agreeing, ticks, Path(against)
        )
    if stack is not None:
        stacks.known(stack)
    logs = Folder(Path(folder))
    return _held(logs, logs.about(), stack, ticks)


def agree_beside(
    kernel: str,
    *,
    keep: str | PathLike[str],
    before: str | PathLike[str] | None = None,
    seconds: float = 60.0,
    jobs: int | None = None,
    progress: Hear = None,
) -> Beside:
    """Random cases on a kernel, as many as fit into so many `seconds`; or those of the folder
    `before`, which this function kept for another kernel: how often both did the same. Raises
    UserError.
    """
    place = None if before is None else Path(before)
    listener = heard(progress, "cases")
    return run_beside(kernel, Path(keep), place, seconds=seconds, jobs=jobs, progress=listener)


def agree_case(
    case: str | PathLike[str], *, kernel: str | None = None, stack: str | None = None
) -> Judged:
    """One case: FOLDER/NAME out of a folder that `agree` kept, or a scenario's file, which is run
    on `kernel`. The answer has both logs, `agrees`, and `words`. Raises UserError.
    """
    if stack is not None:
        stacks.known(stack)
    path = Path(case)
    if path.suffix == ".toml":
        wanted: Case = read(path)
        engine = KernelEngine.open(find_kernel(kernel), [])
        outcome, bench = (
            run_alone(wanted, engine, core_streams()),
            of_image(room_of(engine.kernel.image)),
        )
        version, hz = engine.kernel.version, engine.kernel.hz
    else:
        folder = Folder(path.parent)
        if not (folder.path / META).is_file():
            raise UserError(
                f"{path} is neither a scenario (.toml) nor a case of `rexmit validate agree`",
                "name a case by its folder: DIR/SEED-NUMBER",
            )
        about = folder.about()
        number = next((n for n, one in folder.cases().items() if one.name == path.name), None)
        if number is None or number not in (outcomes := folder.outcomes()):
            raise UserError(
                f"{path.parent} has no kernel log of a case {path.name}",
                f"cases are named SEED-NUMBER, as in {about.seed}-0",
            )
        ran = of_folder(folder, about, stack or about.stack)
        wanted, outcome, bench = ran.cases[number], outcomes[number], ran.bench
        version, hz = about.version, about.hz
    chosen = stack or stacks.of_linux(version)
    one = verdict(wanted, outcome, chosen, hz, bench)
    if one.kernel_error is not None:
        raise UserError(f"the kernel did not run {wanted.name}: {one.kernel_error}")
    return one


def judged(agreement: Agreement) -> dict[int, Judged]:
    """Every case by its number, with both logs, and where they part."""
    folder = Folder(agreement.folder)
    if agreement.against is not None:
        return judged_kernels(folder, Folder(agreement.against), agreement.ticks)
    return dict(
        judged_cases(folder, agreement.about, agreement.stack, agreement.recorded, agreement.ticks)
    )


def lines(agreement: Agreement) -> list[JudgedItem]:
    """A line for machines for each case: one that disagrees is a failure, and of one that the
    kernel did not run nothing can be told."""
    return [_line(one) for one in judged(agreement).values()]


def _line(one: Judged) -> JudgedItem:
    if one.kernel_error is not None:
        return JudgedCell(one.case.name, Verdict.CANNOT_TELL, (one.kernel_error,), group="agree")
    if one.agrees:
        return JudgedCell(one.case.name, Verdict.GOOD, (), group="agree")
    return JudgedCell(one.case.name, Verdict.WORSE, (one.words,), group="agree")


def _held(folder: Folder, about: About, stack: str | None, ticks: int) -> Agreement:
    chosen = stack or about.stack
    ran = of_folder(folder, about, chosen)
    agreeing = rates(folder, about, chosen, ran, ticks)
    return Agreement(folder.path, about, chosen, ran, agreeing, ticks)

"""What commands have in common that judge the commits of a kernel's tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.front import Option
from rexmit.cli.judged import Junit, for_machines
from rexmit.cli.limits import (
    MOST_JOBS,
    Configs,
    Packetdrill,
    Patches,
    ScenarioSettings,
    Unconfined,
)
from rexmit.errors import UserError
from rexmit.options import as_typed

if TYPE_CHECKING:
    from rexmit.gate.bisect import Found, Step
    from rexmit.gate.series import Series
    from rexmit.library.commits import Commits

    Asked = TypeVar("Asked", bound=Commits)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitsOptions:
    """Options of all of them."""

    tree: Annotated[
        Path, Option(metavar="DIR", help="The repository of the kernel's source; it is only read.")
    ] = Path()
    worse_than: Annotated[
        str | None,
        Option(
            metavar="SHARE",
            help="Of a scenario: worse by more than this share of a mean, as `rexmit diff` has it. "
            "[default: 5%]",
            show_default=False,
        ),
    ] = None
    settings: ScenarioSettings = None
    tool: Packetdrill = None
    hz: Annotated[
        int | None,
        Option(
            help="Ticks of the kernels' timer per second: 100, 250 or 1000. [default: what the "
            "scripts ask for, else 250]",
            show_default=False,
        ),
    ] = None
    patches: Patches = None
    configs: Configs = None
    jobs: Annotated[
        int | None,
        Option(
            "--jobs",
            "-j",
            min=1,
            max=MOST_JOBS,
            help="Compilers, and kernels, at a time (default: one a core).",
        ),
    ] = None
    unconfined: Unconfined = False
    out: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="What was judged is kept there: the same command goes on where it stopped. "
            "[default: a folder in runs/]",
            show_default=False,
        ),
    ] = None
    ktap: Annotated[bool, Option("--ktap", help="Print KTAP, a line a commit.")] = False
    junit: Junit = None
    as_json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False

    def asked(self, of: type[Asked]) -> Asked:
        """What the library takes. Raises UserError (usage)."""
        if self.ktap and self.as_json:
            raise UserError(
                "--ktap and --json are two formats", "leave one of them out", usage=True
            )
        return as_typed(
            of,
            self,
            settings=self.settings or (),
            patches=self.patches or (),
            configs=self.configs or (),
        )


def show(judged: Series | Found, options: CommitsOptions, lines: Iterable[str]) -> None:
    """Say what came of it, for a person in these lines, and end with its exit status."""
    from rexmit.gate.cells import of_steps

    if options.as_json:
        print_json(judged.as_json())
    elif not options.ktap:
        for line in lines:
            outputs.line(line)
    command = type(options).__name__.removesuffix("Options").lower()
    every = of_steps(judged.steps, command)
    for_machines(every, command, ktap=options.ktap, junit=options.junit)
    raise SystemExit(judged.exit_status)


def say(step: Step) -> None:
    """What was said of a commit."""
    left = f"; about {step.left} more" if step.left else ""
    first = f": {step.answer.lines[0]}" if step.answer.lines else ""
    outputs.note(f"{step.commit}: {step.answer.verdict}{first}{left}")

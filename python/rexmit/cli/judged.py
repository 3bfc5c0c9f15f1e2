"""What commands have in common that run tests on a kernel, and how they say what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.front import Option
from rexmit.cli.limits import KernelsAtATime, OnKernel, Packetdrill
from rexmit.errors import judging

if TYPE_CHECKING:
    from rexmit.gate.formats import JudgedItem
    from rexmit.gate.verdicts import Result
    from rexmit.library.judged import Judged, OnResult, OnStart

Junit = Annotated[
    Path | None,
    Option(metavar="FILE", help="Write a JUnit report there.", show_default=False),
]


def for_machines(
    every: Sequence[JudgedItem], command: str, *, ktap: bool, junit: Path | None
) -> None:
    """Print KTAP and write a JUnit report, where they are asked for."""
    from rexmit.gate import formats
    from rexmit.store.files import write_bytes

    if ktap:
        for line in formats.ktap_head(len(every)):
            outputs.line(line)
        for number, one in enumerate(every, 1):
            for line in formats.ktap(number, one):
                outputs.line(line)
    if junit is not None:
        write_bytes(junit, formats.junit(every, command))


def check_places(*paths: Path | None) -> None:
    """Raises OSError where a file that was asked for can have no place, before kernels run."""
    from rexmit.store.files import writing
    from rexmit.store.opening import opened

    for path in paths:
        if path is not None:
            with writing(path), opened(path.parent):
                pass


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsOptions:
    """Options of all of them."""

    kernel: OnKernel = None
    tool: Packetdrill = None
    repeat: Annotated[
        int, Option(metavar="N", min=1, max=1 << 20, help="Run each test N times.")
    ] = 1
    jobs: KernelsAtATime = None
    junit: Junit = None
    as_json: Annotated[bool, Option("--json", help="Print one JSON document instead of KTAP.")] = (
        False
    )
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="Seed of the kernel's randomness.")] = 1
    memory: Annotated[
        int, Option(metavar="MIB", min=64, max=1 << 20, help="The kernel's memory.")
    ] = 256
    hang_limit: Annotated[
        float,
        Option(
            metavar="S",
            min=0,
            help="End a kernel that for so many real seconds writes nothing while its clock stands "
            "still; 0: never.",
        ),
    ] = 60.0


def judge(options: TestsOptions, run: Callable[[OnStart, OnResult], Judged]) -> None:
    """Says what comes of tests as it comes, and ends with their exit status."""
    from rexmit.gate.formats import ktap, ktap_head, summary
    from rexmit.store.files import write_bytes

    judging()
    check_places(options.junit)
    done = 0

    def on_start(kernel: str, tests: int) -> None:
        outputs.note(kernel)
        if not options.as_json:
            for line in ktap_head(tests):
                outputs.line(line)

    def on_result(result: Result) -> None:
        nonlocal done
        done += 1
        if not options.as_json:
            for line in ktap(done, result):
                outputs.line(line)
            # Whoever reads it waits for each.
            outputs.flush()

    judged = run(on_start, on_result)
    if options.junit is not None:
        write_bytes(options.junit, judged.junit())
    if options.as_json:
        print_json(judged.as_json())
    outputs.note(summary(judged.results))
    raise SystemExit(judged.exit_status)

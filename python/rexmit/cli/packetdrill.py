"""`rexmit packetdrill FILE|DIR…`: packet scripts on a kernel in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.front import Argument, Option
from rexmit.cli.limits import KernelsAtATime, OnKernel
from rexmit.errors import judging
from rexmit.options import as_typed, typed

if TYPE_CHECKING:
    from rexmit.gate.verdicts import Result

EXAMPLES = """\
Examples:

\b
  rexmit packetdrill test.pkt
  rexmit packetdrill ~/src/linux/tools/testing/selftests/net/packetdrill
  rexmit packetdrill test.pkt --kernel "$(rexmit kernel build ~/src/linux)" --repeat 10
  rexmit packetdrill tests --packetdrill ~/packetdrill/gtests/net/packetdrill/packetdrill
"""


Family = Literal["ipv4", "ipv6", "ipv4-mapped-ipv6"]
"""Of addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketdrillOptions:
    """What can be typed, in the order in which `--help` has it."""

    paths: Annotated[
        list[Path],
        Argument(
            metavar="FILE|DIR...",
            help="Scripts, and folders of which all *.pkt below are meant.",
            show_default=False,
        ),
    ]
    kernel: OnKernel = None
    tool: Annotated[
        Path | None,
        Option(
            "--packetdrill",
            metavar="PROGRAM",
            help="The packetdrill to run, as it is. [default: the one on PATH]",
            show_default=False,
        ),
    ] = None
    families: Annotated[
        list[Family] | None,
        Option(
            "--family",
            help="The addresses that scripts run with. Repeatable. [default: ipv4 and ipv6]",
            show_default=False,
        ),
    ] = None
    arguments: Annotated[
        list[str] | None,
        Option(
            "--argument",
            metavar="OPTION",
            help="An option of packetdrill's own: --argument=--tolerance_usecs=10000. Repeatable.",
            show_default=False,
        ),
    ] = None
    repeat: Annotated[
        int, Option(metavar="N", min=1, max=1 << 20, help="Run each script N times.")
    ] = 1
    jobs: KernelsAtATime = None
    junit: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write a JUnit report there.", show_default=False),
    ] = None
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


@typed(PacketdrillOptions)
def packetdrill(options: PacketdrillOptions) -> None:
    """Run packet scripts on a kernel in virtual time and say what they say of it, as KTAP.

    packetdrill runs as it is: take it from PATH, as old as the scripts are. Each script runs in a
    kernel that has done nothing else, so its packets and times do not depend on other scripts, on
    --jobs, or on how busy this machine is.

    Exit status: 0 all are good; 1 one is worse; 3 the kernel warned of a defect of its own; 125 one
    has no verdict (a kernel that hangs or dies, no packetdrill) and none is worse; 2 wrong usage.
    """
    from rexmit.gate.formats import ktap, ktap_head, summary
    from rexmit.gate.scripts import DEFAULT_FAMILIES
    from rexmit.library.packetdrill import Scripts
    from rexmit.library.packetdrill import packetdrill as run
    from rexmit.store.files import write_bytes

    done: list[Result] = []

    def on_start(kernel: str, cases: int) -> None:
        outputs.note(kernel)
        if not options.as_json:
            for line in ktap_head(cases):
                outputs.line(line)

    def on_result(result: Result) -> None:
        done.append(result)
        if not options.as_json:
            for line in ktap(len(done), result):
                outputs.line(line)
            # Whoever reads it waits for each.
            outputs.flush()

    with judging():
        how = as_typed(
            Scripts,
            options,
            families=options.families or DEFAULT_FAMILIES,
            arguments=options.arguments or (),
            hang_limit_s=options.hang_limit or None,
        )
        judged = run(options.paths, how, on_start=on_start, on_result=on_result)
        if options.junit is not None:
            write_bytes(options.junit, judged.junit())
    if options.as_json:
        print_json(judged.as_json())
    outputs.note(summary(judged.results))
    raise SystemExit(judged.exit_status)

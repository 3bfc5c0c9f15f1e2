"""`rexmit packetdrill FILE|DIR…`: packet scripts on a kernel in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from rexmit.cli.front import Argument, Option
from rexmit.cli.judged import TestsOptions, judge
from rexmit.options import as_typed, typed

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
class PacketdrillOptions(TestsOptions):
    """What can be typed, in the order in which `--help` has it."""

    paths: Annotated[
        list[Path],
        Argument(
            metavar="FILE|DIR...",
            help="Scripts, and folders of which all *.pkt below are meant.",
            show_default=False,
        ),
    ]
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


@typed(PacketdrillOptions)
def packetdrill(options: PacketdrillOptions) -> None:
    """Run packet scripts on a kernel in virtual time and say what they say of it, as KTAP.

    packetdrill runs as it is: take it from PATH, as old as the scripts are. Each script runs in a
    kernel that has done nothing else, so its packets and times do not depend on other scripts, on
    --jobs, or on how busy this machine is.

    Exit status: 0 all are good; 1 one is worse; 3 the kernel warned of a defect of its own; 125 one
    has no verdict (a kernel that hangs or dies, no packetdrill) and none is worse; 2 wrong usage.
    """
    from rexmit.gate.scripts import DEFAULT_FAMILIES
    from rexmit.library.packetdrill import Scripts
    from rexmit.library.packetdrill import packetdrill as run

    how = as_typed(
        Scripts,
        options,
        families=options.families or DEFAULT_FAMILIES,
        arguments=options.arguments or (),
        hang_limit_s=options.hang_limit or None,
    )
    judge(options, lambda start, result: run(options.paths, how, on_start=start, on_result=result))

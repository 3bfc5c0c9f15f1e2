"""`rexmit kselftest TARGET`: the kernel's own tests on a kernel in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rexmit import outputs
from rexmit.cli.front import Argument, Option
from rexmit.cli.judged import TestsOptions, judge
from rexmit.options import as_typed, typed

EXAMPLES = """\
Examples:

\b
  rexmit kselftest net/packetdrill --kernel 6.12+selftests
  rexmit kselftest net/packetdrill:tcp_inq_client.pkt
  rexmit kselftest net:fib-onlink-tests.sh --kernel 6.12+selftests
  rexmit kselftest net/packetdrill --kernel "$(rexmit kernel build . --config selftests --hz 1000)"
  rexmit kselftest net/packetdrill --scripts-from ~/src/net-next --kernel 6.12+selftests
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KselftestOptions(TestsOptions):
    """What can be typed, in the order in which `--help` has it."""

    target: Annotated[
        str,
        Argument(
            metavar="TARGET[:TEST]",
            help="A folder below tools/testing/selftests, or one test of it.",
            show_default=False,
        ),
    ]
    scripts_from: Annotated[
        str | None,
        Option(
            metavar="TREE",
            help="The kernel's source that has the tests: a folder, a tarball, or a series of "
            "Debian's. [default: what the kernel was built from]",
            show_default=False,
        ),
    ] = None


@typed(KselftestOptions)
def kselftest(options: KselftestOptions) -> None:
    """Run the kernel's own tests on a kernel in virtual time, by the runner that their tree has.

    Of a TARGET whose tests need a runner (net/packetdrill: its ksft_runner.sh) all run; of others
    the named TEST, if it is a script that needs no compiler. Each runs in a kernel that has done
    nothing else, with tolerances as they are: no machine is slow in virtual time. Output is KTAP,
    the parts of a test set in.

    Exit status: 0 all are good; 1 one is worse; 3 the kernel warned of a defect of its own; 125 one
    has no verdict (it was skipped, the kernel hung or died, or the tree has no such tests) and none
    is worse; 2 wrong usage.
    """
    from rexmit.library.kselftest import Selftests
    from rexmit.library.kselftest import kselftest as run

    how = as_typed(Selftests, options, hang_limit_s=options.hang_limit or None)
    judge(
        options,
        lambda start, result: run(
            options.target, how, on_start=start, on_result=result, on_note=outputs.note
        ),
    )

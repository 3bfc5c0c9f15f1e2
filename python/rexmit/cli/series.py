"""`rexmit series`: what each commit of a kernel's tree changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.as_json import print_json
from rexmit.cli.commits import CommitsOptions, say
from rexmit.cli.front import Argument, Option
from rexmit.errors import judging
from rexmit.options import typed

EXAMPLES = """\
Examples:

\b
  rexmit series --tree ~/src/linux --commits v6.12..HEAD
  rexmit series --tree linux --commits net-next/main..HEAD \\
    tools/testing/selftests/net/packetdrill --config selftests
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOptions(CommitsOptions):
    """What can be typed, in the order in which `--help` has it."""

    what: Annotated[
        list[str] | None,
        Argument(
            metavar="FILE|DIR|SCENARIO...",
            help="Packet scripts (.pkt), folders of them, or one scenario. [default: gate]",
            autocompletion=completion.scenarios,
            show_default=False,
        ),
    ] = None
    commits: Annotated[str, Option(metavar="BASE..HEAD", help="The commits, as git has them.")]


@typed(SeriesOptions)
def series(options: SeriesOptions) -> None:
    """Say of each commit of a series what it makes worse, beside the one before it: by a scenario,
    or by packet scripts.

    A commit that changes nothing gives no difference at all: kernels run in virtual time, from the
    same random numbers. What was judged is kept in --out, so the same command goes on where it
    stopped.

    Building a tree RUNS ITS CODE, in a sandbox (`rexmit kernel build --help`).

    Exit status: 0 no commit is worse; 1 one is; 3 a kernel warned of a defect of its own; 125 of
    one nothing can be told, and none is worse; 2 wrong usage.
    """
    import sys

    from rexmit.library.series import USUAL, Range
    from rexmit.library.series import series as judge
    from rexmit.progress import for_stream

    how = options.asked(Range)
    with judging():
        every = judge(
            options.what or USUAL,
            how,
            out=options.out,
            on_step=say,
            progress=for_stream(sys.stderr, "steps", transient=True),
        )
    if options.as_json:
        print_json(every.as_json())
    else:
        for line in every.table():
            outputs.line(line)
    raise SystemExit(every.exit_status)

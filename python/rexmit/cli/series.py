"""`rexmit series`: what each commit of a kernel's tree changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rexmit.cli import completion
from rexmit.cli.commits import CommitsOptions, say, show
from rexmit.cli.front import Argument, Option
from rexmit.cli.judged import check_places
from rexmit.errors import judging
from rexmit.options import typed

EXAMPLES = """\
Examples:

\b
  rexmit series --tree ~/src/linux --commits v6.12..HEAD
  rexmit series --tree linux --commits net-next/main..HEAD \\
    tools/testing/selftests/net/packetdrill --config selftests
  rexmit series --tree linux --mbox v2.mbox --onto net-next/main --seconds 60
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
    commits: Annotated[
        str | None, Option(metavar="BASE..HEAD", help="The commits, as git has them.")
    ] = None
    mbox: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Or mails with patches: they are applied by `git am` in a clone below --out.",
        ),
    ] = None
    onto: Annotated[
        str, Option(metavar="COMMIT", help="With --mbox: the commit that they are applied to.")
    ] = "HEAD"
    seconds: Annotated[
        float | None,
        Option(
            metavar="S",
            min=0,
            help="Besides, run so many random transfers as fit into this time on the first commit, "
            "the same ones on each other, and say how many differ from those of the one before.",
        ),
    ] = None


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

    judging()
    check_places(options.junit)
    how = options.asked(Range)
    every = judge(
        options.what or USUAL,
        how,
        out=options.out,
        on_step=say,
        progress=for_stream(sys.stderr, "steps", transient=True),
    )
    show(every, options, every.table())

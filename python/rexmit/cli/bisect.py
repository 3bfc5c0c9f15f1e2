"""`rexmit bisect`: the commit of a kernel's tree that made something worse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from rexmit.cli import completion
from rexmit.cli.commits import CommitsOptions, say, show
from rexmit.cli.front import Argument, Option
from rexmit.cli.judged import check_places
from rexmit.errors import judging
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.gate.bisect import Found

EXAMPLES = """\
Examples:

\b
  rexmit bisect --tree ~/src/linux --good v6.12 --bad HEAD tlp.pkt
  rexmit bisect --tree linux --good v6.12 --bad HEAD tools/testing/selftests/net/packetdrill \\
    --config selftests
  rexmit bisect --tree linux --good v6.12 --bad HEAD smoke --worse-than 5% --set network=mobile
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectOptions(CommitsOptions):
    """What can be typed, in the order in which `--help` has it."""

    what: Annotated[
        list[str],
        Argument(
            metavar="FILE|DIR|SCENARIO...",
            help="Packet scripts (.pkt), folders of them, or one scenario.",
            autocompletion=completion.scenarios,
        ),
    ]
    good: Annotated[str, Option(metavar="COMMIT", help="One on whose kernel all is good.")]
    bad: Annotated[str, Option(metavar="COMMIT", help="A later one on whose kernel it is not.")] = (
        "HEAD"
    )


@typed(BisectOptions)
def bisect(options: BisectOptions) -> None:
    """Find the commit of a kernel's tree from which on a packet script fails, or a scenario is
    worse.

    The kernels of the commits are built from git's objects (nothing is checked out) and run in
    virtual time, so a commit has one verdict, however busy this machine is. What does not build, or
    cannot be judged, is left out; where this machine is to blame for that, the command ends, and
    goes on from there when it is typed again.

    Building a tree RUNS ITS CODE, in a sandbox (`rexmit kernel build --help`).

    Exit status: 0 the commit is found; 125 it is one of several, as those between cannot be judged,
    or the good commit is not good, or the bad one not bad; 2 wrong usage.
    """
    import sys

    from rexmit.library.bisect import Question
    from rexmit.library.bisect import bisect as find
    from rexmit.progress import for_stream

    judging()
    check_places(options.junit)
    how = options.asked(Question)
    first = find(
        options.what,
        how,
        out=options.out,
        on_step=say,
        progress=for_stream(sys.stderr, "steps", transient=True),
    )
    show(first, options, _lines(first))


def _lines(first: Found) -> Iterator[str]:
    if first.first_bad is not None:
        yield f"first bad commit: {first.first_bad}"
    else:
        yield f"one of {len(first.candidates)} commits is the first bad one:"
        yield from (f"  {commit}" for commit in first.candidates)
    for words, step in (("before it", first.before), ("with it", first.bad)):
        yield f"{words}, {step.commit}: {step.answer.verdict}"
        yield from (f"  {line}" for line in step.answer.lines)
        if step.answer.again:
            yield f"  again: {step.answer.again}"

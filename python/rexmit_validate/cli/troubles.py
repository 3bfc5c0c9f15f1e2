"""`rexmit validate troubles`: whether the first sentence of a trace names whose the time was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rexmit import outputs
from rexmit.cli.as_json import print_result
from rexmit.cli.front import Option
from rexmit.cli.limits import KernelsAtATime, OnKernel
from rexmit.errors import EXIT_FAILED, UserError
from rexmit.options import as_typed, typed

EXAMPLES = """\
Examples:

\b
  rexmit validate troubles --out troubles                 all on 6.12, and how often it is right
  rexmit validate troubles --troubles nagle,server-300ms  some of them
  rexmit validate troubles --again troubles --json        judge captures that are there
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TroublesOptions:
    """What can be typed, in the order in which `--help` has it."""

    kernel: OnKernel = None
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="What chance is drawn from.")] = 1
    troubles: Annotated[
        str | None,
        Option(metavar="NAMES", help="Only these, with commas. Default: all.", show_default=False),
    ] = None
    out: Annotated[
        Path | None, Option(metavar="DIR", help="A new folder. Default: below runs/.")
    ] = None
    again: Annotated[
        Path | None, Option(metavar="DIR", help="Judge the captures of such a folder.")
    ] = None
    jobs: KernelsAtATime = None
    fail_under: Annotated[
        float | None,
        Option(
            metavar="PERCENT",
            min=0,
            max=100,
            help="Exit with 1 if fewer captures are right at any place.",
            show_default=False,
        ),
    ] = None
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False


@typed(TroublesOptions)
def troubles(options: TroublesOptions) -> None:
    """Whether the first sentence of a trace names whose the time was.

    Connections with one trouble each are made on a real kernel in virtual time: programs that think
    or pause, windows, buffers, Nagle's algorithm, losses, queues, policers, a hole for large
    packets, a cable that is pulled. Each is captured beside its server, midway and beside its
    client; once more over TLS, with merged segments, and with cut packets. What is said first of
    each capture is held against what was done.
    """
    import sys

    from rexmit.progress import for_stream
    from rexmit_validate.library import troubles as library
    from rexmit_validate.troubles.judge import MONITORS
    from rexmit_validate.troubles.show_judged import captures_data, judged_blocks

    if options.again is not None and options.out is not None:
        raise UserError("--out and --again: captures are made, or there already", usage=True)
    names = () if options.troubles is None else tuple(options.troubles.split(","))
    wanted = as_typed(library.Wanted, options, troubles=names)
    folder = options.again or library.make(wanted, options.out, for_stream(sys.stderr, "troubles"))
    judged = library.judge(folder, wanted.jobs, for_stream(sys.stderr, "captures"))
    shares = {
        monitor: sum(one.right for one in at) / len(at)
        for monitor in MONITORS
        if (at := judged.at(monitor))
    }
    print_result(
        lambda: {"folder": str(folder), "right": shares, "captures": captures_data(judged)},
        lambda _: judged_blocks(judged),
        as_json=options.as_json,
    )
    if not options.as_json:
        outputs.line(f"kept in {folder}")
    if options.fail_under is not None and any(
        share * 100 < options.fail_under for share in shares.values()
    ):
        raise SystemExit(EXIT_FAILED)

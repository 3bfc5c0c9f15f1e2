"""`rexmit validate whatif`: what-if predictions held against transfers really run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.front import Option
from rexmit.cli.limits import MOST_JOBS, OnKernel
from rexmit.options import as_typed, typed

EXAMPLES = """\
Examples:

\b
  rexmit validate whatif                                   every usual setting, on every stack
  rexmit validate whatif --stack linux-2.4 --setting k=2,min_rto=100ms
  rexmit validate whatif --stack linux-2.4 --setting grid  the 720 of UNC 2007
  rexmit validate whatif --engine kernel --kernel 6.12     on a real kernel, those that it has
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatifOptions:
    """What can be typed, in the order in which `--help` has it."""

    stack: Annotated[
        str | None,
        Option(
            "--stack",
            metavar="STACK",
            help="One stack of the model, as `rexmit stacks` lists it.",
            autocompletion=completion.stacks,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        Option(
            "--setting", metavar="SETTING", help="What to change, as k=2 or no-tlp. Repeatable."
        ),
    ] = None
    engine: Annotated[
        str,
        Option(metavar="model|kernel", help="What runs the transfers."),
    ] = "model"
    kernel: OnKernel = None
    seed: Annotated[int, Option(min=0, max=2**63 - 1, help="Of the transfers.")] = 1
    jobs: Annotated[
        int | None, Option("--jobs", "-j", min=1, max=MOST_JOBS, help="Cells at a time.")
    ] = None
    out: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Keep the captures and check.parquet in this folder.",
        ),
    ] = None
    as_json: Annotated[bool, Option("--json", help="Print the errors as JSON.")] = False


@typed(WhatifOptions)
def whatif(options: WhatifOptions) -> None:
    """Check what-if: run transfers, predict from their captures what a setting changes, run the
    same transfers with that setting, and say how far the predictions were off.

    The transfers differ in round trip, size and in which packets are lost; under each setting the
    same packets are lost. A check of every usual setting is kept, and `rexmit trace` prints its
    errors beside its predictions.
    """
    import json
    from dataclasses import asdict

    from rexmit.cli.as_json import print_blocks
    from rexmit_validate.library.whatif import Check, check_whatif
    from rexmit_validate.whatif.show_errors import error_blocks

    asked = as_typed(Check, options, settings=options.settings or ())
    checked = check_whatif(asked, out=options.out)
    if options.as_json:
        outputs.lines(json.dumps(asdict(checked), indent=2))
    else:
        print_blocks(lambda _: error_blocks(checked.rows))

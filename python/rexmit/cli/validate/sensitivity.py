"""`rexmit validate sensitivity`: how far what is unknown of a bench moves Ryll 2013's Table 4."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """\
Examples:

\b
  rexmit validate sensitivity tlp-2013-bench
  rexmit validate sensitivity tlp-2013-bench --repeat 20 --json
"""


def sensitivity(
    name: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help="A scenario, by file or name."),
    ],
    unknowns: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What is unknown. Default: the file of the scenario's name in the folder "
            "unknowns beside it.",
        ),
    ] = None,
    losses: Annotated[
        int, typer.Option("--losses", metavar="N", min=1, help="Lost segments, as in Table 4.")
    ] = 5,
    repeat: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Transfers a cell, instead of the scenario's."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the runs. Default: below runs/.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Run a scenario on the model as it is and with each unknown of its bench changed, and print
    how far each cell of Table 4 is off the paper's.

    Runs that are there already are not repeated.
    """
    import json
    import sys
    from dataclasses import asdict

    from rexmit.library import sensitivity as library
    from rexmit.present.terminal import console
    from rexmit.progress import Step
    from rexmit.validate.sensitivity.print_departures import print_sensitivity

    def tell(step: Step) -> None:
        if step.note is not None:
            print(step.note, file=sys.stderr)

    table = library.sensitivity(
        name, unknowns=unknowns, losses=losses, repeat=repeat, out=out, progress=tell
    )
    if as_json:
        typer.echo(json.dumps(asdict(table)))
        return
    print_sensitivity(table, console())

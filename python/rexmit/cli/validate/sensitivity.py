"""`rexmit validate sensitivity`: how far what is unknown of a bench moves Ryll 2013's Table 4."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rexmit.errors import UserError

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

    from rexmit import scenario
    from rexmit.present.terminal import console
    from rexmit.scenario import unknowns as files
    from rexmit.validate.sensitivity.bench import depart
    from rexmit.validate.sensitivity.print_departures import print_sensitivity

    base = scenario.find(name)
    beside = base.parent / "unknowns" / base.name
    if unknowns is None and not beside.is_file():
        raise UserError(
            f"{base}: nobody has written down what is unknown of it: there is no {beside}",
            "write one as for tlp-2013-bench, or name a file with --unknowns",
            usage=True,
        )
    table = depart(
        base,
        files.load(unknowns or beside),
        out or Path("runs") / f"sensitivity-{base.stem}",
        losses=losses,
        repeat=repeat,
        tell=lambda unknown: print(f"{unknown.name}: {unknown.about}", file=sys.stderr),
    )
    if as_json:
        typer.echo(json.dumps(asdict(table)))
        return
    print_sensitivity(table, console())

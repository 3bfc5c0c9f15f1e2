"""`rexmit validate sensitivity`: how far what is unknown of a bench moves Ryll 2013's Table 4."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rexmit.errors import UserError
from rexmit.version import version

if TYPE_CHECKING:
    from rexmit.papers.ryll_2013.sensitivity import Sensitivity

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
    from rexmit.papers.ryll_2013.sensitivity import sensitivity as of_runs
    from rexmit.papers.ryll_2013.table4 import table4
    from rexmit.scenario import unknowns as files
    from rexmit.store.open_run import open_run

    base = scenario.find(name)
    beside = base.parent / "unknowns" / base.name
    if unknowns is None and not beside.is_file():
        raise UserError(
            f"{base}: nobody has written down what is unknown of it: there is no {beside}",
            "write one as for tlp-2013-bench, or name a file with --unknowns",
            usage=True,
        )
    found = files.load(unknowns or beside)
    folder = out or Path("runs") / f"sensitivity-{base.stem}"
    always = [f"loss.segments={losses}"]
    if repeat is not None:
        own = [
            f"networks.{network_name}.repeat={repeat}"
            for network_name, network in scenario.load(base, [], stacks=True).networks.items()
            if network.repeat is not None
        ]
        always += [f"repeat={repeat}", *own]
    names, runs = ["as written down"], [_run(base, always, folder / "as-written-down")]
    for unknown in found.unknown:
        print(f"{unknown.name}: {unknown.about}", file=sys.stderr)
        names.append(unknown.name)
        slug = re.sub("[^a-z0-9]+", "-", unknown.name.lower()).strip("-")
        runs.append(_run(base, [*always, *unknown.set], folder / slug))
    table = of_runs(names, [table4(open_run(run), losses) for run in runs])
    if as_json:
        typer.echo(json.dumps(asdict(table)))
        return
    _print(table)


def _print(table: Sensitivity) -> None:
    from rexmit.papers.ryll_2013.print_sensitivity import print_sensitivity
    from rexmit.present.terminal import console

    print_sensitivity(table, console())


def _run(base: Path, settings: list[str], out: Path) -> Path:
    """Runs the scenario with these settings on the model, or finds that it ran."""
    import shlex

    from rexmit import scenario, stacks
    from rexmit.campaign.progress import Silent
    from rexmit.campaign.runner import Campaign, Request
    from rexmit.campaign.streams import core_streams
    from rexmit.engines.engine import cores
    from rexmit.engines.model import ModelEngine
    from rexmit.scenario.stacks import of_scenario

    loaded = scenario.load(base, settings, stacks=True)
    name = loaded.stack.get("name", stacks.DEFAULT)
    engine = ModelEngine.open(version(), of_scenario(loaded, name, None), ["--stack", name])
    words = ["rexmit", "run", base.stem, "--seed", str(loaded.seed), *engine.words]
    for setting in settings:
        words += ["--set", setting]
    request = Request(
        name=base.stem,
        scenario=loaded,
        out=out,
        command=shlex.join(words),
        version=version(),
        jobs=len(cores()),
        capture=False,
    )
    meta = Campaign(request, engine, core_streams(), Silent()).run()
    if meta["failed_cells"]:
        cell = meta["failed_cells"][0]
        raise UserError(
            f"{cell['label']} failed: {cell['message']}",
            f"to try again: {request.command}",
        )
    return out

"""A bench run on the model as it is written down, and with each of its unknowns changed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from rexmit import scenario, stacks
from rexmit.campaign.runner import Campaign, Request
from rexmit.campaign.streams import core_streams
from rexmit.engines.engine import cores
from rexmit.engines.model import ModelEngine
from rexmit.errors import UserError
from rexmit.papers.ryll_2013.table4 import table4
from rexmit.progress import Progress, Silent
from rexmit.scenario.stacks import of_scenario
from rexmit.scenario.unknowns import Unknowns
from rexmit.store.open_run import open_run
from rexmit.validate.sensitivity.departures import Sensitivity, sensitivity
from rexmit.version import version

AS_IT_IS = "as written down"


def depart(
    base: Path,
    unknowns: Unknowns,
    folder: Path,
    *,
    losses: int,
    repeat: int | None,
    progress: Progress,
) -> Sensitivity:
    """The scenario `base` as it is and with each unknown, its runs kept in `folder`, where those
    that are there already are not repeated. `progress` counts runs and hears of each unknown before
    it is run.
    """
    always = [f"loss.segments={losses}"]
    if repeat is not None:
        own = [
            f"networks.{name}.repeat={repeat}"
            for name, network in scenario.load(base, [], stacks=True).networks.items()
            if network.repeat is not None
        ]
        always += [f"repeat={repeat}", *own]
    progress.start(1 + len(unknowns.unknown))
    try:
        names, runs = [AS_IT_IS], [_run(base, always, folder / _slug(AS_IT_IS))]
        progress.advance(1)
        for unknown in unknowns.unknown:
            progress.note(f"{unknown.name}: {unknown.about}")
            names.append(unknown.name)
            runs.append(_run(base, [*always, *unknown.set], folder / _slug(unknown.name)))
            progress.advance(1)
    finally:
        progress.close()
    return sensitivity(names, [table4(open_run(run), losses) for run in runs])


def _slug(name: str) -> str:
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def _run(base: Path, settings: list[str], out: Path) -> Path:
    """Runs the scenario with these settings on the model, or finds that it ran."""
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

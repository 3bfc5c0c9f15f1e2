"""How far what is unknown of a bench moves Table 4 of Ryll 2013."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from rexmit import scenario as scenarios
from rexmit.errors import UserError, argument
from rexmit.progress import Hear, heard
from rexmit.scenario import unknowns as files
from rexmit.validate.sensitivity.bench import depart
from rexmit.validate.sensitivity.departures import Sensitivity


def sensitivity(
    scenario: str | PathLike[str],
    *,
    unknowns: str | PathLike[str] | None = None,
    losses: int = 5,
    repeat: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
) -> Sensitivity:
    """Runs a scenario on the model as it is and with each unknown of its bench changed.

    `unknowns` is the file that says what is unknown; where it is None that of the scenario's name
    in the folder unknowns beside it. With so many `losses`, lost segments, and `repeat` transfers a
    cell, or as many as the scenario has. Runs are kept in `out`, below runs/ where it is None;
    those that are there are not repeated. `progress` counts runs.

    The answer says of each cell of the table how far it is off the paper's, percent, as written
    down and with each change. Raises UserError.
    """
    base = scenarios.find(str(scenario))
    beside = base.parent / "unknowns" / base.name
    if unknowns is None and not beside.is_file():
        raise UserError(
            f"{base}: nobody has written down what is unknown of it: there is no {beside}",
            f"write one as for tlp-2013-bench, or name a file with {argument('unknowns')}",
            usage=True,
        )
    known = files.load(beside if unknowns is None else Path(unknowns))
    folder = Path("runs") / f"sensitivity-{base.stem}" if out is None else Path(out)
    return depart(
        base, known, folder, losses=losses, repeat=repeat, progress=heard(progress, "runs")
    )

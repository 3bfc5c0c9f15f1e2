"""`rexmit plot RUN`: the figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rexmit import outputs
from rexmit.cli.run_tables import Inexact
from rexmit.errors import UserError


def plot(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder that `rexmit run` wrote.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Where the figures go. [default: RUN/figures]",
            show_default=False,
        ),
    ] = None,
    losses: Annotated[
        int | None,
        typer.Option(
            "--losses",
            metavar="N",
            min=0,
            help="Only transfers with N lost segments, drawn against what else the run varies.",
            show_default=False,
        ),
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Of pdf, png; by commas.")
    ] = "pdf,png",
    inexact: Inexact = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the paths as JSON.")] = False,
) -> None:
    """Draw the figures of a run: times against lost segments, mean and standard deviation.

    Two for each network, t_recover and t_total. Transfers are left out as in `rexmit show`. Of a
    run with bursts: completion times as bars, a figure for each loss.

    Where a single number of segments is lost and the run varies something else (transfer size,
    receive window, loss on the line, congestion control), times stand against that.

    \b
    Examples:
      rexmit plot runs/smoke
      rexmit plot runs/tlp-further --losses 5
      rexmit plot runs/smoke --format png --out pictures
    """
    chosen = _formats(formats)

    from rexmit.library.figures import figures, save_figures
    from rexmit.library.opened import open_run

    folder = out if out is not None else run / "figures"
    drawn = figures(open_run(run), losses=losses, inexact=inexact)
    paths = save_figures(drawn, folder, formats=chosen)
    if as_json:
        import json

        outputs.lines(json.dumps({"figures": [str(path) for path in paths]}, indent=2))
    else:
        for path in paths:
            outputs.line(path)


def _formats(text: str) -> list[str]:
    chosen = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    wrong = [part for part in chosen if part not in ("pdf", "png")]
    if wrong or not chosen:
        what = ", ".join(wrong) if wrong else "nothing"
        raise UserError(f"--format: {what} is not known", "give pdf, png or both", usage=True)
    return chosen

"""`rexmit plot RUN`: the paper's figures from a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rexmit.errors import UserError

if TYPE_CHECKING:
    from rexmit.store.open_run import Run


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
    inexact: Annotated[
        bool,
        typer.Option(
            "--inexact", help="Take in transfers that lost other segments than those asked for."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the paths as JSON.")] = False,
) -> None:
    """Draw the figures of a run: times against lost segments, mean and standard deviation.

    Figures 4 and 5a to 5c as Ryll 2013 has them, and the same for every other network.
    Transfers are left out as in `rexmit show`. Open marks are the means that the paper prints.

    Of a run with bursts over paths: Figures 2, 4 and 6 of Probe or Wait 2017, completion times as
    bars; where it kept captures, its timing diagrams (Figures 3 and 5) as ladders of both paths.

    Where a single number of segments is lost and the run varies something else (transfer size,
    receive window, loss on the line, congestion control), times stand against that.

    \b
    Examples:
      rexmit plot runs/tlp-2013
      rexmit plot runs/tlp-further --losses 5
      rexmit plot runs/tlp-2013 --format png --out pictures
    """
    chosen = _formats(formats)

    from rexmit.analysis.bursts import has_bursts
    from rexmit.store.open_run import open_run

    opened = open_run(run)
    folder = out if out is not None else run / "figures"
    if has_bursts(opened):
        paths = _bursts(opened, folder, chosen, losses, keep_inexact=inexact)
    else:
        paths = _against_losses(opened, folder, chosen, losses, keep_inexact=inexact)
    if as_json:
        import json

        typer.echo(json.dumps({"figures": [str(path) for path in paths]}, indent=2))
    else:
        for path in paths:
            typer.echo(path)


def _bursts(
    run: Run, folder: Path, formats: list[str], losses: int | None, *, keep_inexact: bool
) -> list[Path]:
    from rexmit.papers.probe_or_wait_2017 import diagrams, figures

    if losses is not None:
        raise UserError(
            "--losses counts segments lost at the end of a page: this run has bursts",
            "leave it out",
            usage=True,
        )
    bars = figures.write(run, folder, formats, keep_inexact=keep_inexact)
    return bars + diagrams.write(run, folder, formats)


def _against_losses(
    run: Run, folder: Path, formats: list[str], losses: int | None, *, keep_inexact: bool
) -> list[Path]:
    from rexmit.papers.ryll_2013.figures import PRINTED
    from rexmit.present.figures.draw import write
    from rexmit.present.figures.plan import plan

    figures = plan(run, losses, printed=PRINTED, keep_inexact=keep_inexact)
    if not figures:
        raise UserError(
            f"{run.path}: no transfer that a figure can be drawn from",
            "`rexmit show` says why transfers are left out",
        )
    return [path for figure in figures for path in write(figure, folder, formats)]


def _formats(text: str) -> list[str]:
    chosen = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    wrong = [part for part in chosen if part not in ("pdf", "png")]
    if wrong or not chosen:
        what = ", ".join(wrong) if wrong else "nothing"
        raise UserError(f"--format: {what} is not known", "give pdf, png or both", usage=True)
    return chosen

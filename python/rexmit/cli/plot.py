"""`rexmit plot RUN...`: the figures of runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.drawn import Formats, as_list, rule
from rexmit.cli.front import Argument, Option
from rexmit.cli.limits import UnpackLimit
from rexmit.cli.run_tables import Inexact
from rexmit.cli.trace_options import comma_words, refuse
from rexmit.options import typed


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotOptions:
    """What can be typed, in the order in which `--help` has it."""

    runs: Annotated[
        list[Path],
        Argument(
            metavar="RUN...",
            help="Folder that `rexmit run` wrote; several: in the same figures.",
            show_default=False,
        ),
    ]
    x: Annotated[
        str | None,
        Option(
            "--x",
            metavar="AXIS",
            help="What stands along the figure: an axis of the grid, as the scenario or a column "
            "calls it (loss.segments, network, receive_window), or `run`. [default: lost segments, "
            "else the numbers of which there are most]",
            show_default=False,
        ),
    ] = None
    y: Annotated[
        str | None,
        Option(
            "--y",
            metavar="LIST",
            help="Columns of transfers, by commas, each with panels of its own. "
            "[default: t_total_s,t_recover_s,client_s]",
            show_default=False,
        ),
    ] = None
    colour: Annotated[
        str | None,
        Option(
            "--colour",
            metavar="AXIS",
            help="What colours and markers tell apart. [default: runs, else configurations, else "
            "what has the fewest values]",
            show_default=False,
        ),
    ] = None
    facet: Annotated[
        str | None,
        Option(
            "--facet",
            metavar="LIST",
            help="One axis or two, by commas: a panel for each value, to the right and downwards. "
            "[default: the network, and what else has no place]",
            show_default=False,
        ),
    ] = None
    ci: Annotated[
        float,
        Option("--ci", metavar="PERCENT", help="Of the intervals of means."),
    ] = 95.0
    cell: Annotated[
        list[str] | None,
        Option(
            "--cell",
            metavar="AXIS=VALUES",
            help="Only cells with these values: network=mobile, config=er,tlp, lost=1..5. "
            "Repeatable.",
            show_default=False,
        ),
    ] = None
    losses: Annotated[
        int | None,
        Option(
            "--losses",
            metavar="N",
            min=0,
            help="The same as --cell lost=N.",
            show_default=False,
        ),
    ] = None
    out: Annotated[
        Path | None,
        Option(
            "--out",
            metavar="DIR",
            help="Where the figures go. [default: RUN/figures, of the first run]",
            show_default=False,
        ),
    ] = None
    formats: Formats = "pdf,png"
    inexact: Inexact = False
    unpack_limit: UnpackLimit = None
    as_json: Annotated[
        bool, Option("--json", help="Print the paths, and all that is drawn, as JSON.")
    ] = False


@typed(PlotOptions)
def plot(options: PlotOptions) -> None:
    """Draw means of runs with their intervals, along any axis of the grid.

    Without further options it is one figure that shows the whole grid, up to four axes: along it,
    by colour and marker, and in panels to the right and downwards. Of a grid with more, say what
    stands along it (--x): what has no place then has a figure for each value. Cells that differ are
    never averaged. Transfers are left out as in `rexmit show`. Of a run with bursts: their
    completion times as bars, a figure for each loss.

    \b
    Examples:
      rexmit plot runs/smoke
      rexmit plot runs/smoke --x loss.segments --y t_total_s --colour config --facet network
      rexmit plot runs/old runs/new --cell network=mobile --ci 99
      rexmit plot runs/tlp-further --x receive_window --cell lost=5 --format svg --out pictures
    """
    refuse(iter([rule(options.formats)]))
    cells = [*(options.cell or ()), *_losses(options.losses)]

    from rexmit.analysis.chart import Question
    from rexmit.library.figures import plot_with_points, save_figures
    from rexmit.library.opened import open_run

    question = Question(
        x=options.x,
        y=_words(options.y),
        colour=options.colour,
        facet=_words(options.facet),
        ci=options.ci,
        cells=cells,
        inexact=options.inexact,
    )
    runs = [open_run(path) for path in options.runs]
    folder = options.out if options.out is not None else options.runs[0] / "figures"
    figures, points = plot_with_points(runs, question)
    paths = save_figures(figures, folder, formats=as_list(options.formats))
    if options.as_json:
        print_json({"figures": [str(path) for path in paths], "points": points})
        return
    for path in paths:
        outputs.line(path)


def _words(text: str | None) -> list[str] | None:
    return None if text is None else comma_words(text)


def _losses(number: int | None) -> list[str]:
    return [] if number is None else [f"lost={number}"]

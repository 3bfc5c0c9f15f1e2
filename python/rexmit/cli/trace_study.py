"""`rexmit trace --study`: the tables, figures and claims of UNC 2007."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rexmit import outputs
from rexmit.cli.as_json import print_json

if TYPE_CHECKING:
    from rexmit.cli.trace_options import TraceOptions
    from rexmit.tracing.options import Analysis


def print_study_of(options: TraceOptions, analysis: Analysis) -> None:
    """Prints the study, each file as a trace of its own; figures are written into `--out`."""
    import sys
    from contextlib import ExitStack

    from rexmit.library.figures import figures, save_figures
    from rexmit.library.study import study
    from rexmit.library.trace import analysed
    from rexmit.papers.unc_2007.print_study import print_study
    from rexmit.present.terminal import console
    from rexmit.progress import for_stream
    from rexmit.sources import find

    out = options.out
    with ExitStack() as kept:
        found, missing = find(options.captures or ())
        for line in missing:
            outputs.say(f"rexmit: {line}")
        traces = []
        for number, capture in enumerate(found):
            where = out
            if out is not None and len(found) > 1:
                where = out / f"{number}-{capture.name.partition('.')[0]}"
            told = for_stream(sys.stderr, "packets", transient=True)
            traces.append(analysed([capture], where, kept, analysis, progress=told))
        made = study(traces)
        paths: list[Path] = []
        if out is not None:
            paths = save_figures(figures(made), out / "figures", formats=options.figure_formats())
        if options.as_json:
            from rexmit.papers.unc_2007.as_json import study_data

            print_json(study_data(made, paths))
            return
        shown = console()
        print_study(made.tables, shown)
        if options.claims:
            from rexmit.papers.print_claims import print_claims
            from rexmit.papers.unc_2007.claims import SOURCE

            shown.print()
            print_claims(made.claims, shown, SOURCE)
        for path in paths:
            outputs.line(path)
        if out is None:
            outputs.line("figures: --out DIR")
            return
        for why in made.missing:
            outputs.line(f"not drawn: {why}")

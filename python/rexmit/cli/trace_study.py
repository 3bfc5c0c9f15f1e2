"""`rexmit trace --study`: the tables, figures and claims of UNC 2007."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.trace_analysis import traces

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_study_of(
    captures: list[str],
    out: Path | None,
    formats: list[str],
    *,
    replace: bool,
    claims: bool,
    whatif: Sequence[str],
    stacks: Sequence[str],
    jobs: int | None,
    connections_limit: int,
    as_json: bool,
    capture_filter: str | None,
) -> None:
    """Prints the study, each file as a trace of its own; figures are written into `out`."""
    from contextlib import ExitStack

    from rexmit.library.figures import figures, save_figures
    from rexmit.library.study import study
    from rexmit.papers.unc_2007.print_study import print_study
    from rexmit.present.terminal import console
    from rexmit.sources import find

    with ExitStack() as open_tables:
        found, missing = find(captures)
        each = [[capture] for capture in found]
        for line in missing:
            outputs.say(f"rexmit: {line}")
        made = study(
            traces(
                each,
                out,
                open_tables,
                replace=replace,
                whatif=whatif,
                stacks=stacks,
                jobs=jobs,
                connections_limit=connections_limit,
                capture_filter=capture_filter,
            )
        )
        paths: list[Path] = []
        if out is not None:
            paths = save_figures(figures(made), out / "figures", formats=formats)
        if as_json:
            from rexmit.papers.unc_2007.as_json import study_data

            print_json(study_data(made, paths))
            return
        shown = console()
        print_study(made.tables, shown)
        if claims:
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

"""`rexmit paper unc-2007`: what the paper prints of captures, beside what these show."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.as_json import print_blocks, print_json
from rexmit.cli.drawn import Formats, as_list, rule
from rexmit.cli.front import Argument, Option
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.limits import UnpackLimit
from rexmit.cli.trace_options import Analysing, Rule, refuse
from rexmit.options import typed
from rexmit.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = """\
Examples:

\b
  rexmit paper unc-2007 capture.pcapng today       tables and figures, of a capture and a trace
  rexmit paper unc-2007 capture.pcapng --out figures   the figures, and the tables of the trace
  rexmit paper unc-2007 --claims --stacks unc-2007 old.pcap   its claims, on its own four stacks
  rexmit paper unc-2007 --explained 'captures/*'   the share that stacks explain, and why not more
"""


@dataclass(frozen=True, kw_only=True)
class UncOptions(Analysing):
    """Captures and traces, and what is of the study alone."""

    captures: Annotated[
        list[str],
        Argument(
            metavar="FILE...",
            help="Captures, or folders of traces, each studied as a trace of its own. Also "
            "patterns of them, and addresses: s3://, gs://, az://, https://.",
            show_default=False,
        ),
    ]
    claims: Annotated[
        bool,
        Option("--claims", help="What the paper claims, each computed, after the tables."),
    ] = False
    explained: Annotated[
        bool,
        Option(
            "--explained",
            help="Only how many lossy connections the paper's four stacks explain, and all stacks, "
            "of all captures together, and why not the others.",
        ),
    ] = False
    formats: Formats = "pdf,png"
    html: Html = None
    unpack_limit: UnpackLimit = None

    def __post_init__(self) -> None:
        refuse(self._rules())

    def _rules(self) -> Iterator[Rule]:
        yield from Analysing._rules(self)
        yield rule(self.formats)
        others = (self.stacks, self.whatif, self.out, self.html, self.claims)
        yield (
            self.explained and any(others),
            "--explained chooses its stacks and says nothing else",
            "leave out --stacks, --whatif, --out, --html and --claims",
        )


@typed(UncOptions)
def unc_2007(options: UncOptions) -> None:
    """Tables I to V and figures 1 to 7 of UNC 2007 of captures, the paper's values beside the
    tables, each file as a trace of its own. The figures are written into --out.
    """
    if options.explained:
        _print_explained(options)
        return
    # All that is asked is checked before anything is read.
    analysis = options.analysis()

    import sys

    from rexmit.library.figures import save_figures
    from rexmit.library.trace import analysed
    from rexmit.progress import for_stream
    from rexmit.result.blocks import BLANK
    from rexmit.sources import find
    from rexmit_papers.library.figures import paper_figures
    from rexmit_papers.library.study import study
    from rexmit_papers.show_claims import claim_blocks
    from rexmit_papers.unc_2007.claims import SOURCE
    from rexmit_papers.unc_2007.show_study import study_blocks

    out = options.out
    with ExitStack() as kept:
        captures, missing = find(options.captures)
        for line in missing:
            outputs.say(f"rexmit: {line}")
        traces = []
        for number, capture in enumerate(captures):
            where = out
            if out is not None and len(captures) > 1:
                where = out / f"{number}-{capture.name.partition('.')[0]}"
            progress = for_stream(sys.stderr, "packets", transient=True)
            traces.append(analysed([capture], where, kept, analysis, progress=progress))
        studied = study(traces)
        paths: list[Path] = []
        if out is not None:
            paths = save_figures(
                paper_figures(studied), out / "figures", formats=as_list(options.formats)
            )
        write_page([studied], options.html, as_json=options.as_json)
        if options.as_json:
            from rexmit_papers.unc_2007.as_json import study_data

            print_json(study_data(studied, paths))
            return
        print_blocks(lambda _: study_blocks(studied.tables))
        if options.claims:
            print_blocks(lambda room: (BLANK, *claim_blocks(studied.claims, room, SOURCE)))
        for path in paths:
            outputs.line(path)
        if out is None:
            outputs.line("figures: --out DIR")
            return
        for why in studied.missing:
            outputs.line(f"not drawn: {why}")


def _print_explained(options: UncOptions) -> None:
    """Analyses all captures once for each set of stacks."""
    import sys
    from dataclasses import replace

    from rexmit.library.trace import analysed
    from rexmit.progress import for_stream
    from rexmit.sources import find
    from rexmit_papers.library.study import study
    from rexmit_papers.unc_2007.explained import SETS, explained, explained_blocks, explained_data

    captures, missing = find(options.captures)
    for line in missing:
        outputs.say(f"rexmit: {line}")
    sets = []
    for name, stacks in SETS.items():
        analysis = replace(options, explained=False, stacks=stacks, whatif=["none"]).analysis()
        with ExitStack() as kept:
            traces = []
            for capture in captures:
                progress = for_stream(sys.stderr, "packets", transient=True)
                traces.append(analysed([capture], None, kept, analysis, progress=progress))
            sets.append(explained(study(traces).study, name))
    if options.as_json:
        print_json(explained_data(sets))
        return
    print_blocks(lambda _: explained_blocks(sets))

"""`rexmit paper`: what papers print, beside what runs and captures show."""

from __future__ import annotations

from typing import Final

import typer

from rexmit_papers.cli import runs, unc_2007

EXAMPLES: Final = """\
Examples:

\b
  rexmit paper tlp-2013 runs/tlp-2013 --claims     Table 4 and claims of Ryll 2013, of a run
  rexmit paper mptcp-2017 runs/mptcp-2017 --out figures   those of Probe or Wait 2017
  rexmit paper unc-2007 capture.pcapng             those of UNC 2007, of a capture
"""

app = typer.Typer(
    help="What a paper prints, beside what runs and captures show.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command(
    "tlp-2013",
    short_help="Tables, figures and claims of Ryll 2013, of runs.",
    epilog=runs.EXAMPLES_2013,
)(runs.tlp_2013)
app.command(
    "mptcp-2017",
    short_help="Times, figures and claims of Probe or Wait 2017, of runs.",
    epilog=runs.EXAMPLES_2017,
)(runs.mptcp_2017)
app.command(
    "unc-2007",
    short_help="Tables, figures and claims of UNC 2007, of captures.",
    epilog=unc_2007.EXAMPLES,
)(unc_2007.unc_2007)

"""`rexmit paper`: what papers print, beside what runs and captures show."""

from __future__ import annotations

from typing import Final

from rexmit.cli.front import Group, Listed

EXAMPLES: Final = """\
Examples:

\b
  rexmit paper tlp-2013 runs/tlp-2013 --claims     Table 4 and claims of Ryll 2013, of a run
  rexmit paper mptcp-2017 runs/mptcp-2017 --out figures   those of Probe or Wait 2017
  rexmit paper unc-2007 capture.pcapng             those of UNC 2007, of a capture
"""

app = Group(
    {
        "tlp-2013": Listed(
            "rexmit_papers.cli.runs:tlp_2013",
            "Tables, figures and claims of Ryll 2013, of runs.",
            "EXAMPLES_2013",
        ),
        "mptcp-2017": Listed(
            "rexmit_papers.cli.runs:mptcp_2017",
            "Times, figures and claims of Probe or Wait 2017, of runs.",
            "EXAMPLES_2017",
        ),
        "unc-2007": Listed(
            "rexmit_papers.cli.unc_2007:unc_2007",
            "Tables, figures and claims of UNC 2007, of captures.",
        ),
    },
    help="What a paper prints, beside what runs and captures show.",
    epilog=EXAMPLES,
)

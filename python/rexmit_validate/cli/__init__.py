"""`rexmit validate`: rexmit judged, by real kernels and by captures whose causes are known."""

from __future__ import annotations

from rexmit.cli.front import Group, Listed

EXAMPLES = """\
Examples:

\b
  rexmit validate agree --kernel 6.1               the model against a kernel, by packets
  rexmit validate truth --seed 7 --out truth       captures with the cause of every retransmission
  rexmit validate synth --mix campus --out synth   captures of the model, with their truth
  rexmit validate score truth                      how often the analysis of captures is right
  rexmit validate troubles                         captures of one trouble each: whose was the time?
  rexmit validate whatif                           how far what-if predictions are off
  rexmit validate sensitivity tlp-2013-bench       what is unknown of a bench, and what it moves
"""


app = Group(
    {
        name: Listed(f"{__name__}.{name}:{name}", about)
        for name, about in {
            "agree": "Hold the model against a real kernel.",
            "truth": "Captures whose retransmissions the kernel labels.",
            "synth": "Make captures of the model with their truth.",
            "score": "Hold the analysis of captures against known retransmissions.",
            "troubles": "Whether traces say whose the time was.",
            "whatif": "Check what-if predictions.",
            "sensitivity": "What is unknown of a bench, and how far it moves Table 4.",
        }.items()
    },
    help="Judge rexmit itself: the model by real kernels, the analysis by known causes.",
    epilog=EXAMPLES,
)

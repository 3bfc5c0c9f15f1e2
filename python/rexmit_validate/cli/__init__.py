"""`rexmit validate`: rexmit judged, by real kernels and by captures whose causes are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import typer

from rexmit_validate.cli import agree, score, sensitivity, synth, troubles, truth, whatif

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


class _Command(NamedTuple):
    call: Callable[..., None]
    about: str
    examples: str


COMMANDS: Final = {
    "agree": _Command(agree.agree, "Hold the model against a real kernel.", agree.EXAMPLES),
    "truth": _Command(
        truth.truth, "Captures whose retransmissions the kernel labels.", truth.EXAMPLES
    ),
    "synth": _Command(synth.synth, "Make captures of the model with their truth.", synth.EXAMPLES),
    "score": _Command(
        score.score, "Hold the analysis of captures against known retransmissions.", score.EXAMPLES
    ),
    "troubles": _Command(
        troubles.troubles, "Whether traces say whose the time was.", troubles.EXAMPLES
    ),
    "whatif": _Command(whatif.whatif, "Check what-if predictions.", whatif.EXAMPLES),
    "sensitivity": _Command(
        sensitivity.sensitivity,
        "What is unknown of a bench, and how far it moves Table 4.",
        sensitivity.EXAMPLES,
    ),
}

app = typer.Typer(
    help="Judge rexmit itself: the model by real kernels, the analysis by known causes.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _name, _command in COMMANDS.items():
    app.command(_name, short_help=_command.about, epilog=_command.examples)(_command.call)

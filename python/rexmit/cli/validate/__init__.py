"""`rexmit validate`: rexmit judged, by real kernels and by captures whose causes are known.

Some of its commands had no `validate` before their names. They go on working so for one release:
hidden, and each says its new name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand

from rexmit import outputs
from rexmit.cli.validate import agree, score, sensitivity, synth, truth, whatif

EXAMPLES = """\
Examples:

\b
  rexmit validate agree --kernel 6.1               the model against a kernel, by packets
  rexmit validate truth --seed 7 --out truth       captures with the cause of every retransmission
  rexmit validate synth --mix campus --out synth   captures of the model, with their truth
  rexmit validate score truth                      how often the analysis of captures is right
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
    "whatif": _Command(whatif.whatif, "Check what-if predictions.", whatif.EXAMPLES),
    "sensitivity": _Command(
        sensitivity.sensitivity,
        "What is unknown of a bench, and how far it moves Table 4.",
        sensitivity.EXAMPLES,
    ),
}

OLD_NAMES: Final = ("agree", "truth", "synth", "score", "whatif", "sensitivity")
"""The commands that had no `validate` before their names once."""

app = typer.Typer(
    help="Judge rexmit itself: the model by real kernels, the analysis by known causes.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _name, _command in COMMANDS.items():
    app.command(_name, short_help=_command.about, epilog=_command.examples)(_command.call)


class _Renamed(TyperCommand):
    """A command by the name that it had before."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Click's
        """Says the new name, once, whatever comes of the words."""
        if not ctx.resilient_parsing:
            outputs.say(
                f"rexmit: `rexmit {self.name}` is now `rexmit validate {self.name}`; "
                "the next release does not know the old name"
            )
        return super().parse_args(ctx, args)


def add_old_names(root: typer.Typer) -> None:
    """The commands as they were called before, hidden."""
    for name in OLD_NAMES:
        command = COMMANDS[name]
        root.command(name, cls=_Renamed, hidden=True, epilog=command.examples)(command.call)

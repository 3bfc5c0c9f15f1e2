"""How often the first sentence names the right owner, on the terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit_validate.troubles.judge import MONITORS, Judged, Judgement


def print_judged(judgement: Judgement, console: Console) -> None:
    """A confusion matrix for each place, then each that is wrong with what it says."""
    for monitor in MONITORS:
        at = judgement.at(monitor)
        right = sum(one.right for one in at)
        share = f" ({100 * right / len(at):.1f} %)" if at else ""
        head = f"at the {monitor}: {right} of {len(at)} captures right{share}"
        say(console, Text(head, "bold cyan"))
        print_grid(_COLUMNS, _lines(at), console)
        console.print()
    for one in judgement.wrong:
        say(console, Text(f"{one.capture.name}: it was {' or '.join(one.truth)}", "bold"))
        say(console, f"  {one.said}")


_COLUMNS = (
    Column("it was", least=16),
    Column("captures", right=True),
    Column("right", right=True),
    Column("said instead", before=2),
)


def _lines(at: tuple[Judged, ...]) -> list[Line]:
    lines = []
    for truth in dict.fromkeys(one.truth[0] for one in at):
        mine = [one for one in at if one.truth[0] == truth]
        wrong = Counter(one.claimed for one in mine if not one.right)
        instead = ", ".join(f"{number} {claimed}" for claimed, number in wrong.most_common())
        right = len(mine) - wrong.total()
        lines.append(Line((truth, f"{len(mine)}", f"{right}", instead)))
    return lines

"""How often the first sentence names the right owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from rexmit.result.blocks import BLANK, Block, Column, Grid, Line, Paragraph, heading
from rexmit_validate.troubles.judge import MONITORS, Judged, Judgement


def judged_blocks(judgement: Judgement) -> Iterator[Block]:
    """A confusion matrix for each place, then each that is wrong with what it says."""
    for monitor in MONITORS:
        at = judgement.at(monitor)
        right = sum(one.right for one in at)
        share = f" ({100 * right / len(at):.1f} %)" if at else ""
        head = f"at the {monitor}: {right} of {len(at)} captures right{share}"
        yield Paragraph(head, "bold cyan")
        yield Grid(_COLUMNS, _lines(at))
        yield BLANK
    for one in judgement.wrong:
        yield heading(f"{one.capture.name}: it was {' or '.join(one.truth)}")
        yield Paragraph(f"  {one.sentence}")


def captures_data(judgement: Judgement) -> list[dict[str, Any]]:
    """For `--json`: each capture."""
    return [
        {
            "capture": one.capture.name,
            "trouble": one.trouble,
            "kind": one.kind,
            "monitor": one.monitor,
            "truth": list(one.truth),
            "claimed": one.claimed,
            "right": one.right,
            "said": one.sentence,
        }
        for one in judgement.captures
    ]


_COLUMNS = (
    Column("it was", least=16),
    Column("captures", right=True),
    Column("right", right=True),
    Column("said instead", before=2),
)


def _lines(at: tuple[Judged, ...]) -> tuple[Line, ...]:
    lines = []
    for truth in dict.fromkeys(one.truth[0] for one in at):
        mine = [one for one in at if one.truth[0] == truth]
        wrong = Counter(one.claimed for one in mine if not one.right)
        instead = ", ".join(f"{number} {claimed}" for claimed, number in wrong.most_common())
        right = len(mine) - wrong.total()
        lines.append(Line((truth, f"{len(mine)}", f"{right}", instead)))
    return tuple(lines)

"""One transfer of two runs, packet by packet: where the two senders part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rexmit import extras
from rexmit.analysis.choice import Cells
from rexmit.analysis.runner import runner, tick_ns
from rexmit.comparison.beside import window
from rexmit.comparison.compare import Comparison
from rexmit.comparison.gate import Gate, Judgement
from rexmit.comparison.packets import ASPECTS, Compared, compare_packets, find_pair
from rexmit.comparison.pairs import match
from rexmit.errors import UserError, argument
from rexmit.library.diff import Maps, RunOrFolder, chosen_by, opened
from rexmit.scenario.units import DURATION, UnitError
from rexmit.store.open_run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IGNORED = ("push",)
"""What does not count where nobody says."""


def diff_packets(
    a: RunOrFolder,
    b: RunOrFolder,
    transfer: str | int,
    *,
    cells: Cells | None = None,
    maps: Maps | None = None,
    tolerance: str | None = None,
    ignore: Iterable[str] = IGNORED,
) -> Compared:
    """Where the senders of a transfer of two runs with captures part.

    `transfer` is the number of a cell in A, or its words ("mobile tlp 5"), and "/REP" for a
    repetition; without one it is the first in which the senders part. Packets `tolerance` apart
    ("1ms"; None: a timer's tick) are alike. `ignore` says in what packets may differ: range, flags
    (without PSH), push, acknowledgement, mechanism, fate, time. `cells` and `maps` as for `diff`.

    The answer has `senders` and `clients`, each with the first packets that are not alike (None
    where all are), and both flows. Raises UserError for what cannot be compared.
    """
    without = _ignored(ignore)
    one, other = opened(a), opened(b)
    within = max(tick_ns(one.meta), tick_ns(other.meta)) if tolerance is None else _ns(tolerance)
    pair, repetition = find_pair(match(one, other, chosen_by(cells, maps)), str(transfer))
    try:
        return compare_packets(one, other, pair, repetition, within, without)
    except UserError as error:
        error.usage = True
        raise


def where_they_part(comparison: Comparison, gate: Gate | None = None) -> Compared | None:
    """Of the cell that is worst by `gate`, else of the first that differs, the transfer in which
    the senders part first; None where none differs, or a run has no captures.
    """
    worst = [one.label for one in gate.judged(Judgement.WORSE)] if gate else []
    cells = {cell.label: cell for cell in comparison.cells}
    chosen = next(
        (cells[label] for label in worst if label in cells), next(iter(comparison.differing), None)
    )
    if chosen is None:
        return None
    a, b = comparison.a, comparison.b
    within = max(tick_ns(a.meta), tick_ns(b.meta))
    try:
        return compare_packets(a, b, chosen.pair, None, within, frozenset(IGNORED))
    except UserError:
        return None


@extras.told()
def draw_packets(compared: Compared, a: Run, b: Run, *, every_packet: bool = False) -> Figure:
    """Both ladders beside each other around the place where the two part, times in ms."""
    from rexmit.ladder.draw import Panel, draw_ladders

    shown = window(compared, every_packet=every_packet)
    first = compared.first
    panels = [
        Panel(
            f"A: {runner(a.meta).words}",
            tuple(row.a for row in shown.rows if row.a is not None),
            first.a if first else None,
        ),
        Panel(
            f"B: {runner(b.meta).words}",
            tuple(row.b for row in shown.rows if row.b is not None),
            first.b if first else None,
        ),
    ]
    return draw_ladders(panels, f"{compared.label}, repetition {compared.repetition}")


def _ignored(names: Iterable[str]) -> frozenset[str]:
    chosen = frozenset(names)
    for name in sorted(chosen):
        if name not in ASPECTS:
            raise UserError(
                f"{argument('ignore')} {name}: packets do not differ in that",
                f"they do in {', '.join(ASPECTS)}; none ignores nothing",
                usage=True,
            )
    return chosen


def _ns(text: str) -> int:
    try:
        return DURATION.parse(text)
    except UnitError as error:
        raise UserError(
            f"{argument('tolerance')} {text}: {error}", error.allowed, usage=True
        ) from None

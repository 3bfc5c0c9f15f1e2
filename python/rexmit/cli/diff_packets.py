"""`rexmit diff --packets`: one transfer of two runs, packet by packet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rexmit.errors import UserError

if TYPE_CHECKING:
    from rexmit.comparison.packets import Compared
    from rexmit.comparison.pairs import Selection
    from rexmit.store.open_run import Run


def show_packets(
    a: Run,
    b: Run,
    chosen: Selection,
    asked: str,
    *,
    tolerance: str | None,
    ignored: str,
    figures: list[Path],
    every_packet: bool,
    as_json: bool,
) -> None:
    """Print, and draw if asked to, where the senders of a transfer part.

    Raises UserError (usage) for what cannot be compared.
    """
    from rexmit.comparison.packets import compare_packets, find_pair
    from rexmit.comparison.pairs import match
    from rexmit.comparison.print_packets import packets_data, print_packets
    from rexmit.present.terminal import console

    _check(figures)
    without = _ignored(ignored)
    within = _tolerance(tolerance, a, b)
    pair, repetition = find_pair(match(a, b, chosen), asked)
    try:
        compared = compare_packets(a, b, pair, repetition, within, without)
    except UserError as error:
        raise UserError(error.what, error.hint, usage=True) from None
    if as_json:
        import json

        data = packets_data(compared)
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print_packets(compared, a, b, console(), every_packet=every_packet)
    if figures:
        for path in _draw(compared, a, b, figures, every_packet=every_packet):
            typer.echo(path, err=as_json)


def _check(figures: list[Path]) -> None:
    from rexmit.ladder.draw import is_drawable

    for path in figures:
        if not is_drawable(path):
            raise UserError(
                f"--figure {path}: no such format",
                "its name ends in .pdf, .png or .svg",
                usage=True,
            )


def _ignored(text: str) -> frozenset[str]:
    from rexmit.comparison.packets import ASPECTS

    names = frozenset(part.strip() for part in text.split(",") if part.strip()) - {"none"}
    for name in names:
        if name not in ASPECTS:
            raise UserError(
                f"--ignore {name}: packets do not differ in that",
                f"they do in {', '.join(ASPECTS)}; none ignores nothing",
                usage=True,
            )
    return names


def _tolerance(text: str | None, a: Run, b: Run) -> int:
    from rexmit.analysis.runner import tick_ns
    from rexmit.scenario.units import DURATION, UnitError

    if text is None:
        return max(tick_ns(a.meta), tick_ns(b.meta))
    try:
        return DURATION.parse(text)
    except UnitError as error:
        raise UserError(f"--tolerance {text}: {error}", error.allowed, usage=True) from None


def _draw(
    compared: Compared, a: Run, b: Run, figures: list[Path], *, every_packet: bool
) -> list[Path]:
    from rexmit.analysis.runner import runner
    from rexmit.comparison.beside import window
    from rexmit.ladder.draw import Panel, write_ladders

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
    return write_ladders(panels, f"{compared.label}, repetition {compared.repetition}", figures)

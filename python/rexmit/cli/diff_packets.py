"""`rexmit diff --packets`: one transfer of two runs, packet by packet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.errors import UserError

if TYPE_CHECKING:
    from rexmit.store.open_run import Run


def show_packets(
    a: Run,
    b: Run,
    transfer: str,
    *,
    cells: list[str] | None,
    maps: list[str] | None,
    tolerance: str | None,
    ignored: str,
    figures: list[Path],
    every_packet: bool,
    as_json: bool,
) -> None:
    """Print, and draw if asked to, where the senders of a transfer part.

    Raises UserError (usage) for what cannot be compared.
    """
    from rexmit.comparison.print_packets import packets_data, print_packets
    from rexmit.library.diff_packets import diff_packets, draw_packets
    from rexmit.present.figures.save import save
    from rexmit.present.terminal import console

    _check(figures)
    ignore = {part.strip() for part in ignored.split(",") if part.strip()} - {"none"}
    compared = diff_packets(
        a, b, transfer, cells=cells, maps=maps, tolerance=tolerance, ignore=ignore
    )
    if as_json:
        print_json(packets_data(compared))
    else:
        print_packets(compared, a, b, console(), every_packet=every_packet)
    if figures:
        for path in save(draw_packets(compared, a, b, every_packet=every_packet), figures):
            outputs.line(path, err=as_json)


def _check(figures: list[Path]) -> None:
    from rexmit.present.figures.save import is_drawable

    for path in figures:
        if not is_drawable(path):
            raise UserError(
                f"--figure {path}: no such format",
                "its name ends in .pdf, .png or .svg",
                usage=True,
            )

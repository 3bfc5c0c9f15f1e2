"""How far predictions were off: a line a setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rexmit.result.blocks import BLANK, Block, Paragraph, heading


def error_blocks(rows: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Of the rows of a calibration, by base."""
    base = None
    for row in rows:
        if row["base"] != base:
            base = row["base"]
            yield from (BLANK, heading(base))
            yield Paragraph(
                f"  {'setting':<16}{'transfers':>10}{'predicted':>12}{'really':>12}"
                f"{'off: median':>14}{'p95':>8}{'sign wrong':>12}{'not predicted':>15}"
            )
        yield Paragraph(
            f"  {row['setting']:<16}{row['n']:>10}{row['predicted_s']:>+10.4f} s"
            f"{row['actual_s']:>+10.4f} s{row['median']:>13.1%}{row['p95']:>9.1%}"
            f"{row['wrong']:>11.1%}{row['not_predicted']:>15}"
        )
    yield BLANK
    yield Paragraph(
        "Transfers that the setting changes or was predicted to change; mean changes of their "
        "durations, and how far predictions were off, in parts of the duration. sign wrong: longer "
        "was predicted, and they got shorter, or the other way round. not predicted: transfers "
        "that the setting changes, too, but the cause of a retransmission is not known, to which "
        "it could not be applied; they are in none of the other numbers."
    )

"""Prints what is wrong with rows of captures: shares, reasons, and where to look in Wireshark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from tests.real.judge import Judged

from rexmit.present.grid import print_grid
from rexmit.result.blocks import Column, Line
from rexmit_validate.score.show_score import percent

Files = Sequence[tuple[Path, list[Judged]]]


def print_report(files: Files, console: Console, *, most: int) -> None:
    """All tables; of wrong rows `most`, the surest first."""
    rows = [one for _, judged in files for one in judged]
    if not rows:
        return
    _print_shares(rows, console)
    _print_reasons("impossible", _reasons(rows), console)
    _print_reasons("contradictory", Counter(why for one in rows for why in one.broken), console)
    _print_rows(files, console, most)


def _print_shares(rows: list[Judged], console: Console) -> None:
    columns = [Column("rows", least=24), Column("", right=True), Column("share", right=True)]
    lines = [
        Line((name, f"{count:,}", percent(count / len(rows))))
        for name, count in shares(rows).items()
    ]
    print_grid(columns, lines, console)
    console.print()


def shares(rows: Sequence[Judged]) -> dict[str, int]:
    """How many rows there are of each kind."""
    return {
        "all": len(rows),
        "named (coverage)": sum(one.named for one in rows),
        "impossible": sum(one.impossible is not None for one in rows),
        "impossible and sure": sum(one.sure for one in rows),
        "contradictory": sum(bool(one.broken) for one in rows),
    }


def _reasons(rows: list[Judged]) -> Counter[str]:
    return Counter(
        f"{one.row['mechanism']}: {one.impossible}" for one in rows if one.impossible is not None
    )


def _print_reasons(head: str, reasons: Counter[str], console: Console) -> None:
    if not reasons:
        return
    columns = [Column(head, least=40), Column("rows", right=True)]
    lines = [Line((reason, f"{count:,}")) for reason, count in reasons.most_common()]
    print_grid(columns, lines, console)
    console.print()


def _print_rows(files: Files, console: Console, most: int) -> None:
    """One row a line, with what would be typed into Wireshark's filter."""
    wrong = [(path, one) for path, judged in files for one in judged if one.wrong]
    wrong.sort(key=lambda found: -(found[1].row["confidence"] or 0.0))
    for path, one in wrong[:most]:
        said = f"{one.row['mechanism']} {one.row['confidence']:.2f}"
        why = "; ".join([*([one.impossible] if one.impossible else []), *one.broken])
        console.print(
            f"{path} frame.number=={one.frame} {one.row['flow']} {said}: {why}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    if len(wrong) > most:
        console.print(f"{len(wrong) - most:,} more", style="dim")

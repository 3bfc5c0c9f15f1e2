"""`python -m tests.real FOLDER`: the rows of captures in a folder against what is certain there.

Prints what the audit of captures made by others counts, every capture in which anything differs,
how often rows are certain by how sure they say that they are, and which sentences are not so.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from tests.real import report
from tests.real.hold import Held, kind_of
from tests.real.judge import Judged, judge
from tests.real.sentences import print_refuted
from tests.real.zeroed import zeroed

from rexmit.errors import UserError
from rexmit.present.grid import print_grid
from rexmit.result.blocks import Column, Line
from rexmit_validate.score.reliability import Reliability, of_pairs
from rexmit_validate.score.show_score import percent

NO_CAPTURES = (".tsv", ".md", ".txt", ".json")

HEADS = (
    "files with\nretransmissions",
    "certain",
    "rows",
    "on data never\nseen before",
    "certain\nmissed",
    "doubles\nwith rows",
    "may be\ndoubles",
    "probes, keep-\nalives, others",
)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.real", description=__doc__)
    parser.add_argument("folder", type=Path, help="captures, of any kind and depth")
    parser.add_argument("--worst", type=int, default=20, help="captures listed (default: 20)")
    parser.add_argument("--rows", type=int, default=50, help="wrong rows listed (default: 50)")
    parser.add_argument(
        "--zeroed", action="store_true", help="with all IPv4 identifications set to zero"
    )
    asked = parser.parse_args()
    if not asked.folder.is_dir():
        parser.error(f"{asked.folder}: no such folder")
    console = Console()
    made = list(_all(asked.folder, console, zero=asked.zeroed))
    whole = sum((held for _, held, _ in made), Held())
    columns = [Column("", least=9), *(Column(head, right=True, before=2) for head in HEADS)]
    worst = sorted(made, key=lambda one: -_differs(one[1]))
    listed = [(str(path), held) for path, held, _ in worst[: asked.worst] if _differs(held)]
    lines = [
        Line((name, *_counts(held))) for name, held in [(f"{len(made)} files", whole), *listed]
    ]
    print_grid(columns, lines, console)
    console.print()
    _print_certainty(certainty(whole), console)
    console.print()
    report.print_report([(path, judged) for path, _, judged in made], console, most=asked.rows)
    console.print()
    copy = zeroed if asked.zeroed else nullcontext
    print_refuted((copy(asked.folder / path) for path, *_ in made), console)


def certainty(held: Held) -> Reliability:
    """What rows say of their being retransmissions, and whether they are certain ones."""
    said = [(kind_of(one), row) for one, row in held.said]
    return of_pairs(
        (row["certainty"], kind == "certain") for kind, row in said if kind != "unclear"
    )


def _all(
    folder: Path, console: Console, *, zero: bool
) -> Iterator[tuple[Path, Held, list[Judged]]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in NO_CAPTURES:
            try:
                with zeroed(path) if zero else nullcontext(path) as capture:
                    held, judged = judge(capture)
            except UserError as error:
                console.print(f"left out: {error}", style="dim", soft_wrap=True)
            else:
                yield path.relative_to(folder), held, judged


def _differs(held: Held) -> int:
    return len(held.missed) + held.rows - held.by_kind["certain"] - held.by_kind["unclear"]


def _counts(held: Held) -> tuple[str, ...]:
    unclear = held.by_kind["unclear"]
    others = held.rows - held.by_kind["certain"] - unclear - held.on_new - held.doubles
    counts = (held.certain, held.rows, held.on_new, len(held.missed), held.doubles, unclear, others)
    return (f"{held.files:,}", *(f"{n:,}" for n in counts))


def _print_certainty(made: Reliability, console: Console) -> None:
    """Rows that are not certain may yet be right: of a loss before the monitor nothing is shown."""
    heads = ("rows", "certain", "share", "said")
    columns = [
        Column("certainty", least=14),
        *(Column(head, right=True, before=2) for head in heads),
    ]
    lines = [
        Line(
            (
                f"{one.low:g} to {one.high:g}",
                f"{one.rows:,}",
                f"{one.right:,}",
                percent(one.share),
                percent(one.mean),
            )
        )
        for one in made.bins
        if one.rows
    ]
    print_grid(columns, lines, console)


if __name__ == "__main__":
    main()

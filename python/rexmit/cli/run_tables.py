"""The tables of a run, printed or as JSON, below what the run was; what they count, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rexmit.cli.as_json import print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import Console

    from rexmit.store.open_run import Run


Inexact = Annotated[
    bool,
    typer.Option(
        "--inexact", help="Take in transfers that lost other segments than those asked for."
    ),
]


@dataclass(frozen=True, slots=True)
class RunTable:
    """What it is in JSON, by which name, and how it is printed."""

    name: str
    data: Callable[[], Any]
    show: Callable[[Console], None]


def show_run(run: Run, tables: Iterable[RunTable], *, as_json: bool) -> None:
    """All of them, and the command that repeats the run."""
    from rexmit.analysis.overview import overview_data
    from rexmit.library.tables import overview
    from rexmit.present.print_overview import print_command, print_overview
    from rexmit.present.terminal import console

    view = overview(run)
    parts = list(tables)
    if as_json:
        print_json({"run": overview_data(view), **{part.name: part.data() for part in parts}})
        return
    out = console()
    print_overview(view, out)
    for part in parts:
        out.print()
        part.show(out)
    print_command(view, out)

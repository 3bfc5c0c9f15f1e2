"""The tables of a run, printed or as JSON, below what the run was; what they count, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from rexmit.cli.as_json import print_result
from rexmit.cli.front import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rexmit.result.blocks import Block, Room
    from rexmit.store.open_run import Run


Inexact = Annotated[
    bool,
    Option("--inexact", help="Take in transfers that lost other segments than those asked for."),
]


@dataclass(frozen=True, slots=True)
class RunTable:
    """What it is in JSON, by which name, and what it says to a reader."""

    name: str
    data: Callable[[], Any]
    blocks: Callable[[Room], Iterable[Block]]


def show_run(run: Run, tables: Iterable[RunTable], *, as_json: bool) -> None:
    """All of them, and the command that repeats the run."""
    from rexmit.analysis.overview import overview_data
    from rexmit.library.tables import overview
    from rexmit.present.overview import command_blocks, overview_blocks
    from rexmit.result.blocks import BLANK

    view = overview(run)
    parts = list(tables)

    def blocks(room: Room) -> Iterator[Block]:
        yield from overview_blocks(view)
        for part in parts:
            yield from (BLANK, *part.blocks(room))
        yield from command_blocks(view)

    print_result(
        lambda: {"run": overview_data(view), **{part.name: part.data() for part in parts}},
        blocks,
        as_json=as_json,
    )

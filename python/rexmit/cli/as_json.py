"""`--json`: plain data on standard output, in place of what is said to a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rexmit import outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rexmit.result.blocks import Block, Room


def print_json(data: object) -> None:
    """One document, indented; no number in it may be infinite or none."""
    import json

    outputs.lines(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def print_blocks(blocks: Callable[[Room], Iterable[Block]]) -> None:
    """What is said to a reader, as it fits the terminal."""
    from rexmit.present.show import room, show
    from rexmit.present.terminal import console

    out = console()
    show(blocks(room(out)), out)


def print_result(
    data: Callable[[], object], blocks: Callable[[Room], Iterable[Block]], *, as_json: bool
) -> None:
    """A result in the one way or the other."""
    if as_json:
        print_json(data())
    else:
        print_blocks(blocks)

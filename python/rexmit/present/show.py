"""Blocks on a terminal of any width and encoding, and in a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.console import Console

from rexmit.present.grid import print_grid
from rexmit.present.terminal import is_unicode, say
from rexmit.present.text import Text
from rexmit.result.blocks import Block, Facts, Grid, Paragraph, Room

_LABEL: Final = 16
"""So wide are the labels of facts."""


def room(console: Console) -> Room:
    """What blocks have to fit there."""
    return Room(console.width, is_unicode(console.encoding), console.is_terminal)


def show(blocks: Iterable[Block], console: Console) -> None:
    """Write them, each below the one before."""
    for block in blocks:
        match block:
            case Paragraph(whole=True):
                console.print(Text(block.text, block.style), soft_wrap=True)
            case Paragraph(kind=""):
                say(console, block.text, block.style, block.indent)
            case Paragraph():
                say(console, Text.assemble((block.kind, "yellow"), block.text), "", block.indent)
            case Facts():
                for label, text in block.pairs:
                    say(console, f"{label:<{_LABEL}} {text}".rstrip())
            case Grid():
                print_grid(block.columns, block.lines, console)

"""Where a paper's figures go, and in which formats."""

from __future__ import annotations

from typing import Annotated

import typer

from rexmit.cli.trace_options import Rule, comma_words

Formats = Annotated[
    str, typer.Option("--format", metavar="LIST", help="Of the figures: pdf, png, svg; by commas.")
]


def as_list(formats: str) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(comma_words(formats.lower())))


def rule(formats: str) -> Rule:
    """What formats must not be."""
    return (
        set(as_list(formats)) - {"pdf", "png", "svg"},
        f"--format: {formats}",
        "of pdf, png, svg, by commas",
    )

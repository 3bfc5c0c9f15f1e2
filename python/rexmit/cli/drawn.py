"""In which formats figures are written."""

from __future__ import annotations

from typing import Annotated

from rexmit.cli.front import Option
from rexmit.cli.trace_options import Rule, comma_words
from rexmit.present.figures.formats import FORMATS

Formats = Annotated[
    str,
    Option("--format", metavar="LIST", help=f"Of the figures: {', '.join(FORMATS)}; by commas."),
]


def as_list(formats: str) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(comma_words(formats.lower())))


def rule(formats: str) -> Rule:
    """What formats must not be."""
    return (
        set(as_list(formats)) - set(FORMATS),
        f"--format: {formats}",
        f"of {', '.join(FORMATS)}, by commas",
    )

"""`--html` of the commands: the same as a page for the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.front import Option

if TYPE_CHECKING:
    from rexmit.library.report import About, Report

Html = Annotated[
    Path | None,
    Option(
        "--html",
        metavar="FILE",
        help="Write a page for the browser as well, as `rexmit report` does.",
        show_default=False,
    ),
]


def write(of: list[About], path: Path | None, *, as_json: bool) -> None:
    """The page, where one was asked for, and a line that says where it is: beside JSON on standard
    error.
    """
    if path is not None:
        from rexmit.library.report import report

        say(report(of, path), err=as_json)


def say(report: Report, *, err: bool = False) -> None:
    """Where the page is, how large, and what it is about."""
    from rexmit.tracing.words import size

    outputs.line(f"{report.path}: {size(report.size_bytes)}, {'; '.join(report.about)}", err=err)

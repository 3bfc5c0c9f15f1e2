"""The versions of what rexmit writes down, in one place: `rexmit --version` tells them."""

from __future__ import annotations

from typing import Final

from rexmit.version import commit, version

RUN: Final = 1
"""Of run.json and the tables beside it."""

TRACE: Final = 4
"""Of trace.json and the tables beside it."""


def line() -> str:
    """The version, the commit, and these."""
    written = f"run.json format {RUN}, trace.json format {TRACE}"
    return f"rexmit {version()} (commit {commit() or 'unknown'}; {written})"

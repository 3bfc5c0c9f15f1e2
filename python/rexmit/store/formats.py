"""The versions of what rexmit writes down, in one place: `rexmit --version` tells them."""

from __future__ import annotations

from typing import Final

RUN: Final = 1
"""Of run.json and the tables beside it."""

TRACE: Final = 4
"""Of trace.json and the tables beside it."""

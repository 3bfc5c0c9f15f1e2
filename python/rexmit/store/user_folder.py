"""Where the user's folder of rexmit is, for what can be made again.

Two lines of ours: platformdirs would take their place, and 16 ms of every start.
"""

from __future__ import annotations

import os
from pathlib import Path


def cache() -> Path:
    """`$XDG_CACHE_HOME/rexmit`, by default `~/.cache/rexmit` (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "rexmit"

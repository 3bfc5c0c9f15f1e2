"""Where the guest program is: it boots kernels, and confines what is built from foreign source."""

from __future__ import annotations

import os
from pathlib import Path

from rexmit.errors import UserError
from rexmit.version import mended_by


def guest_binary() -> Path:
    """The `rexmit-guest` program: `$REXMIT_GUEST`, else the one in the package.

    Raises UserError where there is none.
    """
    override = os.environ.get("REXMIT_GUEST")
    path = Path(override) if override else Path(__file__).parent / "bin" / "rexmit-guest"
    if not os.access(path, os.X_OK) or not path.is_file():
        hint = "REXMIT_GUEST names it" if override else mended_by()
        raise UserError(f"there is no guest program at {path}", hint)
    return path.absolute()

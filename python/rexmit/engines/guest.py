"""The programs of this machine that are used inside a guest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from typing import Final

from rexmit.errors import UserError

PACKAGES: Final = {
    "nginx": "nginx-light",
    "tc": "iproute2",
    "curl": "curl",
    "lynx": "lynx",
    "openssl": "openssl",
}
"""Programs that a plan names, and the Debian package of each."""


def programs(required: Iterable[str]) -> dict[str, str | None]:
    """The path of every program that a plan names, null where it is not installed.

    System folders count even where PATH leaves them out. Raises UserError if one of `required` is
    missing.
    """
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/bin", "/bin"])
    paths = {name: shutil.which(name, path=path) for name in PACKAGES}
    missing = [name for name in dict.fromkeys(required) if paths[name] is None]
    if missing:
        packages = " ".join(sorted({PACKAGES[name] for name in missing}))
        raise UserError(
            f"not installed: {', '.join(missing)}", f"install them: apt-get install {packages}"
        )
    return paths

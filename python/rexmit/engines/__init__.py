"""Engines: what runs a scenario's transfers.

Today there is one, `kernel`: a real Linux kernel in virtual time.
"""

from rexmit.engines.boot import (
    BootOptions,
    GuestBoot,
    GuestDiedError,
    GuestHungError,
    Usage,
    watch,
)
from rexmit.engines.guest import programs

__all__ = [
    "BootOptions",
    "GuestBoot",
    "GuestDiedError",
    "GuestHungError",
    "Usage",
    "programs",
    "watch",
]

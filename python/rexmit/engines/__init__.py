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
from rexmit.engines.guest import guest_binary, programs

__all__ = [
    "BootOptions",
    "GuestBoot",
    "GuestDiedError",
    "GuestHungError",
    "Usage",
    "guest_binary",
    "programs",
    "watch",
]

"""The `kernel` engine: a real Linux kernel in virtual time, one a core."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from rexmit.engines.boot import BootOptions, GuestBoot
from rexmit.engines.guest import NETWORK_PROGRAMS, guest_binary, programs

NAME: Final = "kernel"


@dataclass(frozen=True, slots=True)
class KernelIdentity:
    """Which kernel: its name among those that are built, its file, release, timer frequency,
    patches, and the hash of what made it."""

    name: str
    path: Path
    version: str
    hz: int
    patches: tuple[str, ...]
    hash: str

    def plain(self) -> dict[str, Any]:
        """For run.json; where it lies is this machine's own affair."""
        return {
            "version": self.version,
            "hz": self.hz,
            "patches": list(self.patches),
            "hash": self.hash,
        }


def find_kernel(spec: str | None) -> KernelIdentity:
    """The built kernel that a user's `--kernel` means. Raises UserError where there is none."""
    from rexmit import kernels

    found = kernels.find(spec)
    return KernelIdentity(
        name=found.name,
        path=found.path,
        version=found.version,
        hz=found.hz,
        patches=found.patches,
        hash=found.hash,
    )


@dataclass(frozen=True, slots=True)
class KernelEngine:
    """What every boot of a campaign has in common."""

    kernel: KernelIdentity
    guest: Path
    guest_hash: str
    programs: dict[str, str | None]

    @classmethod
    def open(cls, kernel: KernelIdentity, clients: Iterable[str]) -> Self:
        """The engine for this kernel and these clients. Raises UserError for what is missing."""
        guest = guest_binary()
        used = [client for client in clients if client != "builtin"]
        return cls(
            kernel=kernel,
            guest=guest,
            guest_hash=hashlib.sha256(guest.read_bytes()).hexdigest()[:16],
            programs=programs(["nginx", *NETWORK_PROGRAMS, *used]),
        )

    def boot(self, plan: Mapping[str, Any], *, core: int | None, seed: int) -> GuestBoot:
        """A kernel that runs the plan."""
        options = BootOptions(kernel=self.kernel.path, core=core, seed=seed)
        return GuestBoot(options, plan, guest=self.guest)

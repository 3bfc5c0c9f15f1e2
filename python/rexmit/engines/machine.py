"""The emulated machine that a kernel image runs in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs an image, and what from."""

    qemu: Path
    initrd: Path
    state: Path | None
    """Where the machine goes on from; None: it boots, and leaves its state in the shared folder."""

    def arguments(self) -> list[str]:
        """The guest program's, besides those of every boot."""
        words = ["--qemu", str(self.qemu), "--initrd", str(self.initrd)]
        return words if self.state is None else [*words, "--state", str(self.state)]

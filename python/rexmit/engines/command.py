"""One command of the host, run inside a booted kernel."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexmit.engines.boot import BootOptions, GuestBoot, GuestDiedError, watch
from rexmit.engines.guest import NETWORK_PROGRAMS, programs
from rexmit.errors import UserError

VERSION: Final = 1
HEARTBEAT_S: Final = {"virtual": 5.0, "polling": 0.05}
"""Virtual seconds between signs of life, by the kind of clock. A program that polls the clock makes
it crawl, a few hundredths of real time."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and where it runs: on which host of which network, if there is one."""

    argv: Sequence[str]
    network: Mapping[str, Any] | None = None
    host: str | None = None

    def plan(self, clock: str) -> dict[str, Any]:
        """The plan of a boot that runs the command here and now: its folder, its environment."""
        return {
            "version": VERSION,
            "heartbeat_s": HEARTBEAT_S[clock],
            "programs": programs(NETWORK_PROGRAMS if self.network else ()),
            "exec": {
                "argv": list(self.argv),
                "cwd": str(Path.cwd()),
                "env": dict(os.environ),
                "network": self.network,
                "host": self.host,
            },
        }


def execute(
    command: Command,
    options: BootOptions,
    *,
    on_stdout: Callable[[bytes], None],
    on_stderr: Callable[[bytes], None],
    hang_limit_s: float | None,
    keep: Path | None = None,
) -> int:
    """Run it and give back its exit status. Raises UserError where the guest does not live to tell.

    `keep` gets what the command left in its scratch folder, whatever its exit status is.
    """
    if keep is not None and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise UserError(f"{keep} is there already and not empty", "name a new folder", usage=True)
    with GuestBoot(options, command.plan(options.clock)) as boot:
        try:
            event = watch(
                boot,
                outputs={"stdout": on_stdout, "stderr": on_stderr},
                hang_limit_s=hang_limit_s,
            )
        except GuestDiedError as error:
            lines = "\n".join(error.console_tail)
            raise UserError(str(error), f"the kernel's last lines:\n{lines}") from None
        finally:
            if keep is not None:
                _keep(boot.share / "scratch", keep)
    return int(event["status"])


def _keep(scratch: Path, keep: Path) -> None:
    """Move the scratch folder to where the user wants it; it appears there whole or not at all."""
    partial = keep.with_name(f".{keep.name}.partial-{os.getpid()}")
    keep.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(scratch, partial, symlinks=True)
    if keep.exists():
        keep.rmdir()
    partial.rename(keep)

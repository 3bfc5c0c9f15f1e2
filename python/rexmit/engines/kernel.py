"""The `kernel` engine: a real Linux kernel in virtual time, one a core."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from rexmit.engines import scheduler
from rexmit.engines.attempt import Attempt, Health
from rexmit.engines.boot import MEMORY, BootOptions, GuestBoot
from rexmit.engines.engine import PLAN_VERSION, Calls, Lack, Task
from rexmit.engines.guest import programs
from rexmit.engines.image import client_files, machine
from rexmit.engines.machine import Machine
from rexmit.errors import argument, choice
from rexmit.guest import guest_binary
from rexmit.kernels import config as kernel_config
from rexmit.kernels import recipe
from rexmit.kernels.kernel import QEMU, Kernel

NAME: Final = "kernel"

HANG_LIMIT_S: Final = 60.0
"""Real seconds of silence after which a kernel counts as hung, where nothing else is said."""

HEARTBEAT_S: Final = 5
"""Virtual seconds between two signs of life."""


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
    config: Path | None = None
    """What it was configured with, where that is known."""
    image: Kernel | None = None
    """The image that it is, if it is no program."""

    def machine(self, memory: str = MEMORY) -> Machine | None:
        """What emulates its machine; None for a program. An image is booted once, if it has not
        been. Raises UserError where that fails."""
        return machine(self.image, memory) if self.image else None

    @property
    def remedy(self) -> str:
        """What to do where it lacks something that is needed."""
        if self.image:
            return (
                "if these are modules: rexmit kernel add IMAGE --modules /lib/modules/"
                f"{self.version}; or name another kernel (rexmit kernel list)"
            )
        return "build one with these options, or name another (rexmit kernel list)"

    def plain(self) -> dict[str, Any]:
        """For run.json; where it lies is this machine's own affair."""
        return {
            **({"engine": QEMU} if self.image else {}),
            "version": self.version,
            "hz": self.hz,
            "patches": list(self.patches),
            "hash": self.hash,
        }


def find_kernel(spec: str | None) -> KernelIdentity:
    """The built kernel that a user's `--kernel` means. Raises UserError where there is none."""
    from rexmit import kernels

    kernel = kernels.find(spec)
    return KernelIdentity(
        name=kernel.name,
        path=kernel.path,
        version=kernel.version,
        hz=kernel.hz,
        patches=kernel.patches,
        hash=kernel.hash,
        config=kernel.config,
        image=kernel if kernel.engine == QEMU else None,
    )


def boot_plan(cell: Mapping[str, Any], programs: Mapping[str, str | None]) -> dict[str, Any]:
    """The plan of the boot that runs a cell, and no other: what a kernel has done before is part of
    what it does next."""
    return {
        "version": PLAN_VERSION,
        "heartbeat_s": HEARTBEAT_S,
        "programs": dict(programs),
        "cells": [cell],
    }


@dataclass(frozen=True, slots=True)
class KernelEngine:
    """What every boot of a campaign has in common."""

    kernel: KernelIdentity
    guest: Path
    guest_hash: str
    programs: dict[str, str | None]
    hang_limit_s: float = HANG_LIMIT_S
    files: bytes = b""
    """What an image's guest gets of this machine's files, besides what all of them get."""

    @classmethod
    def open(
        cls, kernel: KernelIdentity, used: Iterable[str], hang_limit_s: float = HANG_LIMIT_S
    ) -> Self:
        """The engine for this kernel, and these programs of this machine. Raises UserError for what
        is missing."""
        guest = guest_binary()
        used = list(used)
        paths = programs(["nginx", *used])
        kernel.machine()
        return cls(
            kernel=kernel,
            guest=guest,
            guest_hash=hashlib.sha256(guest.read_bytes()).hexdigest()[:16],
            programs=paths,
            hang_limit_s=hang_limit_s,
            files=client_files(paths[name] or "" for name in used) if kernel.image else b"",
        )

    @property
    def name(self) -> str:
        """See Engine."""
        return NAME

    @property
    def slug(self) -> str:
        """See Engine."""
        return "+".join((self.kernel.version, *self.kernel.patches))

    @property
    def words(self) -> list[str]:
        """See Engine."""
        return ["--kernel", self.kernel.name]

    def identity(self) -> dict[str, Any]:
        """See Engine."""
        return {"kernel": self.kernel.plain(), "guest": {"hash": self.guest_hash}}

    def hz(self, config: str) -> int:  # noqa: ARG002 - a kernel has one frequency
        """See Engine."""
        return self.kernel.hz

    def without_patch(self, name: str) -> Lack | None:
        """See Engine."""
        if name in self.kernel.patches:
            return None
        if self.kernel.image:
            return Lack(
                f"{self.slug} is an image, which nothing patches",
                f"name a kernel that was built with it, or {argument('engine', 'model')}",
            )
        series = ".".join(self.kernel.version.split(".")[:2])
        build = f"rexmit kernel build {series} --patch"
        patched, model = argument("kernel", f"{series}+{name}"), argument("engine", "model")
        remedy = f"{build} {name}, then {patched}; or {model}"
        if name not in recipe.optional_patches(series):
            remedy = f"{recipe.optional_hint(name, series)}; one of your own: {build} FILE"
        return Lack(f"{self.slug} does not have it", remedy)

    def without_mptcp(self, config: str = "") -> Lack | None:  # noqa: ARG002 - a kernel is one
        """See Engine."""
        file = self.kernel.config
        if file is None or not file.is_file() or kernel_config.is_set(file, "MPTCP"):
            return None
        return Lack(
            f"the kernel {self.kernel.name} was built without it",
            f"CONFIG_MPTCP is not set in {file}; "
            f"name a kernel that has it with {argument('kernel')} (rexmit kernel list, "
            "rexmit kernel build)",
        )

    def without_control(self, config: str, name: str) -> Lack | None:  # noqa: ARG002 - as above
        """See Engine."""
        file = self.kernel.config
        has = kernel_config.congestion_controls(file) if file and file.is_file() else None
        if has is None or name in has:
            return None
        return Lack(
            f"the kernel {self.kernel.name} was built without {name}",
            choice(name, has, "it has"),
        )

    def run(self, tasks: Iterable[Task], calls: Calls, *, jobs: int) -> None:
        """See Engine. Each cell has a kernel of its own, pinned to a core."""
        health = Health()

        def begin(task: Task, core: int) -> Attempt:
            return Attempt(
                task,
                self._boot(task, core),
                hang_limit_s=self.hang_limit_s,
                on_transfers=calls.on_transfers,
                health=health,
            )

        scheduler.run(tasks, begin, calls, jobs=jobs)

    def _boot(self, task: Task, core: int) -> GuestBoot:
        plan = boot_plan(self.cell(task), self.programs)
        return GuestBoot(self.options(core, task.seed), plan, guest=self.guest)

    def options(self, core: int | None, seed: int) -> BootOptions:
        """How the guest program is started for a cell, or to ask the kernel."""
        return BootOptions(
            kernel=self.kernel.path,
            core=core,
            seed=seed,
            machine=self.kernel.machine(),
            files=self.files,
        )

    def cell(self, task: Task) -> Mapping[str, Any]:
        """A cell as the guest program reads it."""
        return task.plan

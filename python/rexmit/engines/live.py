"""The `live` engine: this machine's own kernel, in real time, with links that are a program."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from rexmit.engines.boot import BootOptions
from rexmit.engines.engine import Lack, Task
from rexmit.engines.guest import programs
from rexmit.engines.has import has
from rexmit.engines.kernel import KernelEngine, KernelIdentity
from rexmit.errors import argument
from rexmit.guest import guest_binary
from rexmit.scenario import Scenario
from rexmit.scenario.problem import Locate, Problem, nowhere, report

NAME: Final = "live"

_MONOTONIC_COARSE: Final = 6
"""CLOCK_MONOTONIC_COARSE, which moves on at each timer tick."""

_COMMON: Final = ("reno", "cubic", "bbr", "dctcp")
"""Congestion controls to name where another cannot be chosen."""

_KERNEL: Final = f"run it with {argument('engine', 'kernel')}, or take it out"


@dataclass(frozen=True, slots=True)
class LiveOptions(BootOptions):
    """How the guest program is started that boots nothing."""

    def arguments(self, share: Path) -> list[str]:
        """See BootOptions."""
        words = ["live", "--share", str(share)]
        return words if self.core is None else [*words, "--core", str(self.core)]


@dataclass(frozen=True, slots=True)
class LiveEngine(KernelEngine):
    """The kernel engine without a kernel to boot."""

    controls: frozenset[str] = frozenset()
    """Congestion controls that hosts can choose."""

    @classmethod
    def on_this_machine(cls, scenario: Scenario, where: Locate = nowhere) -> Self:
        """The engine for a scenario. Raises UserError for what this machine cannot do of it, before
        anything runs."""
        guest = guest_binary()
        engine = cls(
            kernel=_kernel(),
            guest=guest,
            guest_hash=hashlib.sha256(guest.read_bytes()).hexdigest()[:16],
            programs=programs(["nginx", *scenario.programs]),
        )
        sysctls = {
            name: ("configs", config, "sysctl", name)
            for config in scenario.config_names
            for name in scenario.configs[config].sysctl
        }
        varied = [control for vary in scenario.vary for control in vary.congestion_control or ()]
        there = has(engine, sysctls, {*scenario.tcp.congestion_control, *varied, *_COMMON})
        what = f"no setting of a network namespace here (Linux {engine.kernel.version})"
        # Of an interface's own settings only the interface tells, once it is there.
        problems = [
            Problem(path, what, _KERNEL)
            for name, path in sysctls.items()
            if name not in there.sysctls and ".conf." not in name and ".neigh." not in name
        ]
        if problems:
            raise report(where, problems)
        return replace(engine, controls=frozenset(there.congestion_controls))

    @property
    def name(self) -> str:
        """See Engine."""
        return NAME

    @property
    def slug(self) -> str:
        """See Engine."""
        return f"{NAME}-{self.kernel.version}"

    @property
    def words(self) -> list[str]:
        """See Engine."""
        return ["--engine", NAME]

    def without_patch(self, name: str) -> Lack | None:  # noqa: ARG002 - none is known of it
        """See Engine."""
        kernel = argument("engine", "kernel")
        return Lack("nobody patches the kernel that this machine runs", f"run it with {kernel}")

    def without_mptcp(self, config: str = "") -> Lack | None:  # noqa: ARG002 - as above
        """See Engine."""
        kernel = argument("engine", "kernel")
        return Lack("live links carry pages over TCP alone", f"run it with {kernel}")

    def without_control(self, config: str, name: str) -> Lack | None:  # noqa: ARG002 - of all
        """See Engine."""
        if name in self.controls:
            return None
        may = ", ".join(sorted(self.controls))
        return Lack(
            f"{name}: hosts cannot choose it here",
            f"they can: {may}; who may choose what is net.ipv4.tcp_allowed_congestion_control",
        )

    def options(self, core: int | None, seed: int) -> BootOptions:
        """See KernelEngine."""
        return LiveOptions(kernel=self.kernel.path, core=core, seed=seed)

    def cell(self, task: Task) -> dict[str, Any]:
        """See KernelEngine. What links do by chance follows from the seed."""
        return {**task.plan, "seed": task.seed}


def _kernel() -> KernelIdentity:
    running = os.uname()
    return KernelIdentity(
        name=running.release,
        path=Path("/proc/version"),
        version=running.release,
        hz=round(1 / time.clock_getres(_MONOTONIC_COARSE)),
        patches=(),
        hash=hashlib.sha256(f"{running.release} {running.version}".encode()).hexdigest()[:16],
    )

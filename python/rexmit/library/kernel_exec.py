"""Any command of this machine, inside a booted kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

from rexmit import scenario
from rexmit.campaign.plan import network_plan
from rexmit.engines.boot import BootOptions, GuestDiedError
from rexmit.engines.command import SHARE_MIB, Command, execute, named_variables
from rexmit.engines.engine import cores
from rexmit.engines.image import command_files
from rexmit.engines.kernel import find_kernel
from rexmit.errors import UserError, argument
from rexmit.library.scenario import Settings, texts
from rexmit.options import given, takes

HANG_LIMIT_S: Final = 60.0
"""Real seconds in which a guest has to write something or its clock to move."""

Variables = Mapping[str, str] | Iterable[str]
"""`{"NAME": "VALUE"}`, or texts: `NAME=VALUE`, or `NAME` for the value that it has here."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ran: its exit status (127: it could not be run) and what it wrote. What was
    handed to a function as it came is not kept.
    """

    status: int
    stdout: bytes
    stderr: bytes
    splat: tuple[str, ...] = ()
    """What the kernel said of a defect of its own, in lines."""


class Keywords(TypedDict, total=False):
    """Those of `Inside` as keywords."""

    kernel: str | None
    net: str | PathLike[str] | None
    settings: Settings
    host: str | None
    scratch_limit: int
    env: Variables
    seed: int
    memory: int
    hang_limit_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The kernel in which a command runs, and what is there. Raises UserError (usage) for what does
    not go together.
    """

    kernel: str | None = None
    net: str | PathLike[str] | None = None
    settings: Settings = ()
    host: str | None = None
    scratch_limit: int = 1024
    env: Variables = ()
    seed: int = 1
    memory: int = 256
    hang_limit_s: float | None = HANG_LIMIT_S

    def __post_init__(self) -> None:
        if texts(self.settings) and self.net is None:
            raise UserError(
                f"{argument('settings')} needs {argument('net')}, whose scenario it changes",
                f"name one: {argument('net')} SCENARIO",
                usage=True,
            )
        if self.host not in (None, "h1", "h2"):
            raise UserError(f"there is no host {self.host}", "hosts: h1, h2", usage=True)
        if self.host is not None and self.net is None:
            raise UserError(
                f"{argument('host')} needs {argument('net')}",
                f"name a scenario: {argument('net')} SCENARIO",
                usage=True,
            )


@takes(Inside, Keywords)
def kernel_exec(
    argv: Sequence[str],
    inside: Inside | None = None,
    *,
    keep: str | PathLike[str] | None = None,
    on_stdout: Callable[[bytes], None] | None = None,
    on_stderr: Callable[[bytes], None] | None = None,
    **keywords: Unpack[Keywords],
) -> Ended:
    """Runs a command of this machine inside a booted kernel.

    It sees this machine's files and can write none of them. What it leaves in $REXMIT_SCRATCH, of
    `scratch_limit` MiB at most, is brought back into the new folder `keep`. With `net` it runs on
    `host` (h1 or h2) of that scenario's network, of which `settings` must leave one. `env` adds
    variables to the few that every command gets. `memory` is the kernel's, in MiB. A guest that is
    silent for `hang_limit_s` real seconds while its clock stands still is ended; None: never.
    `on_stdout` and `on_stderr` take bytes as they come.

    Raises UserError where there is no such kernel, or the guest dies.
    """
    inside = given(inside, Inside, keywords)
    # Calls at a time share the cores: neighbours in the process table take different ones.
    usable = cores()
    core = usable[os.getpid() % len(usable)]
    kept = None if keep is None else Path(keep)
    return run_inside(argv, inside, core=core, keep=kept, on_stdout=on_stdout, on_stderr=on_stderr)


def run_inside(
    argv: Sequence[str],
    inside: Inside,
    *,
    core: int,
    keep: Path | None = None,
    on_stdout: Callable[[bytes], None] | None = None,
    on_stderr: Callable[[bytes], None] | None = None,
) -> Ended:
    """As `kernel_exec`, on this core of the machine."""
    network = None if inside.net is None else _network(str(inside.net), texts(inside.settings))
    env, memory = inside.env, f"{inside.memory}M"
    variables = env if isinstance(env, Mapping) else named_variables(list(env))
    kernel = find_kernel(inside.kernel)

    out: list[bytes] = []
    err: list[bytes] = []
    try:
        done = execute(
            Command(argv, network, (inside.host or "h1") if network else None, variables),
            BootOptions(
                kernel.path,
                core,
                inside.seed,
                memory,
                share_mib=SHARE_MIB,
                scratch_mib=inside.scratch_limit,
                machine=kernel.machine(memory),
                files=command_files(argv) if kernel.image else b"",
            ),
            on_stdout=on_stdout or out.append,
            on_stderr=on_stderr or err.append,
            hang_limit_s=inside.hang_limit_s,
            keep=keep,
        )
    except GuestDiedError as error:
        raise died(error) from None
    return Ended(done.status, b"".join(out), b"".join(err), done.splat)


def died(error: GuestDiedError) -> UserError:
    """What to say of a guest that did not live to tell."""
    lines = error.splat or error.console_tail
    return UserError(str(error), ["the kernel's last lines:", *lines], splat=error.splat)


def _network(spec: str, settings: list[str]) -> dict[str, Any]:
    """The plan of the one network that the scenario and its changes leave."""
    loaded = scenario.load(scenario.find(spec), settings)
    names = list(loaded.network_names)
    if len(names) != 1:
        raise UserError(
            f"{spec} has several networks: {', '.join(names)}",
            f"choose one: {argument('settings')} network={names[0]}",
            usage=True,
        )
    at = ("networks", names[0])
    network = loaded.networks[names[0]]
    refused = [(path, it.why) for path, it in scenario.refused(network, at, "kernel")]
    if any(way.does("outages") for link in network.link_specs(0.0) for way in link.ways):
        refused.append((at, "outages count from the start of a transfer, and a command is none"))
    for path, why in refused:
        raise UserError(f"{spec}: {'.'.join(map(str, path))}: {why}", "take it out")
    return network_plan(loaded, names[0])

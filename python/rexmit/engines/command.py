"""One command of the host, run inside a booted kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexmit.engines.boot import BootOptions, Event, GuestBoot, GuestDiedError, watch
from rexmit.errors import UserError, argument
from rexmit.store.files import is_taken
from rexmit.store.opening import named_folder
from rexmit.store.untrusted import Budget, UntrustedError, copy_tree

VERSION: Final = 1
SHARE_MIB: Final = 256
"""The most that the shared folder holds beside the scratch folder. Output waits there to be read,
some MiB of it."""

HEARTBEAT_S: Final = 5.0
"""Virtual seconds between signs of life."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and where it runs: on which host of which network, if there is one."""

    argv: Sequence[str]
    network: Mapping[str, Any] | None = None
    host: str | None = None
    env: Mapping[str, str] | None = None
    """Variables besides those that every command gets."""
    folder: Path | None = None
    """Where it runs; None: where this process does."""
    alone: bool = False
    """Whether it has a network namespace of its own."""
    causes: int = 0
    """How many records of why TCP retransmits there is room for; 0: none are kept."""

    def plan(self) -> dict[str, Any]:
        """The plan of a boot that runs the command here and now: its folder, its environment."""
        return {
            "version": VERSION,
            "heartbeat_s": HEARTBEAT_S,
            "exec": {
                "argv": list(self.argv),
                "cwd": str(self.folder or _here()),
                "env": {**_environment(), **(self.env or {})},
                "network": self.network,
                "host": self.host,
                "alone": self.alone,
                "causes": self.causes,
            },
        }


def _here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        raise UserError("the working folder has been removed", "change to another") from None


PASSED_ON: Final = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "LANGUAGE", "TZ"),
        *("TERM", "COLUMNS", "LINES", "NO_COLOR", "EDITOR", "PAGER", "SOURCE_DATE_EPOCH"),
        *("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHASHSEED", "LD_LIBRARY_PATH"),
    }
)
"""Variables that a command gets from its caller, and all LC_*. What else a caller has may be a
token or a password, which no guest is told without being asked to."""


def _environment() -> dict[str, str]:
    """What of this process's is passed on, without what is no text: a plan is UTF-8."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name in PASSED_ON or name.startswith("LC_")) and _is_text(value)
    }


def named_variables(settings: Sequence[str]) -> dict[str, str]:
    """The variables of `NAME=VALUE`, and of `NAME` with the value that it has here.

    Raises UserError for what names none.
    """
    environment = {}
    for setting in settings:
        name, given, value = setting.partition("=")
        if not name or "\0" in setting:
            raise UserError(
                f"{argument('env')} {setting}: no name", "write NAME=VALUE or NAME", usage=True
            )
        if not given:
            if name not in os.environ:
                raise UserError(
                    f"{argument('env')} {name}: there is no such variable here",
                    f"give it a value: {argument('env')} {name}=VALUE",
                    usage=True,
                )
            value = os.environ[name]
        if not _is_text(name + value):
            raise UserError(f"{argument('env')} {name}: its value is no text (UTF-8)", usage=True)
        environment[name] = value
    return environment


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Done:
    """A command that a kernel ran to its end."""

    status: int
    splat: tuple[str, ...]
    """What the kernel said of a defect of its own, in lines."""
    causes: str
    """The kernel's record of why it retransmitted, a line a segment."""
    virtual_s: float
    """How long the kernel ran by its own clock."""
    cpu_s: float


def execute(
    command: Command,
    options: BootOptions,
    *,
    on_stdout: Callable[[bytes], None],
    on_stderr: Callable[[bytes], None],
    hang_limit_s: float | None,
    keep: Path | None = None,
    end: Callable[[], bool] | None = None,
) -> Done:
    """Run it. Raises GuestDiedError where the guest does not live to tell, and NoLongerWantedError
    soon after `end` says true.

    `keep` gets what the command left in its scratch folder, whatever its exit status is: all of it,
    or nothing and a UserError.
    """
    causes: list[str] = []

    def on_event(event: Event) -> None:
        # One record, when the command has ended.
        if event["type"] == "causes" and not causes:
            causes.append(str(event.get("text", "")))

    if keep is not None:
        keep = _place(keep)
    with GuestBoot(options, command.plan()) as boot:
        try:
            event = watch(
                boot,
                on_event=on_event,
                outputs={"stdout": on_stdout, "stderr": on_stderr},
                hang_limit_s=hang_limit_s,
                end=end,
            )
        finally:
            if keep is not None:
                boot.kill()
                _keep(boot, keep)
        if (full := boot.channel.full("scratch")) is not None:
            more = f"{argument('scratch_limit')} gives more"
            on_stderr(f"rexmit: the scratch folder is full ({full}; {more})\n".encode())
        for line in boot.console_lines("Out of memory:"):
            more = f"{argument('memory')} gives the kernel more"
            on_stderr(f"rexmit: {line.strip()} ({more})\n".encode())
        cpu_s = boot.usage.cpu_s if boot.usage else 0.0
        status = event.get("status")
        if not isinstance(status, int) or not 0 <= status < 256:
            raise GuestDiedError("the command ended without a status", boot.console_tail())
        return Done(status, boot.splat(), "".join(causes), boot.virtual_ns / 1e9, cpu_s)


def _place(keep: Path) -> Path:
    """Where the scratch folder will be moved to, made sure of before anything runs."""
    place = keep.absolute()
    try:
        if is_taken(place):
            raise UserError(
                f"{keep} is there already and not empty", "name a new folder", usage=True
            )
        named_folder(place)
    except OSError as error:
        raise UserError(f"cannot make the folder {keep}: {error.strerror}", usage=True) from None
    return place


def _keep(boot: GuestBoot, keep: Path) -> None:
    """Copy the scratch folder's files, folders and links to where the user wants them."""
    scratch = boot.channel["scratch"]
    try:
        copy_tree(scratch, keep, Budget.on(scratch))
    except UntrustedError as error:
        raise UserError(
            f"{keep}: the scratch folder is not brought back: {error}",
            f"{argument('scratch_limit')} gives more room",
        ) from None
    except OSError as error:
        raise UserError(
            f"{keep}: the scratch folder cannot be brought back: {error.strerror}",
            "nothing of it is kept",
        ) from None

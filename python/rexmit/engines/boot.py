"""One kernel, booted by the guest program from a plan: its events, its end, its console.

A `GuestBoot` never blocks: `poll` gives what is new, so that one thread can look after many.
`watch` is the loop for one boot alone. What the guest wrote goes with the boot unless it was copied
away before.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from rexmit.engines.channel import Channel
from rexmit.engines.machine import Machine
from rexmit.engines.shares import PrivateFolder
from rexmit.engines.splat import splat
from rexmit.engines.tail import LineTail, LineTooLongError, Tail, last_lines
from rexmit.errors import UserError
from rexmit.guest import guest_binary
from rexmit.store.files import write_bytes, write_text

Event = Mapping[str, Any]

NO_SANDBOX: Final = 125
"""Exit status of the guest program where the sandbox could not be made."""

CONSOLE_LINES: Final = 20

MEMORY: Final = "256M"
"""A guest's, where nothing else is said."""

SAYS: Final = "rexmit-guest: "
"""What a line of the guest program itself begins with, on the console or standard error."""


_MOST_CONSOLE: Final = 16 << 20


class GuestDiedError(Exception):
    """The kernel ended without saying so. Has its last console lines, and what it called a defect
    of its own."""

    def __init__(self, message: str, console_tail: list[str], splat: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.console_tail = console_tail
        self.splat = splat


class GuestHungError(GuestDiedError):
    """The guest gave no sign of life for too long (real time) and was killed."""


class NoLongerWantedError(Exception):
    """Nobody waits for this boot any more."""


@dataclass(frozen=True, slots=True)
class BootOptions:
    """How a kernel is booted. `seed` fixes its randomness; `core` is the one it is pinned to."""

    kernel: Path
    core: int | None = None
    seed: int | None = None
    memory: str = MEMORY
    share_mib: int = 4096
    """The most that the shared folder may hold: captures, output that nobody has read yet."""
    scratch_mib: int = 64
    """The most that the scratch folder of a command may hold."""
    machine: Machine | None = None
    """What emulates the machine of a kernel image; None: the kernel is a program itself."""
    files: bytes = b""
    """An archive of what a guest without this machine's files gets of them."""

    def arguments(self, share: Path) -> list[str]:
        """The guest program's arguments."""
        words = ["boot" if self.machine is None else "machine"]
        words += ["--kernel", str(self.kernel), "--share", str(share)]
        if self.machine is not None:
            words += self.machine.arguments()
            if self.files:
                words += ["--files", str(share.with_name("files"))]
        elif _knows_seccomp(self.kernel):
            words += ["--seccomp"]
        if self.core is not None:
            words += ["--core", str(self.core)]
        if self.seed is not None:
            words += ["--seed", f"{self.seed:016x}"]
        words += ["--memory", self.memory]
        limits = ["--share-limit", f"{self.share_mib}M", "--scratch-limit", f"{self.scratch_mib}M"]
        return [*words, *limits]


@cache
def _knows_seccomp(kernel: Path) -> bool:
    """Whether programs of a kernel may stop by seccomp(2): arch/um has it since Linux 6.16, and its
    help, which is part of the program, says so.
    """
    try:
        return b"seccomp=<on/auto/off>" in kernel.read_bytes()
    except OSError:
        return False  # The guest program says what is wrong with it.


@dataclass(frozen=True, slots=True)
class Usage:
    """What a boot took of this machine: seconds of CPU, bytes of its largest process."""

    cpu_s: float
    peak_memory_bytes: int


class GuestBoot:
    """A running kernel. A context manager: leaving it kills what still runs and cleans up."""

    def __init__(
        self, options: BootOptions, plan: Mapping[str, Any], *, guest: Path | None = None
    ) -> None:
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as undo:
            private = PrivateFolder()
            undo.callback(private.remove)
            share = private.path / "share"
            share.mkdir()
            _write_plan(share / "plan.json", {**plan, **limited_interfaces()})
            if options.files:
                write_bytes(share.with_name("files"), options.files)
            self.channel = undo.enter_context(Channel(share))
            self._events = LineTail(self.channel["events.jsonl"])
            # Memory of no file system: what the kernel says comes through on a full one, too.
            self._console, self._errors = (_nameless(undo, name) for name in ("console", "errors"))
            program = guest or guest_binary()
            # A session of its own: an interrupt from the terminal is ours to act on.
            self._process = subprocess.Popen(
                [str(program), *options.arguments(share)],
                stdin=self.channel.theirs.fileno(),
                stdout=self._console,
                stderr=self._errors,
                start_new_session=True,
            )
            self._closing = undo.pop_all()
        self.started_at = time.monotonic()
        self._kernel = options.kernel
        self.is_program = options.machine is None
        """Not the image of a machine, which warns of the machine, too."""
        self._last_sign = self.started_at
        self._status: int | None = None
        self.usage: Usage | None = None
        self.hello: Event | None = None
        self.doing = "booting"
        self.virtual_ns = 0
        self.exit_event: Event | None = None
        self.fault: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def silent_s(self) -> float:
        """Real seconds since the last complete line of events (or the start)."""
        return time.monotonic() - self._last_sign

    @property
    def ended(self) -> bool:
        """The process has ended (and `poll` has seen it)."""
        return self._status is not None

    @property
    def exit_status(self) -> int | None:
        """The guest program's: 0 after a clean power-off, 125 without a sandbox, None before."""
        return self._status

    @property
    def clean(self) -> bool:
        """It ended as it should: a clean power-off after the event that announces it."""
        return self._status == 0 and self.exit_event is not None and self.fault is None

    def poll(self) -> list[Event]:
        """What the guest has said since the last call. After `ended`, nothing more comes.

        A line that is no event is kept in `fault` and ends the reading: what speaks there is not
        the guest program that belongs to this one.
        """
        if self._status is None:
            self._reap(os.WNOHANG)
        self.channel.receive()
        events: list[Event] = []
        try:
            lines = self._events.lines() if self.fault is None else []
        except LineTooLongError:
            lines = []
            self.fault = "the guest wrote a line that has no end"
        for line in lines:
            event = self._parse(line)
            if self.fault is not None:
                break
            if event is not None:
                events.append(event)
        if events:
            self.give_sign()
        return events

    def give_sign(self) -> None:
        """The guest is alive now: it has written something, or could not while we were at work."""
        self._last_sign = time.monotonic()

    def _parse(self, line: bytes) -> Event | None:
        try:
            event = json.loads(line)
            kind = event["type"]
            if not isinstance(kind, str):
                raise TypeError("a type is a word")
        except (ValueError, TypeError, KeyError, RecursionError):
            self.fault = f"the guest wrote a line that is no event: {line[:200]!r}"
            return None
        if kind == "fault" or (kind == "hello" and self.hello is not None):
            # A guest may keep its first events from its second self.
            self.fault = str(event.get("message", "the guest rebooted"))
            return None
        if kind == "hello":
            self.hello = event
            self.doing = "setting up"
        elif kind == "heartbeat":
            self.doing = str(event.get("doing", self.doing))
        elif kind == "exit":
            self.exit_event = event
        at = event.get("virtual_ns")
        if isinstance(at, int) and 0 <= at < 1 << 63:
            self.virtual_ns = at
        return dict(event)

    def kill(self) -> None:
        """End it at once, with everything inside. Does nothing to one that has ended."""
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._reap(0)

    def _reap(self, flags: int) -> None:
        pid, status, usage = os.wait4(self._process.pid, flags)
        if pid:
            self._status = os.waitstatus_to_exitcode(status)
            self._process.returncode = self._status
            self.usage = Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)

    def console_tail(self, count: int = CONSOLE_LINES) -> list[str]:
        """The last lines of the kernel's console, then what the guest program itself said.

        What the kernel program says of its start on standard error matters only until it runs.
        """
        lines = self.errors()
        if self.hello is not None:
            lines = [line for line in lines if line.startswith(SAYS)]
        last = last_lines(self._console, count)
        # A panic says why before it prints a stack that is longer than what is shown here.
        reasons = self.console_lines("Kernel panic - not syncing", "Out of memory:")
        return [line for line in reasons if line not in last] + last + lines

    def console_lines(self, *texts: str) -> list[str]:
        """The lines of the kernel's console that hold one of `texts`."""
        lines = last_lines(self._console, 10_000)
        return [line for line in lines if any(text in line for text in texts)]

    def splat(self) -> tuple[str, ...]:
        """What the kernel said of a defect of its own; nothing where it did not."""
        lines = last_lines(self._console, 1 << 20, most_bytes=_MOST_CONSOLE)
        return splat(lines, self._kernel)

    def errors(self) -> list[str]:
        """What the guest program said on its standard error."""
        return last_lines(self._errors, CONSOLE_LINES)

    def how_it_ended(self) -> str:
        """The end of a boot that was not clean, in words."""
        full = self.channel.full(".")
        where = f"; it has filled its shared folder ({full})" if full else ""
        if self.fault is not None:
            return self.fault + where
        status = self._status
        if status is not None and status < 0:
            return f"the kernel was killed by signal {-status}"
        if status == 0 and (lines := self.console_lines(SAYS)):
            return lines[-1].partition(SAYS)[2] + where
        return f"the kernel died (exit status {status}){where}"

    def close(self) -> None:
        """Kill what still runs and remove the share folder."""
        self.kill()
        self._closing.close()


def limited_interfaces() -> dict[str, str]:
    """What plans and run.json have besides where the variable REXMIT_INTERFACES is set.

    For tests: the guest then speaks no interface of its kernel that is newer than that version of
    Linux (docs/notes/old-interfaces.md).
    """
    version = os.environ.get("REXMIT_INTERFACES")
    return {"interfaces": version} if version else {}


def _write_plan(path: Path, plan: Mapping[str, Any]) -> None:
    try:
        write_text(path, json.dumps(plan))
    except OSError as error:
        raise UserError(
            f"cannot write the plan of a kernel to {path}: {error.strerror}",
            "make room there, or set TMPDIR to a folder on another file system",
        ) from None


def _nameless(undo: contextlib.ExitStack, name: str) -> int:
    descriptor = os.memfd_create(f"rexmit-{name}")
    undo.callback(os.close, descriptor)
    return descriptor


def watch(
    boot: GuestBoot,
    *,
    on_event: Callable[[Event], None] | None = None,
    outputs: Mapping[str, Callable[[bytes], None]] | None = None,
    hang_limit_s: float | None = 60.0,
    poll_s: float = 0.02,
    end: Callable[[], bool] | None = None,
) -> Event:
    """Look after one boot until it ends and give back its `exit` event.

    `outputs` are called with what is appended to files of the share (`stdout`, `stderr`); while
    they take their time the kernel stands still, and that is no silence. Raises GuestHungError when
    no event and no output came for `hang_limit_s` real seconds, GuestDiedError for an end that was
    not clean. Everything the guest wrote before has been handed over by then. Raises
    NoLongerWantedError soon after `end` says true, for boots that other threads look after.
    """
    tails = [(Tail(boot.channel[name]), give) for name, give in (outputs or {}).items()]

    def hand_over() -> None:
        for event in boot.poll():
            if on_event is not None:
                on_event(event)
        for tail, give in tails:
            for data in tail.pieces():
                give(data)
                boot.give_sign()

    while True:
        ended = boot.ended
        hand_over()
        if ended:
            break
        if boot.ended:
            continue
        if end is not None and end():
            raise NoLongerWantedError
        if boot.fault is not None:
            boot.kill()
        elif hang_limit_s is not None and boot.silent_s > hang_limit_s:
            boot.kill()
            hand_over()
            raise GuestHungError(
                f"no sign of life for {hang_limit_s:g} s; it was busy with: {boot.doing}",
                boot.console_tail(),
                boot.splat(),
            )
        else:
            time.sleep(poll_s)
    if not boot.clean or boot.exit_event is None:
        raise GuestDiedError(boot.how_it_ended(), boot.console_tail(), boot.splat())
    return boot.exit_event

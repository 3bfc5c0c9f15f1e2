"""rexmit, run by a driver that has it imported and forks, so that it knows the process.

Now and then it is a process of its own from the start, so that faults meet the start as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from tests.lab.zygote import MODULES
from tests.processes import stat_fields, state

_PR_SET_CHILD_SUBREAPER = 36
_MORE_MODULES = (
    *(f"rexmit_validate.agree.{name}" for name in ("judge", "kernel", "folder", "report")),
    "rexmit_validate.synth.make",
    *("rexmit_validate.truth.corpus", "rexmit_validate.truth.kernel"),
    *("rexmit.tracing.run", "rexmit.tracing.sections.page", "rexmit.kernels.build"),
)


def prepare() -> None:
    """Import rexmit, and take in the orphans of all that is started from here."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in (*MODULES, *_MORE_MODULES):
        importlib.import_module(name)


@dataclass(frozen=True)
class Call:
    """A command line and where it runs."""

    words: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    said: Path
    """Its outputs go to `said.out` and `said.err`."""
    process: bool = False
    """It is no fork."""
    most_files: int | None = None
    """Of open ones."""
    first: Callable[[], None] | None = None
    """What a fork does before."""

    def out(self) -> str:
        """What it printed."""
        return self.said.with_suffix(".out").read_text(errors="replace")

    def err(self) -> str:
        """What it said on standard error."""
        return self.said.with_suffix(".err").read_text(errors="replace")


@dataclass
class Running:
    """A call under way."""

    call: Call
    pid: int
    began: float = field(default_factory=time.monotonic)
    status: int | None = None
    """The exit status, -N for signal N."""
    ended: float = 0.0

    def poll(self) -> bool:
        """Whether it has ended."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.ended = time.monotonic()
        return self.status is not None

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within so many seconds."""
        until = time.monotonic() + seconds
        while not self.poll():
            if time.monotonic() >= until:
                return False
            time.sleep(0.002)
        return True

    def send(self, number: int) -> None:
        """Send a signal to it, if it is there."""
        if not self.poll():
            os.kill(self.pid, number)

    def sees_to_signals(self) -> bool:
        """It has a handler for SIGHUP, which Python by itself has not."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("SigCgt:"):
                    return bool(int(line.split()[1], 16) >> (signal.SIGHUP - 1) & 1)
        return False

    def below(self) -> list[int]:
        """The processes that it started, and those that they did."""
        return descendants(self.pid)

    @property
    def seconds(self) -> float:
        """How long it ran."""
        return self.ended - self.began


def start(call: Call) -> Running:
    """Start a call."""
    with (
        call.said.with_suffix(".out").open("wb") as out,
        call.said.with_suffix(".err").open("wb") as err,
    ):
        if call.process:
            started = subprocess.Popen(
                [sys.executable, "-m", "rexmit", *call.words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=dict(call.environment),
                cwd=call.folder,
                preexec_fn=lambda: _limit(call),
            )
            # Only `Running` waits for it.
            started.returncode = 0
            return Running(call, started.pid)
        pid = os.fork()
        if pid == 0:
            _be(call, out.fileno(), err.fileno())
        return Running(call, pid)


def _limit(call: Call) -> None:
    if call.most_files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (call.most_files, call.most_files))


def _be(call: Call, out: int, err: int) -> NoReturn:
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(3, 1024)
        os.environ.clear()
        os.environ.update(call.environment)
        os.chdir(call.folder)
        sys.argv = ["rexmit", *call.words]
        _limit(call)
        if call.first is not None:
            call.first()
        from rexmit.main import main

        main()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)


def descendants(pid: int) -> list[int]:
    """The processes below a process that have not ended."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := stat_fields(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += [one for one in below if state(one) not in ("", "Z", "X")]
        waiting += below
    return found


def bury() -> None:
    """Reap orphans that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def outlive(seconds: float) -> list[int]:
    """What still runs of all that was started, after as long as that takes to end."""
    until = time.monotonic() + seconds
    while True:
        bury()
        left = descendants(os.getpid())
        if not left or time.monotonic() >= until:
            return left
        time.sleep(0.01)


def end(pids: Sequence[int]) -> None:
    """Kill processes of ours."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

"""Runs what a foreign source tree decides on inside the guest program's sandbox.

Building a kernel runs its makefiles and scripts, and so whatever its author wrote there. In the
sandbox that has no network, sees this machine's files without the user's own, and can write only
the folders that it is given.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Self

from rexmit.errors import UserError
from rexmit.guest import guest_binary

_PROBE_S: Final = 60.0
_MOST_OUTPUT: Final = 1 << 20

# Of the user's surroundings: folders that the sandbox has not, and a cache in the user's home.
_WITHOUT: Final = ("TMPDIR", "TMP", "TEMP")
_WITH: Final = {"CCACHE_DISABLE": "1"}


@dataclass(frozen=True)
class Result:
    """How a program ended: its status and the beginning of what it printed."""

    status: int
    output: bytes

    @property
    def text(self) -> str:
        """The output as text."""
        return self.output.decode(errors="replace")


class Bounds(NamedTuple):
    """When a program is ended: after so many seconds, or once it has printed more bytes."""

    timeout_s: float | None = None
    most: int = _MOST_OUTPUT


_USUAL: Final = Bounds()


@dataclass(frozen=True)
class Confinement:
    """How programs are run: by the guest program in its sandbox, or as they are."""

    guest: Path | None
    """None: without a sandbox."""
    why_not: str = ""
    """Why there is none."""

    @classmethod
    def probe(cls) -> Self:
        """Find out whether there can be a sandbox, by running a program in one."""
        try:
            guest = guest_binary()
            tried = _run([str(guest), "confine", "--", "true"], os.environ, bounds=Bounds(_PROBE_S))
        except UserError as error:
            return cls(None, error.what)
        except (OSError, subprocess.TimeoutExpired) as error:
            return cls(None, str(error))
        if tried.status == 0:
            return cls(guest)
        lines = tried.text.strip().splitlines() or [f"the guest program ended with {tried.status}"]
        return cls(None, lines[0])

    def command(
        self, argv: Sequence[str | Path], *, write: Iterable[Path] = (), show: Iterable[Path] = ()
    ) -> list[str]:
        """The command that runs `argv` with these folders to write, and these files to read that
        the sandbox may hide otherwise."""
        plain = [str(word) for word in argv]
        if self.guest is None:
            return plain
        options = [word for folder in write for word in ("--write", str(folder))]
        options += [word for path in show for word in ("--show", str(path))]
        return [str(self.guest), "confine", *options, "--", *plain]

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment for a command of `command`."""
        if self.guest is None:
            return dict(given)
        return {**{k: v for k, v in given.items() if k not in _WITHOUT}, **_WITH}

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        write: Iterable[Path] = (),
        show: Iterable[Path] = (),
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        errors: bool = True,
        bounds: Bounds = _USUAL,
    ) -> Result:
        """Run a program to its end. `errors`: what it prints as such is part of its output. Raises
        OSError and TimeoutExpired."""
        command = self.command(argv, write=write, show=show)
        given = self.environment(os.environ if env is None else env)
        return _run(command, given, stdin, errors=errors, bounds=bounds)


def _run(
    command: list[str],
    env: Mapping[str, str],
    stdin: bytes = b"",
    *,
    errors: bool = True,
    bounds: Bounds = _USUAL,
) -> Result:
    timeout_s, most = bounds
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors else subprocess.DEVNULL,
            env=env,
            # Its own group, so that it ends with all that it has started.
            process_group=0,
        )
    assert process.stdout is not None  # noqa: S101
    end = None if timeout_s is None else time.monotonic() + timeout_s
    output = bytearray()
    try:
        while len(output) <= most:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not select.select([process.stdout], [], [], left)[0]:
                raise subprocess.TimeoutExpired(command, timeout_s or 0)
            block = os.read(process.stdout.fileno(), 1 << 16)
            if not block:
                break
            output += block
        else:
            raise OSError(errno.EFBIG, f"it printed more than {most} bytes")
        status = process.wait(None if end is None else max(0.0, end - time.monotonic()))
    finally:
        process.stdout.close()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Result(status, bytes(output))

"""Real kernels in virtual time: how these tests call `rexmit` and read what it wrote."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit import _core, kernels
from rexmit.errors import UserError
from rexmit.guest import guest_binary

KERNELS = ("6.12", "6.1")
SCENARIO = Path(__file__).parents[2] / "scenarios" / "tlp-2013.toml"
ZYGOTE = Path(__file__).with_name("zygote.py")

_NUMBERS = itertools.count()
SECONDS = 120
"""Real time that one call of rexmit may take on a busy machine before the test fails."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.kernel)


@dataclass(frozen=True)
class Done:
    """A call of rexmit that has ended."""

    status: int
    out: bytes
    err: str
    seconds: float

    @property
    def text(self) -> str:
        """Its standard output as text."""
        return self.out.decode()

    @property
    def lines(self) -> list[str]:
        """Its standard output, line by line."""
        return self.text.splitlines()

    def ok(self) -> Done:
        """Itself, if it succeeded; fails the test otherwise."""
        assert self.status == 0, f"status {self.status}\n{self.text}\n{self.err}"
        return self


class Zygote:
    """Runs rexmit without starting Python anew for each call (see zygote.py)."""

    def __init__(self, *words: str) -> None:
        self._calls, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            descriptor = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, str(ZYGOTE), str(descriptor), *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[descriptor],
            )

    def __call__(self, words: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> Done:
        """Run rexmit to its end."""
        began = time.monotonic()
        call = {"words": words, "env": dict(env), "cwd": str(cwd), "seconds": SECONDS}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            message = json.dumps(call).encode()
            socket.send_fds(self._calls, [message], [out.fileno(), err.fileno()])
            answer = self._calls.recv(100)
            assert answer, "the zygote died"
            out.seek(0)
            err.seek(0)
            seconds = time.monotonic() - began
            return Done(int(answer), out.read(), err.read().decode(), seconds)

    def close(self) -> None:
        """End it."""
        self._calls.close()
        self._process.wait(timeout=60)


@dataclass(frozen=True)
class User:
    """Somebody who runs rexmit."""

    name: str
    words: tuple[str, ...]
    """What starts rexmit."""
    call: Zygote
    """What has started it already."""
    env: Mapping[str, str]
    home: Path
    """A folder of this user's to work in."""


@dataclass(frozen=True)
class Run:
    """A finished run."""

    path: Path
    done: Done

    @cached_property
    def meta(self) -> dict[str, Any]:
        """run.json."""
        return dict(json.loads((self.path / "run.json").read_text(encoding="utf-8")))

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """The transfers."""
        return pl.read_parquet(self.path / "transfers.parquet")

    @cached_property
    def retransmissions(self) -> pl.DataFrame:
        """The retransmissions."""
        return pl.read_parquet(self.path / "retransmissions.parquet")

    @cached_property
    def bursts(self) -> pl.DataFrame:
        """The bursts, of a run that has any."""
        return pl.read_parquet(self.path / "bursts.parquet")

    def rows(self, **cell: object) -> list[dict[str, Any]]:
        """The transfers with these values."""
        return self.transfers.filter(**cell).to_dicts()

    def retransmissions_of(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The retransmissions of a transfer."""
        cell, repetition = row["cell"], row["repetition"]
        return self.retransmissions.filter(cell=cell, repetition=repetition).to_dicts()

    def capture(self, row: Mapping[str, Any], host: str) -> list[_core.Packet]:
        """What a host's interface saw of a transfer."""
        name = f"{row['cell']}-{row['repetition']}.{host}.pcapng"
        return _core.read_pcapng(self.path / "captures" / name)

    def tables(self) -> dict[str, bytes]:
        """The files that must not change by a bit."""
        names = ("transfers.parquet", "transfers.csv", "retransmissions.parquet")
        return {name: (self.path / name).read_bytes() for name in names}


@dataclass
class Lab:
    """Calls rexmit for one user and one kernel."""

    user: User
    kernel: str = KERNELS[0]

    def command(self, *words: str) -> list[str]:
        """The whole command line of `rexmit WORDS`."""
        return [*self.user.words, *words]

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start rexmit; its outputs are pipes."""
        return subprocess.Popen(
            self.command(*words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(self.user.env),
            cwd=self.user.home,
        )

    def rexmit(self, *words: str, env: Mapping[str, str] | None = None) -> Done:
        """Run rexmit to its end."""
        return self.user.call(words, {**self.user.env, **(env or {})}, self.user.home)

    def exec_words(self, *command: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The words of `rexmit kernel exec`."""
        return ("kernel", "exec", "--kernel", self.kernel, *options, "--", *command)

    def exec(self, *command: str, options: tuple[str, ...] = ()) -> Done:
        """Run a command inside the kernel."""
        return self.rexmit(*self.exec_words(*command, options=options))

    def sh(self, script: str, *arguments: str, options: tuple[str, ...] = ()) -> Done:
        """Run a shell script inside the kernel; `arguments` are its $1 and so on."""
        return self.exec("sh", "-c", script, "sh", *arguments, options=options)

    def on_network(self, *settings: str, host: str = "h1") -> tuple[str, ...]:
        """The options of `kernel exec` that set up a network of the scenario."""
        return ("--net", str(SCENARIO), *sets(*settings), "--host", host)

    def run_words(self, out: Path, *settings: str, options: tuple[str, ...] = ()) -> list[str]:
        """The words of `rexmit run` of the 2013 scenario, changed by settings."""
        words = ["run", str(SCENARIO), "--kernel", self.kernel, "--out", str(out)]
        return [*words, *sets(*settings), *options]

    def try_run(
        self, *settings: str, options: tuple[str, ...] = (), env: Mapping[str, str] | None = None
    ) -> Run:
        """Run the 2013 scenario, changed by settings, whatever comes of it."""
        out = self.user.home / f"run-{self.kernel}-{next(_NUMBERS)}"
        return Run(out, self.rexmit(*self.run_words(out, *settings, options=options), env=env))

    def run(self, *settings: str, options: tuple[str, ...] = ()) -> Run:
        """Run the 2013 scenario, changed by settings; it has to succeed."""
        run = self.try_run(*settings, options=options)
        run.done.ok()
        return run


def sets(*settings: str) -> tuple[str, ...]:
    """Every setting as `--set SETTING`."""
    return tuple(word for setting in settings for word in ("--set", setting))


@pytest.fixture(scope="session", autouse=True)
def built() -> dict[str, kernels.Kernel]:
    """Both kernels. A test of a real kernel is never skipped: where one is missing, it fails."""
    found = {}
    for series in KERNELS:
        try:
            found[series] = kernels.find(series)
        except UserError as error:
            pytest.fail(f"{error.what}\nbuild it: rexmit kernel build {series}", pytrace=False)
    return found


@pytest.fixture(scope="session")
def me(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """Whoever runs the tests."""
    home = tmp_path_factory.mktemp("lab")
    zygote = Zygote()
    yield User("me", (sys.executable, "-m", "rexmit"), zygote, dict(os.environ), home)
    zygote.close()


@pytest.fixture(scope="session")
def nobody(me: User, built: dict[str, kernels.Kernel]) -> Iterator[User]:
    """An unprivileged user, with kernels and guest program at another path.

    Where the tests are not run by root, that is who runs them.
    """
    # pytest's own temporary folders are closed to other users.
    place = Path(tempfile.mkdtemp(prefix="lab-elsewhere-"))
    try:
        for kernel in built.values():
            shutil.copytree(kernel.path.parent, place / "cache" / "kernels" / kernel.name)
        shutil.copy(guest_binary(), place / "guest")
        home = place / "home"
        home.mkdir()
        env = {
            **me.env,
            "REXMIT_CACHE": str(place / "cache"),
            "REXMIT_GUEST": str(place / "guest"),
            "HOME": str(home),
        }
        if os.geteuid() == 0:
            subprocess.run(["chmod", "-R", "a+rX", place], check=True)
            home.chmod(0o777)
            zygote = Zygote("nobody")
            words = (sys.executable, str(ZYGOTE), "-", "nobody")
            yield User("nobody", words, zygote, env, home)
            zygote.close()
        else:
            yield User("nobody", me.words, me.call, env, home)
    finally:
        shutil.rmtree(place)


@pytest.fixture(scope="session")
def lab(me: User) -> Lab:
    """The default kernel."""
    return Lab(me)


@pytest.fixture(scope="session", params=KERNELS)
def each(me: User, request: pytest.FixtureRequest) -> Lab:
    """Every kernel in turn."""
    return Lab(me, str(request.param))


@pytest.fixture(scope="session", params=["me", "nobody"])
def anyone(request: pytest.FixtureRequest) -> Lab:
    """The default kernel, for whoever runs the tests and for an unprivileged user."""
    user: User = request.getfixturevalue(request.param)
    return Lab(user)


@pytest.fixture(scope="session")
def near_runs() -> dict[str, Run]:
    """What `near` has run: pytest may set a fixture with parameters up more than once."""
    return {}


@pytest.fixture(scope="session")
def near(each: Lab, near_runs: dict[str, Run]) -> Run:
    """Every kernel's 15 cells of the high-speed network, twice each, with captures."""
    if each.kernel not in near_runs:
        near_runs[each.kernel] = each.run(
            *("network=high-speed", "config=plain,er,tlp", "loss.segments=0,1,2,5,20", "repeat=2"),
            options=("--capture",),
        )
    return near_runs[each.kernel]

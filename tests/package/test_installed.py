"""The wheel in an empty environment, far from the checkout: all that is said of it works there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.package.conftest import ROOT, TOOLS, beside
from tests.package.users import NOBODY, User

from rexmit.kernels import cache
from rexmit.kernels.cache import kernels
from rexmit.store import formats

pytestmark = pytest.mark.slow

CAPTURE = ROOT / "tests/real/captures/dcerpc.pcap"
SERIES = "6.12"

PACKAGES = 27
LARGEST_BYTES = 320_000_000
"""So much a user installs at most without extras, with what Python compiles of it. Of it Polars is
190 MB.
"""

HELP = """
import contextlib, io, sys
from rexmit.cli import app
import click
def pages(command, words):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from pages(command.get_command(context, name), [*words, name])
    yield words
for words in sorted(pages(app, [])):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        app([*words, "--help"], standalone_mode=False)
    assert "Usage:" in said.getvalue(), words
    print(*words)
"""
"""Prints every command whose page of help can be printed."""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that every user can enter, as pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="rexmit-package-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def environment(place: Path, wheel: Path) -> Path:
    """A virtual environment that pip has installed the wheels into, with what draws figures; its
    folder of programs.
    """
    programs = place / "environment/bin"
    subprocess.run([sys.executable, "-m", "venv", place / "environment"], check=True)
    pip = [
        str(programs / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, drawing(wheel), *map(str, beside())], check=True, cwd=place)
    return programs


def drawing(wheel: Path) -> str:
    """What pip and uv are asked for: this wheel, and what draws figures."""
    return f"rexmit[figures] @ {wheel.as_uri()}"


@pytest.fixture(scope="module", params=["as root", "as an ordinary user"])
def user(request: pytest.FixtureRequest, place: Path, environment: Path) -> User:
    root = request.param == "as root"
    if root and os.geteuid() != 0:
        pytest.skip("not root")
    home = place / ("root" if root else "user")
    home.mkdir()
    made = User(home, NOBODY if os.geteuid() == 0 and not root else None, environment)
    made.owns_home()
    return made


def test_little_is_installed_without_extras(place: Path, wheel: Path) -> None:
    alone = place / "alone"
    uv = [str(TOOLS / "uv"), "--no-config"]
    for words in (
        ["venv", "--quiet", "--python", sys.executable, str(alone)],
        ["pip", "install", "--quiet", "--compile-bytecode", "--python", str(alone), str(wheel)],
    ):
        subprocess.run([*uv, *words], check=True, cwd=place)
    (packages,) = alone.glob("lib/python3*/site-packages")
    count = len([*packages.glob("*.dist-info")])
    # As a disk has them.
    size = sum(file.lstat().st_blocks * 512 for file in packages.rglob("*") if file.is_file())
    print(f"installed without extras: {count} packages, {size / 1e6:.0f} MB")
    assert count <= PACKAGES
    assert size <= LARGEST_BYTES


def test_it_says_what_it_was_made_of(user: User, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        commit = archive.read("rexmit/commit").decode()
    told = user.runs("rexmit", "--version")
    version = wheel.name.split("-")[1]
    assert told == (
        f"rexmit {version} (commit {commit}; "
        f"run.json format {formats.RUN}, trace.json format {formats.TRACE})\n"
    )
    python = str(user.programs / "python")
    where = user.runs(python, "-c", "import rexmit; print(rexmit.__file__)")
    assert Path(where.strip()).is_relative_to(user.programs.parent)


def test_every_command_has_its_page_of_help(user: User) -> None:
    told = user.runs(str(user.programs / "python"), "-c", HELP).splitlines()
    assert {"run", "trace", "kernel build", "validate synth", "doctor"} <= set(told)


def test_the_model(user: User) -> None:
    user.runs("rexmit", "run", "smoke", "--engine", "model", "--out", "model")
    assert "Times: " in user.runs("rexmit", "show", "model")
    drawn = user.runs("rexmit", "plot", "model").split()
    assert all((user.home / name).stat().st_size > 1000 for name in drawn)
    assert {Path(name).suffix for name in drawn} == {".pdf", ".png"}
    here = subprocess.run(
        [sys.executable, "-m", "rexmit", "run", "smoke", "--engine", "model", "--out", "here"],
        cwd=user.home,
        check=True,
        capture_output=True,
    )
    assert here.returncode == 0
    # Compiled and linked otherwise, the same numbers.
    name = "transfers.csv"
    assert (user.home / "model" / name).read_bytes() == (user.home / "here" / name).read_bytes()


def test_a_capture(user: User) -> None:
    capture = user.gets(CAPTURE, "small.pcap")
    assert "small.pcap: 35 packets" in user.runs("rexmit", "trace", str(capture))


def test_data_that_commands_read(user: User) -> None:
    assert "linux-3.10" in user.runs("rexmit", "stacks")
    user.runs("rexmit", "validate", "synth", "--list")
    user.runs("rexmit", "validate", "synth", "--connections", "5", "--out", "corpus")
    assert "mechanism right" in user.runs("rexmit", "validate", "score", "corpus")


def test_what_is_missing_is_told(user: User) -> None:
    assert user.tries("rexmit", "doctor", "trace").returncode == 0
    lacks = user.tries("rexmit", "doctor", "kernel")
    assert lacks.returncode == 1
    assert "get it: rexmit kernel build 6.12" in lacks.stdout


@pytest.mark.kernel
def test_kernels(user: User) -> None:
    findings = json.loads(user.tries("rexmit", "doctor", "kernel", "--json").stdout)["findings"]
    (sandbox,) = [one for one in findings if one["name"] == "sandbox"]
    if sandbox["found"] is None:
        pytest.skip(sandbox["use"])
    built = [one for one in kernels() if one.series == SERIES and one.source.startswith("debian ")]
    for kernel in built:
        user.gets(cache.root() / kernel.name, f".cache/rexmit/kernels/{kernel.name}")
    # It would be built: its patches and options are those of the checkout, so it has been.
    done = user.tries("rexmit", "kernel", "build", SERIES)
    assert done.returncode == 0, done.stderr
    assert "already built" in done.stderr
    assert user.tries("rexmit", "doctor", "kernel").returncode == 0
    user.runs("rexmit", "run", "smoke", "--out", "kernel")
    assert "Times: " in user.runs("rexmit", "show", "kernel")
    assert SERIES in user.runs("rexmit", "kernel", "exec", "--", "uname", "-r")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_pythons(version: str, place: Path, wheel: Path) -> None:
    """As `uv tool install` installs it."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    home = place / version
    home.mkdir()
    programs = home / "bin"
    folders = {"UV_TOOL_DIR": str(home / "tools"), "UV_TOOL_BIN_DIR": str(programs)}
    install = [str(TOOLS / "uv"), "tool", "install", "--quiet", "--no-config"]
    install += ["--python", python, drawing(wheel)]
    subprocess.run(install, check=True, env={**os.environ, **folders})
    user = User(home, None, programs)
    capture = user.gets(CAPTURE, "small.pcap")
    user.runs("rexmit", "trace", str(capture))
    user.runs("rexmit", "run", "smoke", "--engine", "model", "--out", "model")
    user.runs("rexmit", "plot", "model")


def interpreter(version: str) -> str | None:
    """A Python of this version, wherever it lies; not one that only forwards to another."""
    folders = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin"))
    path = os.pathsep.join([*map(str, folders), "/usr/local/bin", "/usr/bin"])
    return shutil.which(f"python{version}", path=path)

"""Debian's newest source, which is newer than any that rexmit was tried on: taken, patched and
configured as `rexmit kernel build` does it, but not compiled.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final, Never

import pytest

import rexmit
from rexmit.kernels import build, recipe, source
from rexmit.progress import Step

pytestmark = [pytest.mark.slow, pytest.mark.tools]

SUITE: Final = "trixie-backports"
KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SECONDS: Final = 100


def _run(*words: str | Path, cwd: Path | None = None) -> str:
    """What a program prints. Where it fails, a mirror is out of reach: nothing can be told."""
    try:
        done = subprocess.run(
            words, cwd=cwd, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"Debian's newest source could not be fetched: {error}")
    if done.returncode:
        pytest.skip(f"Debian's newest source could not be fetched: {done.stderr[-300:]}")
    return done.stdout


def _mirror() -> str:
    """Where this machine gets Debian's packages."""
    targets = _run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")
    mirrors = [line for line in targets.splitlines() if line.rstrip("/").endswith("/debian")]
    if not mirrors or not KEYRING.exists():
        pytest.skip("Debian's newest source could not be fetched: apt has no mirror of Debian here")
    return mirrors[0]


@pytest.fixture
def newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The series of Debian's newest source, which lies where its package would put it."""
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        (tmp_path / "apt" / name).mkdir(parents=True)
    listed = tmp_path / "apt" / "list"
    listed.write_text(f"deb [signed-by={KEYRING}] {_mirror()} {SUITE} main\n")
    places = {
        "Dir::Etc::SourceList": listed,
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": tmp_path / "apt" / "lists",
        "Dir::Cache": tmp_path / "apt" / "cache",
        "APT::Sandbox::User": "",
        "Acquire::http::Timeout": "20",
        "Acquire::Retries": "1",
    }
    options = [word for key, value in places.items() for word in ("-o", f"{key}={value}")]
    _run("apt-get", *options, "update", "--error-on=any")
    names = _run("apt-cache", *options, "search", "--names-only", "^linux-source-[0-9.]+$")
    found = re.findall(r"^linux-source-([0-9]+\.[0-9]+) ", names, re.MULTILINE)
    if not found:
        pytest.skip(f"{SUITE} has no source of Linux")
    series: str = max(found, key=recipe.numbers)
    _run("apt-get", *options, "download", f"linux-source-{series}", cwd=tmp_path)
    (package,) = tmp_path.glob("linux-source-*.deb")
    _run("dpkg-deb", "--extract", package, tmp_path / "package")
    monkeypatch.setattr(source, "DEBIAN_SOURCES", tmp_path / "package" / "usr" / "src")
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    return series


class _ConfiguredError(Exception):
    """Raised where compiling would begin."""


def _no_compiling(*_: object) -> Never:
    raise _ConfiguredError


def test_it_is_taken_patched_and_configured(newest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever does not apply, or is missing in its configuration, raises UserError, but for what
    a kernel can do without: that is said."""
    monkeypatch.setattr(build._Make, "steps", _no_compiling)
    steps: list[Step] = []
    with pytest.raises(_ConfiguredError):
        rexmit.build_kernel(newest, configs=["selftests"], progress=steps.append)
    notes = [step.note for step in steps if step.note]
    assert notes[0] == f"Unpacking {newest}"
    assert any(note.startswith(f"Configuring Linux {newest}.") for note in notes)
    said = [note for note in notes if note.startswith("Patch ") or "has no option" in note]
    assert all("left out" in note or "has no option" in note for note in said), said

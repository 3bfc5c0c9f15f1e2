"""`rexmit --version`, in a checkout and elsewhere. What the wheel says: tests/package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rexmit import version

ROOT = Path(__file__).parents[2]

MADE = ("*.lock", "CHANGELOG.md", "docs/findings/results/*", "python/rexmit/whatif/errors.json")
"""Files that say of which version something was."""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of one commit, with the package in it."""
    package = tmp_path / "python/rexmit"
    package.mkdir(parents=True)
    (tmp_path / "crates/python").mkdir(parents=True)
    (package / "some.py").write_text("x = 1\n")
    monkeypatch.setattr(version, "_PACKAGE", package)
    return tmp_path


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=n@localhost"]
    command = ["git", *identity, *words]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(checkout: Path) -> str:
    git(checkout, "init", "-q")
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "one")
    return git(checkout, "rev-parse", "HEAD")[:12]


def test_a_checkout_says_its_commit_and_whether_it_was_changed(checkout: Path) -> None:
    made = commit(checkout)
    assert version.commit() == made
    (checkout / "python/rexmit/some.py").write_text("x = 2\n")
    assert version.commit() == f"{made}+dirty"
    git(checkout, "checkout", "-q", ".")
    (checkout / "python/rexmit/more.py").touch()
    assert version.commit() == f"{made}+dirty"


def test_a_checkout_believes_no_file(checkout: Path) -> None:
    made = commit(checkout)
    (checkout / ".git/info/exclude").write_text("commit\n")
    (checkout / "python/rexmit/commit").write_text("0123456789ab\n")
    assert version.commit() == made


def test_elsewhere_a_file_says_it(checkout: Path) -> None:
    assert version.commit() is None
    (checkout / "python/rexmit/commit").write_text("0123456789ab+dirty")
    assert version.commit() == "0123456789ab+dirty"
    assert version.mended_by() == "python3 -m pip install --force-reinstall rexmit"


def test_a_broken_repository_is_no_error(checkout: Path) -> None:
    (checkout / ".git").mkdir()
    assert version.commit() is None
    assert version.mended_by() == f"make -C {checkout} setup"


def test_the_command_says_version_commit_and_formats() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rexmit", "--version"], capture_output=True, text=True, check=True
    )
    commit, formats = r"[0-9a-f]{12}(\+dirty)?", r"run\.json format \d+, trace\.json format \d+"
    assert re.fullmatch(rf"rexmit \S+ \(commit {commit}; {formats}\)\n", done.stdout)


def test_one_file_names_the_version() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    named = re.escape(workspace["package"]["version"])
    words = ["grep", "-lP", rf"(?<![\d.]){named}(?![\d.])"]
    names = git(ROOT, *words, "--", ".", *(f":!{made}" for made in MADE)).splitlines()
    assert names == ["Cargo.toml"]

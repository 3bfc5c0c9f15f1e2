"""The wheel that `make wheel` made."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "target/wheel-tools/bin"


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Of this checkout as it stands. Skips where there is none: making it takes minutes."""
    made = sorted((ROOT / "wheels").glob("rexmit-*.whl"))
    if not made:
        pytest.skip("no wheel: make wheel")
    (found,) = made
    inside = {
        name: content
        for wheel in (found, *beside())
        for name, content in contents(wheel).items()
        if name.startswith("rexmit") and name.endswith(".py")
    }
    package = ROOT / "python"
    here = {name: (package / name).read_bytes() for name in tracked("python/") if is_code(name)}
    if inside != here:
        pytest.skip("the wheel is older than the checkout: make wheel")
    return found


def beside() -> list[Path]:
    """The wheels of the packages beside it, which `make wheel` made, too."""
    return sorted((ROOT / "wheels").glob("rexmit_*.whl"))


def contents(wheel: Path) -> dict[str, bytes]:
    """The files in a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def tracked(folder: str) -> list[str]:
    """The files below a folder that git has, by their names in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    return [name.removeprefix(folder) for name in names]


def is_code(name: str) -> bool:
    return name.endswith(".py")

"""What is compiled does not depend on where: one small crate of ours, built at two places.

Building all of it twice takes many minutes; docs/how-to/install.md says how.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.package.conftest import ROOT, tracked

CRATE = "rexmit-schema"


def built(folder: Path, *, flags: bool) -> bytes:
    """The library, built in a copy of the checkout. Its debug information names its sources."""
    for name in tracked("."):
        if name.startswith(("crates/", "benches/", "fuzz/", "scripts/", "Cargo")):
            copy = folder / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy)
    command = [folder / "scripts/rust-flags"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    environment["CARGO_ENCODED_RUSTFLAGS"] = told if flags else ""
    build = ["cargo", "build", "--quiet", "--locked", "--release", "--lib", "--package", CRATE]
    subprocess.run(build, cwd=folder, env=environment, check=True)
    return (folder / "target/release/librexmit_schema.rlib").read_bytes()


@pytest.mark.slow
def test_two_places_give_the_same(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "elsewhere/two"
    first = built(one, flags=True)
    assert first == built(two, flags=True)
    assert str(one).encode() not in first

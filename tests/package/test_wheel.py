"""What is in the wheel, and for which machines it says that it is."""

from __future__ import annotations

import email
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.package.conftest import ROOT, TOOLS, beside, contents, tracked
from tests.processes import run_command

from rexmit.version import commit
from rexmit_site.manual import pages

MADE = {
    "rexmit/THIRD-PARTY-LICENCES",
    "rexmit/_core.abi3.so",
    "rexmit/bin/rexmit-guest",
    "rexmit/commit",
}
LINKS = {"rexmit/kernels/data": "kernel/", "rexmit/scenario/data": "scenarios/"}
PROGRAMS = ("rexmit/_core.abi3.so", "rexmit/bin/rexmit-guest")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def inside(wheel: Path) -> dict[str, bytes]:
    return contents(wheel)


def about(inside: dict[str, bytes], name: str) -> bytes:
    """A file of the wheel's dist-info."""
    (found,) = [key for key in inside if re.fullmatch(rf"rexmit-[^/]+\.dist-info/{name}", key)]
    return inside[found]


def test_the_package_is_in_it_whole_and_nothing_else(inside: dict[str, bytes]) -> None:
    there = {f"rexmit/{name}" for name in tracked("python/rexmit/")}
    expected = MADE | (there - LINKS.keys())
    for place, folder in LINKS.items():
        expected |= {f"{place}/{name}" for name in tracked(folder)}
    assert {name for name in inside if not re.match(r"rexmit-[^/]+/", name)} == expected


def test_every_command_has_a_page_of_the_manual(inside: dict[str, bytes]) -> None:
    own = {Path(name).name for name in inside if "/share/man/man1/" in name}
    of_others = ("rexmit-paper-", "rexmit-validate-")
    assert own == {name for name in pages() if not name.startswith(of_others)}
    recorded = about(inside, "RECORD").decode()
    assert all(f"/share/man/man1/{name},sha256=" in recorded for name in own)


@pytest.mark.usefixtures("wheel")
def test_each_package_beside_it_has_a_wheel_of_its_own() -> None:
    """It takes the rexmit of its own version, and no more lies in it."""
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    version = rust["package"]["version"]
    modules = {path.parent.name for path in (ROOT / "python").glob("rexmit_*/adds.py")}
    assert {path.name.split("-")[0] for path in beside()} == modules
    for path in beside():
        module = path.name.split("-")[0]
        files = contents(path)
        info = f"{module}-{version}.dist-info/"
        assert {name for name in files if not name.startswith(info)} == {
            f"{module}/{name}" for name in tracked(f"python/{module}/")
        }
        metadata = email.message_from_bytes(files[f"{info}METADATA"])
        needs = metadata.get_all("Requires-Dist", [])
        assert f"rexmit[figures]=={version}" in needs
        assert all(need.endswith(f"=={version}") for need in needs)


def test_licences_and_metadata(inside: dict[str, bytes]) -> None:
    metadata = email.message_from_bytes(about(inside, "METADATA"))
    assert metadata["License-Expression"] == "(Apache-2.0 OR MIT) AND GPL-2.0-only"
    assert metadata["Requires-Python"] == ">=3.11"
    files = metadata.get_all("License-File")
    assert files == ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-GPL-2.0"]
    for name in files:
        assert about(inside, f"licenses/{name}") == (ROOT / name).read_bytes()


def test_the_licences_of_all_crates_are_told(inside: dict[str, bytes]) -> None:
    told = inside["rexmit/THIRD-PARTY-LICENCES"].decode()
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    versions = {(one["name"], one["version"]) for one in locked if "source" in one}
    listed = set(re.findall(r"(?m)^([\w-]+) (\d\S*): ", told))
    assert listed <= versions
    # Compiled into one program, into the other, into both, and only used to build them.
    names = {name for name, _ in listed}
    assert {"zstd-sys", "pyo3", "nix", "serde"} <= names
    assert not {"serde_derive", "proptest", "cc"} & names
    assert "Meta Platforms" in told
    assert "GNU C library" in told


def test_it_runs_where_it_says_that_it_does(wheel: Path, inside: dict[str, bytes]) -> None:
    assert wheel.name.endswith("-cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl")
    shown = subprocess.run(
        [TOOLS / "auditwheel", "show", wheel], capture_output=True, text=True, check=True
    )
    told = " ".join(shown.stdout.split())
    assert 'is consistent with the following platform tag: "manylinux_2_17_x86_64"' in told
    wanted = set(re.findall(rb"GLIBC_2\.(\d+)", inside[PROGRAMS[0]]))
    assert max(map(int, wanted)) <= 17
    # The guest asks for no library at all: it starts before any is in view.
    assert b"/ld-linux" not in inside[PROGRAMS[1]]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_name_no_path_of_the_machine_that_built_them(
    inside: dict[str, bytes], program: str
) -> None:
    content = inside[program]
    # Panics say where: so this finds paths, if there are any.
    assert b"crates/loss/src/" in content
    assert b"crates.io/serde_json-" in content
    cargo = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
    for place in (f"{ROOT}/", f"{cargo}/", "index.crates.io", "registry/src"):
        assert place.encode() not in content


def test_no_file_names_the_folder_that_it_was_made_in(inside: dict[str, bytes]) -> None:
    assert [name for name, content in inside.items() if f"{ROOT}/".encode() in content] == []


def test_made_again_it_is_the_same(wheel: Path, tmp_path: Path) -> None:
    """From other times of files; what is compiled is not compiled again."""
    for name in ("README.md", "python/rexmit/errors.py", "scenarios/smoke.toml"):
        os.utime(ROOT / name)
    command = ["make", "--no-print-directory", "wheel", f"WHEELS={tmp_path}"]
    done = run_command(command, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / wheel.name)["rexmit/commit"].decode() == commit()
    for one in (wheel, *beside()):
        assert (tmp_path / one.name).read_bytes() == one.read_bytes()

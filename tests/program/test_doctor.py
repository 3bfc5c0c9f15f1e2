"""`rexmit doctor`: what is missing is told, with the command that brings it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import run_command

import rexmit
from rexmit.kernels.confine import Confinement
from rexmit.library import doctor as doctors


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no program, no source of a kernel, no kernel, and where the guest program
    makes its sandbox."""
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("rexmit.kernels.source.DEBIAN_SOURCES", tmp_path / "src")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    guest = tmp_path / "rexmit-guest"
    guest.write_text("#!/bin/sh\nexit 0\n")
    guest.chmod(0o755)
    monkeypatch.setenv("REXMIT_GUEST", str(guest))
    return tmp_path


def by_name(part: str) -> dict[str, doctors.Finding]:
    return {finding.name: finding for finding in rexmit.doctor([part])}


@pytest.mark.usefixtures("bare")
def test_the_analysis_needs_nothing_else() -> None:
    found = by_name("trace")
    core = found["compiled core"]
    assert core.found is not None
    assert "_core" in core.found
    assert not any(one.missing for one in found.values())


def test_modules_that_are_compiled_at_each_start_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "library" / "doctor.py"
    source.parent.mkdir()
    source.write_text("")
    monkeypatch.setattr(doctors, "__file__", str(source))
    bytecode = by_name("trace")["bytecode"]
    assert (bytecode.found, bytecode.needed) == (None, False)
    assert bytecode.remedy is not None
    subprocess.run(bytecode.remedy.split(), check=True)
    assert by_name("trace")["bytecode"].found == "of 1 modules"


@pytest.mark.usefixtures("bare")
def test_what_is_missing_is_told_with_what_brings_it() -> None:
    found = by_name("kernel")
    missing = {name: one.remedy for name, one in found.items() if one.missing}
    install = "sudo apt-get install --no-install-recommends"
    assert missing == {
        "kernel": "rexmit kernel build 6.12",
        "nginx": f"{install} nginx-light",
        **{name: f"{install} {name}" for name in ("gcc", "make", "flex", "bison", "bc", "patch")},
        **dict.fromkeys(("ld", "objcopy"), f"{install} binutils"),
        "xz": f"{install} xz-utils",
        "Linux 6.12": f"{install} linux-source-6.12",
    }
    assert found["curl"].found is None
    assert not found["curl"].missing
    assert found["sandbox"].found is not None


def test_sources_are_found(bare: Path) -> None:
    (bare / "src").mkdir()
    (bare / "src/linux-source-6.12.tar.xz").touch()
    assert not by_name("kernel")["Linux 6.12"].missing


@pytest.mark.parametrize(
    ("why", "remedy"),
    [
        (
            "this machine allows no user namespaces (sysctl user.max_user_namespaces is 0)",
            "sudo sysctl user.max_user_namespaces=15000",
        ),
        ("root lacks the right to", None),
    ],
)
@pytest.mark.usefixtures("bare")
def test_a_sandbox_that_cannot_be_made(
    monkeypatch: pytest.MonkeyPatch, why: str, remedy: str | None
) -> None:
    monkeypatch.setattr(Confinement, "probe", lambda: Confinement(None, why))
    sandbox = by_name("kernel")["sandbox"]
    assert (sandbox.missing, sandbox.use, sandbox.remedy) == (True, why, remedy)


def test_a_guest_program_that_is_not_there(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXMIT_GUEST", str(bare / "none"))
    found = by_name("kernel")
    assert found["guest program"].missing
    assert found["sandbox"].missing


def test_a_part_that_there_is_not() -> None:
    with pytest.raises(rexmit.Error, match="there is no part imags") as error:
        rexmit.doctor(["imags"])
    assert "did you mean images?" in str(error.value.hint)


def doctor(*words: str, path: str) -> subprocess.CompletedProcess[str]:
    return run_command(
        [sys.executable, "-m", "rexmit", "doctor", *words], env={**os.environ, "PATH": path}
    )


def test_the_command_fails_for_what_was_asked_for(tmp_path: Path) -> None:
    # No program lies in a folder that is empty; tshark is looked for in system folders, too.
    assert doctor("trace", path=str(tmp_path)).returncode == 0
    told = doctor("wireshark", "--json", path=str(tmp_path))
    data = json.loads(told.stdout)
    assert data["rexmit"] == rexmit.__version__
    (tshark,) = data["findings"]
    assert set(tshark) == {"part", "name", "found", "needed", "remedy", "use"}
    assert told.returncode == (1 if tshark["found"] is None else 0)
    # Of what nobody asked for it only tells.
    assert doctor(path=str(tmp_path)).returncode == 0


@pytest.mark.usefixtures("bare")
def test_what_is_missing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from rexmit.cli import doctor as command

    with pytest.raises(SystemExit) as ended:
        command.doctor(["images"])
    assert ended.value.code == 1
    told = capsys.readouterr().out
    assert told.startswith("images: not ready\n")
    assert "qemu-system-x86_64  missing, needed: rexmit kernel add\n" in told
    assert "get it: sudo apt-get install --no-install-recommends qemu-system-x86\n" in told

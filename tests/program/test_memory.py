"""Little memory (`ulimit -v`): one line that says what to do, whatever the command."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import run_command

import rexmit
from rexmit import memory

CAPTURE = str(Path(__file__).parents[1] / "real/captures/dcerpc.pcap")

LIMITS_KB = (
    20_000,
    40_000,
    80_000,
    100_000,
    300_000,
    1_000_000,
    1_200_000,
    1_500_000,
    2_000_000,
    2_300_000,
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trace and a run."""
    folder = tmp_path_factory.mktemp("memory")
    rexmit.trace(CAPTURE, out=folder / "trace")
    rexmit.run("tlp-2013", engine="model", settings=["repeat=1"], out=folder / "run")
    return folder


def _ran(limit_kb: int, words: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit_kb << 10, limit_kb << 10))

    return run_command([sys.executable, "-m", "rexmit", *words], cwd=place, preexec_fn=limit)


@pytest.mark.parametrize(
    "words",
    [
        ["trace", CAPTURE],
        ["trace", "trace"],
        ["run", "smoke", "--engine", "model"],
        ["run", "smoke", "--engine", "model", "--cluster", "local:1"],
        ["show", "run"],
        ["show", "trace"],
        ["report", "run"],
        ["plot", "run"],
        ["diff", "run", "run"],
    ],
    ids=" ".join,
)
def test_too_little_is_told(words: list[str], place: Path) -> None:
    for limit_kb in LIMITS_KB:
        ran = _ran(limit_kb, words, place)
        assert ran.returncode == 1
        what, hint = ran.stderr.splitlines()
        assert what.startswith("rexmit: ")
        assert f"this shell allows {limit_kb} kB of address space" in what
        assert hint.startswith("  raise it")
        assert not ran.stdout


@pytest.mark.parametrize("words", [["trace", CAPTURE], ["show", "trace"], ["report", "run"]])
def test_what_is_said_to_be_needed_suffices(words: list[str], place: Path) -> None:
    ran = _ran(memory.needed() >> 10, words, place)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("words", [["--version"], ["trace", "--help"], ["stacks"]])
def test_what_needs_little_is_not_refused(words: list[str], place: Path) -> None:
    ran = _ran(300_000, words, place)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_memory_that_runs_out_is_told(place: Path) -> None:
    program = "import rexmit.main as m\ndef none(): raise MemoryError\nm._run = none\nm.main()"
    words = [sys.executable, "-c", program]
    ran = run_command(words, cwd=place)
    assert ran.returncode == 1
    what, hint = ran.stderr.splitlines()
    assert (what, hint[:10]) == ("rexmit: memory ran out", "  analyse ")

"""Builders that are stopped, killed, or not alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.processes import state

from rexmit import kernels
from rexmit.kernels.build import build

from .conftest import Tree, visible

SCRIPT = """\
import signal
import sys
from pathlib import Path
from rexmit import interrupt
from rexmit.kernels import recipe
from rexmit.kernels.build import build
recipe.DATA = Path(sys.argv[1])
# The tests themselves may run under nohup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
try:
    with interrupt.installed():
        kernel, new = build(sys.argv[2])
except interrupt.Interrupted as stopped:
    sys.exit(stopped.exit_status)
print("new" if new else "ready")
"""
PATIENCE_S = 20.0


def _builder(data: Path, tree: Tree) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(data), str(tree.path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    return state(pid) not in ("", "Z")


@pytest.fixture
def slow(tree: Tree, tmp_path: Path) -> Path:
    """Make the build wait half way through; the file gets the process id of its compiler."""
    pid_file = tmp_path / "pid"
    tree.hook(f"echo $$ >{pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 600")
    return pid_file


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_nothing(
    tree: Tree, data: Path, slow: Path, cache_root: Path, number: signal.Signals
) -> None:
    with _builder(data, tree) as builder:
        _until(slow.exists)
        compiler = int(slow.read_text())
        assert _alive(compiler)
        builder.send_signal(number)
        builder.communicate(timeout=PATIENCE_S)
    assert builder.returncode == 128 + number
    assert not _alive(compiler)
    assert visible(cache_root) == []


def test_what_a_killed_builder_left_is_cleared_away(
    tree: Tree, data: Path, slow: Path, cache_root: Path
) -> None:
    with _builder(data, tree) as builder:
        _until(slow.exists)
        builder.kill()
        builder.communicate(timeout=PATIENCE_S)
    compiler = int(slow.read_text())
    (left,) = visible(cache_root)
    assert kernels.kernels() == []
    tree.hook("true")
    # As long as one of its compilers lives, its folder is in use.
    first, _ = build(str(tree.path))
    assert visible(cache_root) == sorted([left, first.name])
    os.kill(compiler, signal.SIGKILL)
    _until(lambda: not _alive(compiler))
    second, _ = build(str(tree.path), hz=100)
    assert visible(cache_root) == sorted([first.name, second.name])


def test_two_builders_of_one_kernel_build_it_once(
    tree: Tree, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_root: Path
) -> None:
    count, go = tmp_path / "count", tmp_path / "go"
    monkeypatch.setenv("COUNT_FILE", str(count))
    tree.hook(f"while [ ! -e {go} ]; do sleep 0.02; done")
    with _builder(data, tree) as one, _builder(data, tree) as two:
        # The second one finds the objects in use, and has a folder of its own.
        _until(lambda: len([*cache_root.glob(".new-*/tree/hook")]) == 1)
        _until(lambda: len([*cache_root.glob(".objects/*/tree/hook")]) == 1)
        _until(count.exists)
        go.touch()
        said = sorted(b.communicate(timeout=PATIENCE_S)[0].strip() for b in (one, two))
    assert said == ["new", "ready"]
    assert count.read_text() == "built\n"
    assert len(visible(cache_root)) == 1

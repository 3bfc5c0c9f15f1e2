"""For all tests."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from tests import tools

from rexmit import errors

# How long an example takes says nothing about it on a machine that does other things as well.
settings.register_profile("rexmit", deadline=None)
settings.load_profile("rexmit")

# What a user wants of every command is nothing that a test knows of.
os.environ["REXMIT_CONFIG"] = ""

# A shell that starts the tests behind a `&` makes them and all that they start deaf to it, and
# what is interrupted here would go on.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a worker may take at most, with a kernel in QEMU or a browser beside it.
WORKER_BYTES = 3 << 30


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """As many workers for `-n auto` as there are processors, if memory allows."""
    words = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(words["MemAvailable"].split()[0]) << 10
    return max(1, min(len(os.sched_getaffinity(0)), available // WORKER_BYTES))


def pytest_itemcollected(item: pytest.Item) -> None:
    if tools.FIXTURES & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.tools)


@cache
def _bare() -> tuple[tempfile.TemporaryDirectory[str], str]:
    # It goes with this process.
    folder = tempfile.TemporaryDirectory(prefix="rexmit-tests-")
    return folder, tools.bare_path(Path(folder.name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hides from a fast test what a bare machine lacks."""
    whole = os.environ["PATH"]
    if tools.is_fast(item):
        os.environ["PATH"] = _bare()[1]
    try:
        return (yield)
    finally:
        os.environ["PATH"] = whole


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that judges is at work, as `rexmit.errors.failed` has it."""
    monkeypatch.setattr(errors, "_judges", True)

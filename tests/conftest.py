"""For all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says nothing about it on a machine that does other things as well.
settings.register_profile("rexmit", deadline=None)
settings.load_profile("rexmit")

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

"""What the analysis says of a capture of several paths is what the kernel's run knows."""

from __future__ import annotations

from tests.lab.conftest import Lab
from tests.lab.test_paths import study
from tests.trace.paths import compare


def test_the_servers_capture_tells_of_every_subflow(each: Lab) -> None:
    grid = ("network=20-30,30-20,120-20", "config=tcp-tlp,mptcp-rto,mptcp-tlp", "repeat=1")
    run = study(each, "captured", *grid, options=("--capture", "--jobs", "2"))
    own, again = compare(run.path)
    assert own > 30
    assert again > 30

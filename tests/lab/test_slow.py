"""Whose the time was of connections that real programs slow down, seen at three places."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.lab.conftest import Lab
from tests.lab.scenes import PLACES, SCENES
from typer.testing import CliRunner

from rexmit.cli import app

SCENES_FILE = Path(__file__).with_name("scenes.py")

ELSEWHERE = {
    # The SYN that was lost never came so far.
    ("connecting", "server"): "healthy",
    # A host that is cut off sees nothing of what its peer tries.
    ("peer-gone", "client"): "healthy",
    # Behind the hole only the silence is seen.
    ("path-mtu", "midway"): "unanswered",
    ("path-mtu", "client"): "unanswered",
}
"""What a place cannot tell, and what it says instead."""


@pytest.fixture(scope="module")
def captures(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three captures of each scene."""
    made = tmp_path_factory.mktemp("scenes") / "made"
    network = ("networks.high-speed.delay=5ms", "networks.high-speed.rate=100Mbit")
    options = (*lab.on_network("network=high-speed", *network), "--keep", str(made))
    lab.exec(sys.executable, str(SCENES_FILE), options=options).ok()
    return made


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("owner", SCENES)
def test_the_first_sentence_names_whose_the_time_was(
    owner: str, place: str, captures: Path
) -> None:
    capture = captures / f"{owner}.{place}.pcap"
    page = CliRunner().invoke(app, ["trace", "--json", "--whatif", "none", str(capture)])
    assert page.exit_code == 0, page.output
    found = [one["owner"] for one in json.loads(page.stdout)["owners"]]
    assert [*found, "healthy"][0] == ELSEWHERE.get((owner, place), owner), found

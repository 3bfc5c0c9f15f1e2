"""Requests of real programs, as their client had them, and as captures at two places tell them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.lab.conftest import Lab
from tests.lab.talks import NAME, TALKS

import rexmit
from rexmit.cli import app

TALKS_FILE = Path(__file__).with_name("talks.py")
STEP_S = 0.003
"""What a client's program and its clock take, and a way of a packet within its host."""
WAY_S = 0.02
"""There and back of a packet."""


@pytest.fixture(scope="module")
def captures(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("talks") / "made"
    network = ("networks.high-speed.delay=5ms", "networks.high-speed.rate=100Mbit")
    options = (*lab.on_network("network=high-speed", *network), "--keep", str(made))
    lab.exec(sys.executable, str(TALKS_FILE), *TALKS, options=options).ok()
    return made


def rows(*captures: Path) -> list[dict[str, Any]]:
    trace = rexmit.trace(list(captures), whatif=())
    return trace.scan("requests").collect().to_dicts()


@pytest.mark.parametrize("place", ["client", "midway", "server"])
@pytest.mark.parametrize("talk", TALKS)
def test_requests_are_those_of_the_client(talk: str, place: str, captures: Path) -> None:
    found = rows(captures / f"{talk}.{place}.pcap")
    asked = json.loads((captures / f"{talk}.asked.json").read_text())
    if TALKS[talk].tls:
        assert found.pop(0)["kind"] == "tls-set-up"
    assert len(found) == len(asked)
    # Further away requests are seen later, and answers sooner.
    slack_s = STEP_S + (0 if place == "client" else WAY_S)
    for row, told in zip(found, asked, strict=True):
        for name in ("start", "first", "last"):
            late_s = row[f"{name}_ns"] / 1e9 - told[f"{name}_s"]
            assert abs(late_s) < slack_s, (name, late_s)
        assert row["name"] == NAME
    paths = [path.partition("?")[0] for path in TALKS[talk].paths]
    if TALKS[talk].at_once:
        assert (found[0]["requests"], found[0]["path"]) == (len(paths), paths[0])
        paths = paths[:1]
    waits_ms = [int(path[1:]) for path in paths]
    if not TALKS[talk].tls:
        assert [row["path"] for row in found] == paths
        assert all((row["method"], row["status"]) == ("GET", 200) for row in found)
        assert "secret" not in json.dumps(found)
    for row, wait_ms in zip(found, waits_ms, strict=True):
        if wait_ms > 100:
            assert row["owner"] == "server"
            assert row["owner_ns"] >= wait_ms * 1_000_000 * 0.98


def test_a_proxy_waited_for_what_stands_behind_it(captures: Path) -> None:
    files = [str(captures / f"proxy.{place}.pcap") for place in ("server", "loopback")]
    page = CliRunner().invoke(app, ["trace", "--json", "--whatif", "none", *files])
    assert page.exit_code == 0, page.output
    slowest = json.loads(page.stdout)["requests"]["slowest"]
    front = [one for one in slowest if one["flow"].endswith(" > 10.0.0.1:8080")]
    assert [one["path"] for one in front] == ["/1200", "/300"]
    for one in front:
        assert one["behind"]["flow"].endswith(" > 127.0.0.1:9000")
        assert one["behind"]["path"] == one["path"]
        assert one["behind"]["owner"] == "server"

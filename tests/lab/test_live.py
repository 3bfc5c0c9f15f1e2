"""This machine's own kernel in real time, held against a kernel in virtual time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from tests.lab.conftest import Lab, Run, User, sets
from tests.lab.test_leftovers import descendants
from tests.processes import state

FORBIDDEN = ("cannot make namespaces", "TUN devices", "AppArmor")
"""What a host says that has not what the engine needs."""

CHANGES = sets("network=mobile", "tcp.congestion_control=reno", "loss.segments=0,5")


def run_live(me: User, out: Path, *words: str, scenario: str = "smoke") -> Run:
    done = Lab(me).rexmit("run", scenario, "--engine", "live", *words, "--out", str(out))
    if done.status and (why := [line for line in FORBIDDEN if line in done.err]):
        pytest.skip(f"this machine has no {why[0]}: {done.err}")
    return Run(out, done)


@pytest.fixture(scope="module")
def live(me: User, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = run_live(me, tmp_path_factory.mktemp("live") / "run", *CHANGES, "--capture")
    run.done.ok()
    return run


def test_real_time_has_the_tables_of_virtual_time(me: User, live: Run, tmp_path: Path) -> None:
    out = tmp_path / "virtual"
    Lab(me).rexmit("run", "smoke", "--kernel", "6.12", *CHANGES, "--out", str(out)).ok()
    virtual = Run(out, Lab(me).rexmit("show", str(out)).ok())
    assert live.transfers.columns == virtual.transfers.columns
    assert live.transfers["complete"].all()
    for mine, theirs in zip(live.transfers.to_dicts(), virtual.transfers.to_dicts(), strict=True):
        cell = (mine["config"], mine["lost_segments"], mine["repetition"])
        assert cell == (theirs["config"], theirs["lost_segments"], theirs["repetition"])
        for name in ("mechanism", "dropped_segments", "timeouts", "probes"):
            assert mine[name] == theirs[name], (cell, name)
        # A tick of timers, and what real work takes.
        assert mine["t_total_s"] == pytest.approx(theirs["t_total_s"], rel=0.1, abs=0.05), cell


def test_a_link_says_how_late_it_is_and_delays_by_what_it_is_to(live: Run) -> None:
    late = live.meta["lateness"]
    assert late["packets"] > 1000
    assert 0 <= late["median_ns"] <= late["p99_ns"] <= late["most_ns"]
    assert live.meta["engine"] == "live"
    assert live.meta["kernel"]["version"] == os.uname().release
    for row in live.rows(lost_segments=0):
        left = {one.seq: one.time_ns for one in live.capture(row, "h1") if one.sport == 80}
        came = [one for one in live.capture(row, "h2") if one.sport == 80 and one.payload_len]
        # 2 links of 25 ms, and at 7.2 Mbit/s 1.7 ms for a full frame on each.
        least = min(one.time_ns - left[one.seq] for one in came)
        assert 50e6 <= least < 55e6 + late["most_ns"]


LINES = """format = 1
[networks.plain]
rate = "10Mbit"
delay = "10ms"
[networks.policer]
rate = "10Mbit"
delay = "10ms"
links = [{ policer = { rate = "2Mbit", burst = "15kB" } }, {}]
[networks.stalls]
rate = "10Mbit"
delay = "10ms"
links = [{ stalls = { every = "20ms", least = "100ms", most = "200ms" } }, {}]
[networks.duplicate]
rate = "10Mbit"
delay = "10ms"
links = [{ duplicate = "50%" }, {}]
[configs.one]
[tcp]
congestion_control = "reno"
[workload]
segments = 200
"""


def test_links_do_what_netem_cannot(me: User, tmp_path: Path) -> None:
    scenario = tmp_path / "lines.toml"
    scenario.write_text(LINES, encoding="utf-8")
    run = run_live(me, tmp_path / "run", "--capture", scenario=str(scenario))
    run.done.ok()
    assert " of real time in " in run.done.text
    rows = {row["network"]: row for row in run.transfers.to_dicts()}
    assert all(row["complete"] for row in rows.values())
    crossed = {}
    for name, row in rows.items():
        sent, came = (
            [one for one in run.capture(row, host) if one.sport == 80 and one.payload_len]
            for host in ("h1", "h2")
        )
        crossed[name] = len(came) / len(sent)
    assert crossed["plain"] == crossed["stalls"] == 1
    assert crossed["duplicate"] == pytest.approx(1.5, abs=0.15)
    assert crossed["policer"] < 0.99
    assert rows["policer"]["retransmissions"] > 0
    # Each stall ends 100 ms later at least; of some 200 ms they come every 20 ms.
    assert rows["stalls"]["client_s"] > rows["plain"]["client_s"] + 0.3


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("workload.server=burst", "workload.server: live links carry pages"),
        ("networks.mobile.at=host", "networks.mobile.at: live links lie behind their hosts"),
        ("offload.segmentation=true", "a TUN device hands out single packets"),
        ("configs.tlp.sysctl.net.core.rmem_max=100000", "no setting of a network namespace here"),
        ("tcp.congestion_control=dctcpx", "hosts cannot choose it here"),
    ],
)
@pytest.mark.usefixtures("live")
def test_what_it_cannot_do_is_refused_before_a_cell_runs(
    me: User, tmp_path: Path, change: str, why: str
) -> None:
    more = sets("offload.checksum=true") if "offload" in change else ()
    run = run_live(me, tmp_path / "run", *sets("network=mobile", change), *more)
    assert run.done.status == 2
    assert why in run.done.err
    assert not run.path.exists()


@pytest.mark.usefixtures("live")
def test_nothing_outlives_a_call_that_is_killed(me: User, tmp_path: Path) -> None:
    words = ("--engine", "live", *CHANGES, "--out", str(tmp_path / "run"))
    process = Lab(me).start("run", "smoke", *words)
    try:
        until = time.monotonic() + 60
        below: list[int] = []
        # The guest program, process 1 of its namespace, a web server.
        while len(below) < 3 and time.monotonic() < until:
            time.sleep(0.05)
            below = descendants(process.pid)
        assert len(below) >= 3
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    until = time.monotonic() + 20
    while any(state(pid) not in ("", "Z", "X") for pid in below) and time.monotonic() < until:
        time.sleep(0.01)
    assert not [pid for pid in below if state(pid) not in ("", "Z", "X")]
    there = [one.name for one in Path("/sys/class/net").iterdir()]
    assert not [name for name in there if name.startswith(("h1-", "h2-"))]

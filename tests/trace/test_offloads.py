"""A live Linux sender with segmentation offload, and with pacing: what is said of its capture.

Needs root, network namespaces and packet sockets; skips itself elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.real import oracle, packets

from rexmit.tracing.memory import tables

WIRE = Path(__file__).with_name("offloads.py")
MSS = 1448
SIZES = (6_000_000, 1_000_000, 1_000_000)
LOST = 0.01
BY_TIME = {"rack", "tlp", "rto", "rto-recovery"}


def _may() -> bool:
    tools = all(map(shutil.which, ("ip", "unshare", "tshark")))
    if not tools or os.geteuid() != 0:
        return False
    own = "ip link add v0 type veth peer name v1 && ip link set v0 up"
    return subprocess.run(["unshare", "-n", "sh", "-c", own], check=False).returncode == 0


@pytest.fixture(scope="module", autouse=True)
def _live() -> None:
    if not _may():
        pytest.skip("no namespaces with devices here")


def _has(control: str) -> bool:
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    return control in known.read_text().split()


@pytest.mark.slow
@pytest.mark.parametrize("control", ["cubic", "bbr"])
def test_a_sender_whose_card_cuts_segments_is_named(control: str, tmp_path: Path) -> None:
    if not _has(control):
        pytest.skip(f"this kernel has no {control}")
    pcap = tmp_path / "sender.pcap"
    words = ["unshare", "-n", sys.executable, WIRE, "capture", control, pcap, LOST, 7, *SIZES]
    subprocess.run([str(word) for word in words], check=True, timeout=120)

    seen = oracle.account(packets.read(pcap))
    certain = {(one.packet.time_ns, one.packet.seq) for one in seen if one.kind == "certain"}
    found = tables(pcap)
    data = found.retransmissions
    rows = {(time, seq % 2**32) for time, seq in data.select("time_ns", "seq_start").rows()}
    assert len(certain) > 20, "the wire loses more than that"
    assert not certain - rows, "every certain retransmission has a row"

    sides = found.sides.filter(pl.col("direction") == "backward", pl.col("segments") > 0)
    assert sides.height == len(SIZES)
    assert (sides["wire_segments"] > sides["segments"]).all(), "cut on the way"
    assert sides["syn_system"].to_list() == ["linux-6"] * len(SIZES)
    assert sides["stack"][0] == "linux-6"
    assert set(sides["stack"].drop_nulls()) <= {"linux-6", "several"}
    # In real time: where this machine was busy, a few are left open.
    named = data.filter(pl.col("mechanism") != "unknown")
    assert set(named["mechanism"]) <= BY_TIME
    assert named.height > 0.9 * data.height

"""A kernel that looks for its own defects: the packets of the plain one, and what it finds.

It takes long to build, so that these tests are left out where there is none.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.conftest import Lab, Run

from rexmit import _core, kernels
from rexmit.errors import UserError

PLANTED = Path(__file__).with_name("planted.patch")
"""Defects in the kernel's code. TCP_CONGESTION with the name of one comes upon it."""

ASKING = """
import socket, sys
with socket.socket() as asked:
    try:
        asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
    except FileNotFoundError:
        pass
"""

SYN, ACK = 2, 16
JIFFY_NS = 4_000_000
"""Of these kernels, HZ 250."""

GRID = ("network=high-speed,mobile", "config=er,tlp", "loss.segments=0,5", "repeat=3")


def built(lab: Lab, words: str, command: str) -> Lab:
    """On such a kernel."""
    try:
        kernels.find(f"{lab.kernel}+{words}")
    except UserError:
        pytest.skip(f"not built: rexmit kernel build {lab.kernel} {command}")
    return replace(lab, kernel=f"{lab.kernel}+{words}")


def packets(run: Run) -> dict[str, list[tuple[int, tuple[object, ...]]]]:
    """Of each capture when each packet came by, and what it was. Which numbers a connection begins
    with is chance."""
    return {path.name: told(_core.read_pcapng(path)) for path in (run.path / "captures").iterdir()}


def told(capture: list[_core.Packet]) -> list[tuple[int, tuple[object, ...]]]:
    isn = {packet.sport == 80: packet.seq for packet in capture if packet.flags & SYN}
    rows: list[tuple[int, tuple[object, ...]]] = []
    for packet in capture:
        from_server = packet.sport == 80
        seq = (packet.seq - isn[from_server]) % 2**32
        ack = (packet.ack - isn[not from_server]) % 2**32 if packet.flags & ACK else None
        sack = [(end - isn[not from_server]) % 2**32 for block in packet.sack for end in block]
        what = (from_server, packet.flags, seq, ack, packet.payload_len, packet.window, *sack)
        rows.append((packet.time_ns - capture[0].time_ns, what))
    return rows


def test_its_packets_are_those_of_the_plain_kernel(each: Lab) -> None:
    debug = built(each, "debug", "--debug")
    plain, checked = (packets(lab.run(*GRID, options=("--capture",))) for lab in (each, debug))
    assert plain.keys() == checked.keys()
    assert sum(map(len, plain.values())) > 1000
    for name, expected in plain.items():
        seen = checked[name]
        assert [what for _, what in seen] == [what for _, what in expected], name
        apart = [abs(a - b) for (a, _), (b, _) in zip(seen, expected, strict=True)]
        assert max(apart) <= JIFFY_NS, name


@pytest.mark.parametrize(
    ("defect", "said"),
    [
        ("warn", r"WARNING: CPU: 0 PID: \d+ at net/ipv4/tcp_cong\.c:\d+"),
        ("free", r"BUG: KASAN: (slab-)?use-after-free in tcp_set_congestion_control\+"),
        ("lock", r"WARNING: possible circular locking dependency detected"),
        ("count", r"refcount_t: decrement hit 0; leaking memory"),
        ("shift", r"UBSAN: shift-out-of-bounds in net/ipv4/tcp_cong\.c:\d+"),
    ],
)
def test_a_planted_defect_is_a_splat_with_its_line(each: Lab, defect: str, said: str) -> None:
    planted = built(each, "planted+debug", f"--debug --patch {PLANTED}")
    done = planted.exec(sys.executable, "-c", ASKING, f"planted-{defect}")
    if (each.kernel, defect) == ("6.1", "shift"):
        # UBSAN checks only files that ask for it.
        done.ok()
        return
    assert done.status == 3, done.err
    assert re.search(said, done.err)
    assert re.search(
        r"tcp_set_congestion_control\+0x\w+/0x\w+ \(.*\bnet/ipv4/tcp_cong\.c:[34][0-9]{2}\)",
        done.err,
    )


def test_without_a_defect_there_is_no_splat(each: Lab) -> None:
    planted = built(each, "planted+debug", f"--debug --patch {PLANTED}")
    planted.exec(sys.executable, "-c", ASKING, "planted-none").ok()

"""Linux's own CoDel, in the numbers that ours is tested by (crates/sim/src/link/aqm/tests.rs)."""

from __future__ import annotations

import json
import sys
from itertools import accumulate
from math import sqrt
from typing import Final

import pytest
from tests.lab.conftest import KERNELS, Lab, User

OVERLOAD: Final = """
import ctypes, json, socket, struct, subprocess, time

ctypes.CDLL(None).prctl(29, 1)  # PR_SET_TIMERSLACK
def run(line):
    subprocess.run(line.split(), check=True)
run("ip link add name near type veth peer name far")
for end in ("near", "far"):
    run(f"ip link set {end} addrgenmode none")
    run(f"ip link set {end} up")
run("tc qdisc add dev near root handle 1: tbf rate 10mbit burst 1300 limit 100000")
run("tc qdisc add dev near parent 1: fq_codel flows 1 limit 10240 target 5ms interval 100ms noecn")
ours = 0x88B5
def end(name, force):
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ours))
    one.setsockopt(socket.SOL_SOCKET, force, 1 << 25)
    one.bind((name, ours))
    return one
to, of = end("near", 32), end("far", 33)  # SO_SNDBUFFORCE, SO_RCVBUFFORCE
of.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
begin = time.time_ns() + 10_000_000
for number in range(1200):
    wait = begin + number * 500_000 - time.time_ns()
    if wait > 0:
        time.sleep(wait / 1e9)
    head = bytes(6) + bytes(6) + struct.pack("!HI", ours, number)
    to.send(head + bytes(1250 - len(head)))
time.sleep(1)
of.setblocking(False)
came = []
while True:
    try:
        frame, control, _, _ = of.recvmsg(2000, 200)
    except BlockingIOError:
        break
    seconds, nanos = struct.unpack("qq", control[0][2])
    at = seconds * 10**9 + nanos - begin
    came.append(((at) / 1e6, struct.unpack("!I", frame[14:18])[0]))
print(json.dumps(came))
"""
"""1,250 bytes every half millisecond, of which a line of 10 Mbit/s carries half, for 600 ms."""


def law() -> list[float]:
    """When Linux drops, ms after the first drop: interval/sqrt(n), the root by one of Newton's
    steps a drop (`codel_Newton_step`), which is short of it at first. RFC 8289 has the root.
    """
    inverse, gaps = 1.0, [0.0, 100.0]
    for count in range(2, 9):
        inverse *= (3 - count * inverse * inverse) / 2
        gaps.append(100 * inverse)
    assert inverse == pytest.approx(1 / sqrt(8), rel=0.01)
    return list(accumulate(gaps))


@pytest.mark.parametrize("kernel", KERNELS)
def test_linux_drops_as_ours_but_for_its_root(me: User, kernel: str) -> None:
    done = Lab(me, kernel).exec(sys.executable, "-I", "-S", "-c", OVERLOAD).ok()
    came = json.loads(done.text)
    hits = []
    expected = 0
    for at, number in came:
        # It was taken out of the queue a millisecond before, when the line was free for it.
        hits += [at - 1] * (number - expected)
        expected = number + 1
    # As ours an interval after the first wait of 5 ms.
    long = next(at - 1 for at, number in came if at - 1 - number / 2 >= 5)
    assert 99.9 <= hits[0] - long <= 101.1
    for hit, due in zip(hits, law(), strict=False):
        assert due - 0.1 <= hit - hits[0] <= due + 1.1, hits
    assert len(hits) > len(law())

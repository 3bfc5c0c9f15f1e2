"""The network of `kernel exec --net`: its hosts meet in the time that the links say."""

from __future__ import annotations

import sys

import pytest
from tests.lab.conftest import Lab

ECHO = """
import socket, sys, time
role, address = sys.argv[1:3]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
plug = socket.socket(family, socket.SOCK_DGRAM)
if role == "serve":
    plug.bind((address, 7))
    while True:
        data, caller = plug.recvfrom(2000)
        plug.sendto(data, caller)
plug.settimeout(10)
for size in map(int, sys.argv[3:]):
    begin = time.monotonic_ns()
    plug.sendto(bytes(size), (address, 7))
    assert len(plug.recvfrom(2000)[0]) == size
    print(time.monotonic_ns() - begin)
"""

PING = """
    code=$1 python=$2 here=$3 there=$4 address=$5; shift 5
    [ "$(ip netns identify)" = "$here" ] || [ -e "/sys/class/net/$here-eth0" ] || exit 9
    ip netns exec "$there" "$python" -I -S -c "$code" serve "$address" &
    sleep 0.1
    "$python" -I -S -c "$code" ping "$address" "$@"
"""


def round_trips(lab: Lab, sizes: tuple[int, ...], *settings: str, host: str = "h1") -> list[float]:
    """Milliseconds that datagrams with these payloads take to the other host and back."""
    other = "h2" if host == "h1" else "h1"
    family_6 = "ip.family=6" in settings
    address = ("fd00::" if family_6 else "10.0.0.") + other[1]
    words = (ECHO, sys.executable, host, other, address, *map(str, sizes))
    done = lab.sh(PING, *words, options=lab.on_network(*settings, host=host)).ok()
    return [int(line) / 1e6 for line in done.lines]


def expected(delay_ms: float, rate_bps: float, payload: int, headers: int = 42) -> float:
    """Two links, two ways: each with its delay and the time that the frame takes to be sent."""
    return 4 * (delay_ms + (payload + headers) * 8 / rate_bps * 1e3)


def test_a_round_trip_takes_what_the_links_say(each: Lab) -> None:
    sizes = (1, 1000, 1472, 1)
    found = round_trips(each, sizes, "network=high-speed", host="h2")
    wanted = [expected(2.5, 100e6, size) for size in sizes]
    # The looks at the clock and the wires' own microseconds.
    assert found == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize(
    ("network", "delay_ms", "rate_bps"), [("mobile", 25, 7.2e6), ("satellite", 200, 1e6)]
)
def test_the_slow_networks_are_as_slow_as_they_should_be(
    lab: Lab, network: str, delay_ms: float, rate_bps: float
) -> None:
    found = round_trips(lab, (1, 1472), f"network={network}")
    wanted = [expected(delay_ms, rate_bps, size) for size in (1, 1472)]
    assert found == pytest.approx(wanted, abs=0.01)


def test_ipv6(lab: Lab) -> None:
    found = round_trips(lab, (1, 1452), "network=high-speed", "ip.family=6")
    assert found == pytest.approx([expected(2.5, 100e6, n, 62) for n in (1, 1452)], abs=0.015)


def test_at_the_host_a_lone_packet_passes_in_one_burst(lab: Lab) -> None:
    # htb's burst of 15 kB, as mininet has it: only the delay is left.
    found = round_trips(lab, (1, 1472), "network=high-speed", "networks.high-speed.at=host")
    assert found == pytest.approx([10, 10], abs=0.01)


def test_links_may_differ(lab: Lab) -> None:
    links = '[{rate="10Mbit",delay="1ms"},{rate="1Mbit",delay="30ms"}]'
    found = round_trips(lab, (1000,), "network=high-speed", f"networks.high-speed.links={links}")
    wanted = (expected(1, 10e6, 1000) + expected(30, 1e6, 1000)) / 2
    assert found == pytest.approx([wanted], abs=0.01)


def test_offloads_are_off_and_the_route_is_as_it_should_be(each: Lab) -> None:
    script = """
        ip -o link show dev h1-eth0 | grep -o 'gso_max_segs [0-9]*' || ip -d link show dev h1-eth0 |
            grep -o 'gso_max_segs [0-9]*'
        ip -o -4 address show dev h1-eth0 | grep -o 'inet [^ ]*'
        ip route get 10.0.0.2 | grep -o 'dev [^ ]*'
        ip netns list | sort | cut -d ' ' -f 1
    """
    done = each.sh(script, options=each.on_network("network=high-speed")).ok()
    wanted = ["gso_max_segs 1", "inet 10.0.0.1/24", "dev h1-eth0", "h1", "h2", "s1"]
    assert done.lines == wanted


def test_without_a_network_there_is_none(lab: Lab) -> None:
    done = lab.sh("ls /sys/class/net; ip netns list").ok()
    assert done.lines == ["dummy0", "lo"]

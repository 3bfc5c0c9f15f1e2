"""Connections with one trouble each, of real programs: this file runs inside a kernel.

`python scenes.py NAME...` sets up the network of each scene, runs its server on h1 and its client
on h2, and leaves `NAME.server.pcap`, `NAME.midway.pcap` and `NAME.client.pcap` in the folder
`$REXMIT_SCRATCH`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PORT = 8080
SERVER = "10.0.0.1"
PLACES = {"server": ("h1", "h1-eth0"), "midway": ("s1", "s1-eth2"), "client": ("h2", "h2-eth0")}
TO_CLIENT, TO_SERVER = ("s1-wire1", "h2-wire"), ("s1-wire2", "h1-wire")
"""Devices of the switch in whose queues packets wait on their way."""


@dataclass(frozen=True)
class Scene:
    """A network, and what both programs do: the server answers each of `requests` with `size`
    bytes, after `thinks_s`; the client waits for `before_s` before the first.
    """

    size: int = 20_000
    requests: int = 3
    thinks_s: float = 0
    before_s: float = 0
    receive: int | None = None
    """What the client's socket takes."""
    writes: bool = False
    """The client writes each request in two pieces, and waits."""
    gives_up_s: float = 20
    """The client waits no longer for an answer."""
    answers: int = 1_000
    """So many requests are answered."""
    delay_ms: float = 5
    """Of each of the two links, one way."""
    rate: str = "100Mbit"
    loss: str = "0%"
    """Of the link to the client."""
    setup: tuple[str, ...] = ()
    """Commands beforehand, the first word of each the host that it runs on."""
    later: tuple[str, ...] = ()
    """Commands 0.3 s after the client has begun."""


def losing(device: str, part: str) -> str:
    """A link of the switch with other loss."""
    at = f"s1 tc qdisc change dev {device} parent 1:1 handle 10:"
    return f"{at} netem limit 1000 delay 5ms rate 100Mbit loss {part}"


SCENES = {
    "healthy": Scene(requests=10),
    "server": Scene(thinks_s=2.5),
    "client": Scene(before_s=1.5),
    "receiver-window": Scene(size=800_000, requests=1, receive=16_000, delay_ms=20),
    "policer": Scene(
        size=3_000_000,
        requests=1,
        delay_ms=10,
        # A token bucket with room for two packets: what finds no token is dropped.
        setup=("s1 tc qdisc add dev s1-eth2 root tbf rate 4mbit burst 120kb limit 3100",),
    ),
    "small-window": Scene(size=2_000_000, requests=1, delay_ms=30, loss="3%"),
    "path-rate": Scene(size=2_000_000, requests=1, rate="8Mbit"),
    "sender": Scene(
        size=1_500_000,
        requests=1,
        setup=("h1 tc qdisc replace dev h1-eth0 root fq maxrate 4mbit",),
    ),
    "nagle": Scene(size=20, requests=25, writes=True),
    "connecting": Scene(setup=(losing("h1-wire", "100%"),), later=(losing("h1-wire", "0%"),)),
    "unanswered": Scene(answers=2, gives_up_s=4),
    "peer-gone": Scene(
        size=20_000_000,
        requests=1,
        gives_up_s=8,
        later=("h2 ip link set h2-eth0 down",),
    ),
    "path-mtu": Scene(size=60_000, requests=1, setup=("s1 ip link set s1-eth2 mtu 1300",)),
}


def run(*words: str) -> None:
    """A command on a host, which is the first word."""
    subprocess.run(["ip", "netns", "exec", *words], check=True)


def shape(scene: Scene) -> None:
    """The links as the scene has them."""
    for device in ("h1 h1-eth0", "s1 s1-eth2"):
        host, name = device.split()
        words = ["ip", "netns", "exec", host, "tc", "qdisc", "del", "dev", name, "root"]
        subprocess.run(words, check=False, stderr=subprocess.DEVNULL)
    run("s1", "ip", "link", "set", "s1-eth2", "mtu", "1500")
    run("h2", "ip", "link", "set", "h2-eth0", "up")
    for device in (*TO_CLIENT, *TO_SERVER):
        loss = scene.loss if device == "h2-wire" else "0%"
        queue = f"netem limit 1000 delay {scene.delay_ms}ms rate {scene.rate} loss {loss}"
        change = f"tc qdisc change dev {device} parent 1:1 handle 10:"
        run("s1", *change.split(), *queue.split())
    for command in scene.setup:
        run(*command.split())
    for host in ("h1", "h2"):
        run(host, "ip", "tcp_metrics", "flush")


def serve(scene: Scene) -> None:
    listening = socket.create_server((SERVER, PORT))
    while True:
        one, _ = listening.accept()
        with one, suppress(OSError):
            for number in range(scene.requests):
                while not one.recv(100).endswith(b"\n"):
                    pass
                time.sleep(scene.thinks_s if number < scene.answers else 3600)
                one.sendall(b"x" * scene.size)


def fetch(scene: Scene) -> None:
    to = socket.socket()
    if scene.receive is not None:
        to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, scene.receive)
    to.connect((SERVER, PORT))
    to.settimeout(scene.gives_up_s)
    time.sleep(scene.before_s)
    with suppress(OSError):
        for _ in range(scene.requests):
            if scene.writes:
                to.sendall(b"head")
            to.sendall(b"GET /\n")
            missing = scene.size
            while missing > 0 and (some := to.recv(65_536)):
                missing -= len(some)
    to.close()


def watched(name: str, folder: Path) -> None:
    """Runs a scene between three monitors."""
    scene = SCENES[name]
    shape(scene)
    words = ["tcpdump", "-U", "-w", "-", "tcp", "-i"]
    captures = [
        subprocess.Popen(
            ["ip", "netns", "exec", host, *words, device],
            stdout=(folder / f"{name}.{place}.pcap").open("wb"),
            stderr=subprocess.DEVNULL,
        )
        for place, (host, device) in PLACES.items()
    ]
    time.sleep(0.5)
    program = [sys.executable, __file__, name]
    server = subprocess.Popen(["ip", "netns", "exec", "h1", *program, "serve"])
    time.sleep(0.5)
    client = subprocess.Popen(["ip", "netns", "exec", "h2", *program, "fetch"])
    time.sleep(0.3)
    for command in scene.later:
        run(*command.split())
    client.wait()
    time.sleep(1)
    server.kill()
    time.sleep(0.2)
    for capture in captures:
        capture.terminate()
        capture.wait()


PROGRAMS: dict[str, Callable[[Scene], None]] = {"serve": serve, "fetch": fetch}

if __name__ == "__main__":
    match sys.argv[1:]:
        case [name, program] if program in PROGRAMS:
            PROGRAMS[program](SCENES[name])
        case names:
            for name in names or SCENES:
                watched(name, Path(os.environ["REXMIT_SCRATCH"]))

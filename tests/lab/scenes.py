"""Connections with one trouble each, and talks whose requests are known, of real programs: this
file runs inside a kernel.

`python scenes.py NAME...` sets up the network of each scene, runs its server on h1 and its client
on h2, and leaves `NAME.server.pcap`, `NAME.midway.pcap` and `NAME.client.pcap` in the folder
`$REXMIT_SCRATCH`; of a talk also `NAME.loopback.pcap`, what came by within h1, and what its client
asked, `NAME.asked.json`.
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
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
    paths: tuple[str, ...] = ()
    """Of a talk: what the client asks for, in HTTP/1.1; the server thinks for so many ms as each
    path's number says."""
    at_once: bool = False
    """The client sends all requests at once."""
    tls: bool = False
    proxy: bool = False
    """nginx stands before the server, on the same host."""


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

PATHS = ("/300?token=secret", "/20", "/1200", "/0")

TALKS = {
    "kept": Scene(paths=PATHS),
    "pipelined": Scene(paths=PATHS, at_once=True),
    # An answer is one record: the client has nothing of it before it has all. The tickets that
    # follow the set-up have come when it asks.
    "tls": Scene(paths=PATHS, tls=True, size=4_000, before_s=0.1),
    "proxy": Scene(paths=PATHS, proxy=True),
}

NAME = "shop.example"
BACKEND = ("127.0.0.1", 9_000)


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


def answer(scene: Scene) -> None:
    """Answers requests of HTTP/1.1, one after the other on each connection."""
    folder = Path(os.environ["REXMIT_SCRATCH"])
    if scene.proxy:
        # It wants to own its folders, which it may where files are the kernel's own.
        own = Path(tempfile.mkdtemp(dir="/dev/shm"))
        (own / "nginx.conf").write_text(NGINX.format(folder=own))
        subprocess.Popen(["nginx", "-c", str(own / "nginx.conf")])
    listening = socket.create_server(BACKEND if scene.proxy else (SERVER, PORT))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if scene.tls else None
    if context is not None:
        context.load_cert_chain(folder / "certificate", folder / "key")
    while True:
        one, _ = listening.accept()
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with (
            suppress(OSError),
            one if context is None else context.wrap_socket(one, server_side=True) as to,
        ):
            heads = b""
            while some := to.recv(65_536):
                heads += some
                while b"\r\n\r\n" in heads:
                    head, _, heads = heads.partition(b"\r\n\r\n")
                    path = head.split()[1].decode()
                    time.sleep(int(path.partition("?")[0][1:]) / 1_000)
                    length = f"HTTP/1.1 200 OK\r\nContent-Length: {scene.size}\r\n\r\n"
                    to.sendall(length.encode() + b"x" * scene.size)


NGINX = """
daemon off; master_process off; user root; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 10.0.0.1:8080; location / {{ proxy_pass http://127.0.0.1:9000; }} }}
}}
"""


def ask(scene: Scene) -> None:
    """Asks for each path, and writes down when the answers came."""
    to = socket.create_connection((SERVER, PORT), timeout=scene.gives_up_s)
    to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if scene.tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        to = context.wrap_socket(to, server_hostname=NAME)
    time.sleep(scene.before_s)
    heads = [f"GET {path} HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode() for path in scene.paths]
    told = []
    for some in [heads] if scene.at_once else [[head] for head in heads]:
        start = time.time()
        to.sendall(b"".join(some))
        text, first = b"", None
        for _ in some:
            while b"\r\n\r\n" not in text:
                text += to.recv(65_536)
                first = first or time.time()
            _, _, text = text.partition(b"\r\n\r\n")
            missing = scene.size - len(text)
            text = b""
            while missing > 0:
                more = to.recv(65_536)
                text, missing = more[missing:], missing - len(more)
        told.append({"start_s": start, "first_s": first, "last_s": time.time()})
    to.close()
    asked = Path(os.environ["REXMIT_SCRATCH"]) / f"{sys.argv[1]}.asked.json"
    asked.write_text(json.dumps(told))


def watched(name: str, folder: Path) -> None:
    """Runs a scene, or a talk, between its monitors."""
    scene = (SCENES | TALKS)[name]
    shape(scene)
    places, programs = PLACES, ("serve", "fetch")
    if name in TALKS:
        places, programs = PLACES | {"loopback": ("h1", "lo")}, ("answer", "ask")
    if scene.tls:
        subprocess.run([*CERTIFICATE, "-keyout", folder / "key"], check=True, cwd=folder)
    words = ["tcpdump", "-U", "-w", "-", "tcp", "-i"]
    captures = [
        subprocess.Popen(
            ["ip", "netns", "exec", host, *words, device],
            stdout=(folder / f"{name}.{place}.pcap").open("wb"),
            stderr=subprocess.DEVNULL,
        )
        for place, (host, device) in places.items()
    ]
    time.sleep(0.5)
    program = [sys.executable, __file__, name]
    server = subprocess.Popen(["ip", "netns", "exec", "h1", *program, programs[0]])
    time.sleep(0.5)
    client = subprocess.Popen(["ip", "netns", "exec", "h2", *program, programs[1]])
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


CERTIFICATE = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
CERTIFICATE += ["ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={NAME}"]
CERTIFICATE += ["-out", "certificate"]

PROGRAMS: dict[str, Callable[[Scene], None]] = {
    "serve": serve,
    "fetch": fetch,
    "answer": answer,
    "ask": ask,
}

if __name__ == "__main__":
    match sys.argv[1:]:
        case [name, program] if program in PROGRAMS:
            PROGRAMS[program]((SCENES | TALKS)[name])
        case names:
            for name in names or SCENES:
                watched(name, Path(os.environ["REXMIT_SCRATCH"]))

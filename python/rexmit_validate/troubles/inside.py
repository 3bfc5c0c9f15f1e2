"""What makes the captures of scenes: this file runs inside a kernel, on its network of two hosts.

`python -m rexmit_validate.troubles.inside NAME...` sets up the network of each scene, runs its
server on h1 and its client on h2, and leaves a capture at each place in `$REXMIT_SCRATCH`.
"""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from rexmit_validate.troubles.scenes import PLACES, PORT, SERVER, Pace, Scene, of_variant

MODULE: Final = "rexmit_validate.troubles.inside"
HEAD: Final = 120
"""Bytes of a request: a number, how many bytes follow, and the end of the line."""
SEEN: Final = ("tcp or icmp or udp port 53",)
SNAPLEN: Final = 1_000
"""Bytes kept of a packet: all of what begins a request."""
DNS: Final = 53
ASKS_FOR_S: Final = 2.0
"""A client asks a name server again after so long, and gives up when it has asked twice."""
DEVICES: Final = {
    "server": ("h1", "h1-eth0"),
    "midway": ("s1", "s1-eth2"),
    "client": ("h2", "h2-eth0"),
}
TO_CLIENT: Final = ("s1-wire1", "h2-wire")
TO_SERVER: Final = ("s1-wire2", "h1-wire")
"""Devices of the switch in whose queues packets wait on their way."""

NAME: Final = "shop.example"


def run(*words: str) -> None:
    """A command on a host, which is the first word."""
    subprocess.run(["ip", "netns", "exec", *words], check=True)


def shape(scene: Scene) -> None:
    """The links as the scene has them."""
    for host, name in (("h1", "h1-eth0"), ("s1", "s1-eth1"), ("s1", "s1-eth2")):
        words = ["ip", "netns", "exec", host, "tc", "qdisc", "del", "dev", name, "root"]
        subprocess.run(words, check=False, stderr=subprocess.DEVNULL)
    run("s1", "ip", "link", "set", "s1-eth2", "mtu", "1500")
    for host in ("h1", "h2"):
        run(host, "ip", "link", "set", f"{host}-eth0", "up")
    run("h1", "sysctl", "-qw", "net.ipv4.tcp_mtu_probing=0")
    forth, back = (TO_SERVER, TO_CLIENT) if scene.upload else (TO_CLIENT, TO_SERVER)
    slow, slow_back = (forth[0], back[1]) if scene.near else (forth[1], back[0])
    for device in (*forth, *back):
        queue = f"netem limit 5000 delay {scene.delay_ms}ms rate 100Mbit"
        if device == slow:
            queue = f"netem limit {scene.limit} delay {scene.delay_ms}ms rate {scene.rate}"
            queue += f" {scene.trouble}"
            if "reorder" in scene.trouble:
                queue = f"netem limit 5000 delay {scene.delay_ms}ms {scene.trouble}"
        if device == slow_back:
            queue += f" {scene.back}"
        change = f"tc qdisc change dev {device} parent 1:1 handle 10:"
        run("s1", *change.split(), *queue.split())
    for command in scene.setup:
        run(*command.split())
    for host in ("h1", "h2"):
        run(host, "ip", "tcp_metrics", "flush")


def _line(one: socket.socket) -> int:
    """The number of bytes that a request has behind its first line; -1 at its end."""
    line = b""
    while not line.endswith(b"\n"):
        some = one.recv(1)
        if not some:
            return -1
        line += some
    return int(line)


def _take(one: socket.socket, size: int, pace: Pace) -> None:
    time.sleep(pace.first_s if size else 0)
    while size > 0 and (some := one.recv(min(size, pace.piece))):
        size -= len(some)
        time.sleep(pace.pause_s)


def _give(one: socket.socket, size: int, pace: Pace) -> None:
    while size > 0:
        some = min(size, pace.piece)
        one.sendall(b"x" * some)
        size -= some
        time.sleep(pace.pause_s if size else 0)


def _buffers(one: socket.socket, scene: Scene, sends: bool) -> None:
    pace, option = (scene.writes, socket.SO_SNDBUF) if sends else (scene.reads, socket.SO_RCVBUF)
    if pace.buffer is not None:
        one.setsockopt(socket.SOL_SOCKET, option, pace.buffer)


def _answer_names(scene: Scene) -> None:
    """Answers questions of DNS (RFC 1035 §4.1), late, but for those that it does not hear."""
    late_s, unheard = scene.looks_up or (0, 0)
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((SERVER, DNS))
    address = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(SERVER)
    while True:
        question, asker = one.recvfrom(512)
        if unheard:
            unheard -= 1
            continue
        time.sleep(late_s)
        one.sendto(question[:2] + b"\x81\x80\0\1\0\1" + question[8:] + address, asker)


def _look_up() -> bool:
    """Whether a name server tells the address of the server."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in NAME.split("."))
    question = b"\7\7\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\0\1\0\1"
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.settimeout(ASKS_FOR_S)
    for _ in range(2):
        one.sendto(question, (SERVER, DNS))
        with suppress(TimeoutError):
            return bool(one.recv(512))
    return False


def serve(scene: Scene) -> None:
    """Answers one connection after the other."""
    if scene.looks_up is not None:
        threading.Thread(target=_answer_names, args=(scene,), daemon=True).start()
    folder = Path(os.environ["REXMIT_SCRATCH"])
    listening = socket.create_server((SERVER, PORT))
    _buffers(listening, scene, sends=not scene.upload)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    if scene.tls:
        context.load_cert_chain(folder / "certificate", folder / "key")
    while True:
        one, _ = listening.accept()
        if not scene.nagle:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with one, suppress(OSError):
            if scene.tls:
                time.sleep(scene.shakes_s)
                with context.wrap_socket(one, server_side=True) as to:
                    _answer(to, scene)
            else:
                _answer(one, scene)


def _answer(one: socket.socket, scene: Scene) -> None:
    number = 0
    while (size := _line(one)) >= 0:
        _take(one, size, scene.reads if scene.upload else Pace())
        if number >= scene.answers and scene.resets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return
        time.sleep(scene.thinks_s if number < scene.answers else 3600)
        number += 1
        if scene.upload:
            one.sendall(b"x" * 20)
        else:
            _give(one, scene.size, scene.writes)


def fetch(scene: Scene) -> None:
    """Asks for one answer after the other."""
    if scene.looks_up is not None and not _look_up():
        return
    to = socket.socket()
    _buffers(to, scene, sends=scene.upload)
    if scene.keepalive_s:
        to.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, scene.keepalive_s)
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, scene.keepalive_s)
    if not scene.nagle:
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    to.settimeout(scene.gives_up_s)
    try:
        to.connect(scene.to)
    except OSError:
        return
    if scene.tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        to = context.wrap_socket(to, server_hostname=NAME)
    time.sleep(scene.before_s)
    with suppress(OSError):
        if scene.pipelined:
            to.sendall(b"%0*d\n" % (HEAD - 1, 0) * scene.requests)
            _take(to, scene.size * scene.requests, scene.reads)
        for number in range(0 if scene.pipelined else scene.requests):
            time.sleep(scene.between_s if number else 0)
            size = scene.size if scene.upload else 0
            head = b"%0*d\n" % (HEAD - 1, size)
            if scene.split:
                to.sendall(head[: HEAD // 2])
                head = head[HEAD // 2 :]
            to.sendall(head)
            _give(to, size, scene.writes)
            if scene.upload:
                _take(to, 20, Pace())
            else:
                _take(to, scene.size, scene.reads)
    time.sleep(scene.after_s)
    to.close()


def watched(name: str, folder: Path) -> None:
    """Runs a scene between its monitors."""
    scene = of_variant(name)
    shape(scene)
    words = ["tcpdump", "-U", "-s", str(SNAPLEN), "-w", "-"]
    devices = dict(DEVICES)
    if scene.before_switch:
        devices["midway"] = ("s1", "s1-eth1")
    captures = [
        subprocess.Popen(
            ["ip", "netns", "exec", devices[place][0], *words, "-i", devices[place][1], *SEEN],
            stdout=(folder / f"{name}.{place}.pcap").open("xb"),  # writes: anew, inside a kernel
            stderr=subprocess.DEVNULL,
        )
        for place in PLACES
    ]
    time.sleep(0.5)
    program = [sys.executable, "-m", MODULE, name]
    server = subprocess.Popen(["ip", "netns", "exec", "h1", *program, "serve"])
    time.sleep(0.5)
    client = subprocess.Popen(["ip", "netns", "exec", "h2", *program, "fetch"])
    begun = time.monotonic()
    for at_s, command in scene.later:
        time.sleep(max(0, begun + at_s - time.monotonic()))
        run(*command.split())
    client.wait()
    time.sleep(1)
    server.kill()
    time.sleep(0.2)
    for capture in captures:
        capture.terminate()
        capture.wait()


CERTIFICATE: Final = [
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
    *("-nodes", "-subj", f"/CN={NAME}", "-out", "certificate", "-keyout", "key"),
]


def main(words: list[str]) -> None:
    """A program of a scene, or all that there is of some."""
    match words:
        case [name, "serve"]:
            serve(of_variant(name))
        case [name, "fetch"]:
            fetch(of_variant(name))
        case names:
            folder = Path(os.environ["REXMIT_SCRATCH"])
            subprocess.run(CERTIFICATE, check=True, cwd=folder, stderr=subprocess.DEVNULL)
            for name in names:
                watched(name, folder)
            for left in ("certificate", "key"):
                (folder / left).unlink()


if __name__ == "__main__":
    main(sys.argv[1:])

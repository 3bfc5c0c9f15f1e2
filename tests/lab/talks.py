"""Talks of real programs whose requests are known: this file runs inside a kernel.

`python talks.py NAME...` runs the server of each talk on h1 and its client on h2, and leaves
`NAME.server.pcap`, `NAME.midway.pcap` and `NAME.client.pcap` in the folder `$REXMIT_SCRATCH`, also
`NAME.loopback.pcap`, what came by within h1, and what its client asked, `NAME.asked.json`.
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
PLACES = {
    "server": ("h1", "h1-eth0"),
    "midway": ("s1", "s1-eth2"),
    "client": ("h2", "h2-eth0"),
    "loopback": ("h1", "lo"),
}
WAITS_S = 20
"""The client waits no longer for an answer."""


@dataclass(frozen=True)
class Talk:
    """The client asks for `paths`, in HTTP/1.1; the server thinks for so many ms as each path's
    number says, and answers with `size` bytes. The client waits for `before_s` before the first.
    """

    paths: tuple[str, ...]
    size: int = 20_000
    before_s: float = 0
    at_once: bool = False
    """The client sends all requests at once."""
    tls: bool = False
    proxy: bool = False
    """nginx stands before the server, on the same host."""


PATHS = ("/300?token=secret", "/20", "/1200", "/0")

TALKS = {
    "kept": Talk(PATHS),
    "pipelined": Talk(PATHS, at_once=True),
    # An answer is one record: the client has nothing of it before it has all. The tickets that
    # follow the set-up have come when it asks.
    "tls": Talk(PATHS, tls=True, size=4_000, before_s=0.1),
    "proxy": Talk(PATHS, proxy=True),
}

NAME = "shop.example"
BACKEND = ("127.0.0.1", 9_000)


def answer(talk: Talk) -> None:
    """Answers requests of HTTP/1.1, one after the other on each connection."""
    folder = Path(os.environ["REXMIT_SCRATCH"])
    if talk.proxy:
        # It wants to own its folders, which it may where files are the kernel's own.
        own = Path(tempfile.mkdtemp(dir="/dev/shm"))
        (own / "nginx.conf").write_text(NGINX.format(folder=own))
        subprocess.Popen(["nginx", "-c", str(own / "nginx.conf")])
    listening = socket.create_server(BACKEND if talk.proxy else (SERVER, PORT))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if talk.tls else None
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
                    length = f"HTTP/1.1 200 OK\r\nContent-Length: {talk.size}\r\n\r\n"
                    to.sendall(length.encode() + b"x" * talk.size)


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


def ask(talk: Talk) -> None:
    """Asks for each path, and writes down when the answers came."""
    to = socket.create_connection((SERVER, PORT), timeout=WAITS_S)
    to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if talk.tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        to = context.wrap_socket(to, server_hostname=NAME)
    time.sleep(talk.before_s)
    heads = [f"GET {path} HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode() for path in talk.paths]
    told = []
    for some in [heads] if talk.at_once else [[head] for head in heads]:
        start = time.time()
        to.sendall(b"".join(some))
        text, first = b"", None
        for _ in some:
            while b"\r\n\r\n" not in text:
                text += to.recv(65_536)
                first = first or time.time()
            _, _, text = text.partition(b"\r\n\r\n")
            missing = talk.size - len(text)
            text = b""
            while missing > 0:
                more = to.recv(65_536)
                text, missing = more[missing:], missing - len(more)
        told.append({"start_s": start, "first_s": first, "last_s": time.time()})
    to.close()
    asked = Path(os.environ["REXMIT_SCRATCH"]) / f"{sys.argv[1]}.asked.json"
    asked.write_text(json.dumps(told))


def watched(name: str, folder: Path) -> None:
    """Runs a talk between its monitors."""
    talk = TALKS[name]
    if talk.tls:
        subprocess.run([*CERTIFICATE, "-keyout", folder / "key"], check=True, cwd=folder)
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
    server = subprocess.Popen(["ip", "netns", "exec", "h1", *program, "answer"])
    time.sleep(0.5)
    client = subprocess.Popen(["ip", "netns", "exec", "h2", *program, "ask"])
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

PROGRAMS: dict[str, Callable[[Talk], None]] = {"answer": answer, "ask": ask}

if __name__ == "__main__":
    match sys.argv[1:]:
        case [name, program] if program in PROGRAMS:
            PROGRAMS[program](TALKS[name])
        case names:
            for name in names:
                watched(name, Path(os.environ["REXMIT_SCRATCH"]))

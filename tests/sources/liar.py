"""A store that lies: what it answers is by the last part of the path. It counts what it sends.

It is a web server, and an S3 server where it is asked for `/BUCKET/PATH`.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Final

from tests.sources.servers import serving

MOST: Final = 60_000_000
"""Bytes after which what has no end ends all the same."""

WHEN: Final = "Mon, 01 Jan 2024 00:00:00 GMT"


@dataclass
class Liar:
    """What it serves, where, and what it was asked and sent."""

    capture: bytes
    address: str = ""
    elsewhere: str = ""
    """Where `redir-host` points."""
    sent: Counter[str] = field(default_factory=Counter)
    """Bytes by name, heads too."""
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Methods, names, headers."""
    over: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    liar: Liar

    def setup(self) -> None:
        super().setup()
        # What waits in the kernel counts as sent: let it be little.
        self.connection.setsockopt(1, 7, 65_536)

    def do_HEAD(self) -> None:
        self._answer(head=True)

    def do_PUT(self) -> None:
        self._answer(head=False)

    def do_GET(self) -> None:
        self._answer(head=False)

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _write(self, data: bytes) -> None:
        self.wfile.write(data)
        self.liar.sent[self.name] += len(data)

    def _head(self, status: int, **headers: object) -> None:
        lines = [f"HTTP/1.1 {status} x"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._write("\r\n".join([*lines, "", ""]).encode())

    def _forever(self, data: bytes) -> None:
        while self.liar.sent[self.name] < MOST:
            self._write(data)
        self.close_connection = True

    def _trickle(self, data: bytes) -> None:
        for at in count():
            self._write(data[at % len(data) : at % len(data) + 1])
            if self.liar.over.wait(0.05):
                return

    def _answer(self, *, head: bool) -> None:
        self.name = self.path.partition("?")[0].rpartition("/")[2].partition(".")[0]
        self.liar.asked.append((self.command, self.name, dict(self.headers)))
        with contextlib.suppress(OSError):
            if self.name.startswith("redir"):
                self._point()
            elif "prefix=long" in self.path:
                self._head(200, Transfer_Encoding="chunked", Content_Type="application/xml")
                self._forever(b"10000\r\n" + b"<" * 65_536 + b"\r\n")
            elif "list-type=" in self.path:
                self._list()
            elif head:
                self._look()
            else:
                self._range()

    def _point(self) -> None:
        # Once its host is left, what it points to is served.
        to = {
            "redir-file": "file:///etc/passwd",
            "redir-host": f"{self.liar.elsewhere}/ok.pcap?X-Amz-Signature=TOPSECSIG",
            "redir-loop": "/redir-loop.pcap",
            "redir-ok": "/ok.pcap",
            "redir-user": "http://USER:TOPSECPW@127.0.0.1/ok.pcap",
            "redir-none": "",
            "redir-port": "http://127.0.0.1:99999999/",
            "redir-cloud": "http://169.254.169.254/latest/meta-data/ok.pcap",
        }[self.name]
        self._head(302, Location=to, Content_Length=0)

    def _list(self) -> None:
        # Each page says that there is another.
        one = "<LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>x</ETag><Size>1</Size>"
        keys = (f"{len(self.liar.asked)}-{n}.pcap" for n in range(1000))
        every = "".join(f"<Contents><Key>{key}</Key>{one}</Contents>" for key in keys)
        page = f"<NextContinuationToken>x</NextContinuationToken>{every}"
        body = (
            f"<ListBucketResult>{page}<IsTruncated>true</IsTruncated></ListBucketResult>".encode()
        )
        self._head(200, Content_Length=len(body), Content_Type="application/xml")
        self._write(body)

    def _look(self) -> None:
        size: object = len(self.liar.capture)
        size = {"huge": 2**62, "neg": -5, "big": 2**31, "word": "many"}.get(self.name, size)
        if self.name == "headers":
            self._write(b"HTTP/1.1 200 x\r\n")
            self._forever(b"X: " + b"A" * 1000 + b"\r\n")
        elif self.name == "line":
            self._write(b"HTTP/1.1 200 x\r\nX: ")
            self._forever(b"A" * 1000)
        elif self.name == "interim":
            self._forever(b"HTTP/1.1 100 x\r\n\r\n")
        elif self.name == "slow-head":
            self._trickle(b"HTTP/1.1 200 x\r\nX: " + b"A" * 60_000)
        elif self.name == "nonsense":
            self._write(b"220 ftp.example ready\r\n")
            self.close_connection = True
        else:
            self._head(200, Content_Length=size, ETag='"x"', Last_Modified=WHEN)

    def _range(self) -> None:
        capture, name = self.liar.capture, self.name
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        begin, last = (int(asked[1]), int(asked[2])) if asked else (0, len(capture) - 1)
        size = {"huge": 2**62, "big": 2**31}.get(name, len(capture))
        if name == "norange":
            self._head(200, Content_Length=len(capture), ETag='"x"')
            self._write(capture)
            return
        if name == "error":
            self._head(404 if self.path.startswith("/error") else 403, Content_Length=2 * 10**10)
            self._forever(b"A" * 65_536)
            return
        if name == "busy":
            self._head(500, Content_Length=0)
            return
        shift = 5 if name == "wrongrange" else 0
        body = capture[begin + shift : last + shift + 1]
        headers: dict[str, object] = {
            "Content_Range": f"bytes {begin + shift}-{last + shift}/{size}",
            "Content_Length": last - begin + 1,
            "ETag": f'"{len(self.liar.asked)}"' if name == "changed" else '"x"',
            "Last_Modified": WHEN,
        }
        if name == "gz":
            body = gzip.compress(bytes(50_000_000))
            headers |= {"Content_Length": len(body), "Content_Encoding": "gzip"}
        if name == "parts":
            headers |= {"Content_Type": "multipart/byteranges; boundary=x"}
            del headers["Content_Range"]
        if name == "bomb":
            headers["Content_Length"] = 2 * 10**10
        if name in ("long", "extension", "trailers"):
            del headers["Content_Length"]
            headers["Transfer_Encoding"] = "chunked"
        self._head(206, **headers)
        if name == "bomb":
            self._forever(b"A" * 65_536)
        elif name == "long":
            self._forever(b"10000\r\n" + b"A" * 65_536 + b"\r\n")
        elif name == "extension":
            self._forever(b"1;" + b"x" * 60_000 + b"\r\nA\r\n")
        elif name == "trailers":
            self._write(b"%x\r\n%b\r\n0\r\n" % (len(body), body))
            self._forever(b"X: " + b"A" * 1000 + b"\r\n")
        elif name == "huge":
            self._forever(bytes(4096))
        elif name == "slow":
            self._trickle(capture)
        elif name == "silent":
            self.liar.over.wait()
        elif name == "short":
            self._write(body[: len(body) // 2])
            self.close_connection = True
        else:
            self._write(body)


@contextlib.contextmanager
def lying_store(capture: bytes, host: str = "127.0.0.1") -> Iterator[Liar]:
    """Serves a capture, and lies about it. All on loopback."""
    liar = Liar(capture)
    handler = type("_Handler", (_Handler,), {"liar": liar})
    with serving(handler, host) as liar.address:
        try:
            yield liar
        finally:
            liar.over.set()

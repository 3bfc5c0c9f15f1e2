"""Servers of captures: a real S3 server, and a web server that may fail. All on loopback."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.processes import end_with_parent

from rexmit.kernels import cache

TOOLS = cache.root().parent / "tools"
KEYS = {"AWS_ACCESS_KEY_ID": "AKEXAMPLE", "AWS_SECRET_ACCESS_KEY": "SKEXAMPLE"}


def s3_program() -> Path:
    """The S3 server that `make s3` builds. Skips the test where it was not built."""
    found = sorted(TOOLS.glob("s3s-fs-*/bin/s3s-fs"))
    if not found:
        pytest.skip("there is no S3 server: make s3")
    return found[-1]


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextlib.contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Serves the folders of `folder` as buckets; gives the variables by which it is found."""
    port = free_port()
    words = [str(s3_program()), "--host", "127.0.0.1", "--port", str(port)]
    words += ["--access-key", KEYS["AWS_ACCESS_KEY_ID"]]
    words += ["--secret-key", KEYS["AWS_SECRET_ACCESS_KEY"], str(folder)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, stdout=quiet, stderr=quiet, preexec_fn=end_with_parent) as server:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_REGION": "us-east-1",
                **KEYS,
            }
        finally:
            server.kill()


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler], host: str = "127.0.0.1") -> Iterator[str]:
    """A web server that answers by `handler`, at the address that it gives."""
    server = ThreadingHTTPServer((host, 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Web:
    """A web server of bytes by name. `trouble` has what becomes of the next requests of a body:
    `busy` (status 503), `cut` (the connection ends in the middle), one a request.
    """

    files: dict[str, bytes]
    address: str = ""
    trouble: list[str] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    """Of these files no byte from here on is ever sent: connections end there."""
    asked: list[tuple[str, int, int]] = field(default_factory=list)
    """Names and ranges of bodies that were asked for."""


@contextlib.contextmanager
def web_server(files: dict[str, bytes]) -> Iterator[Web]:
    """Serves files with ranges (RFC 9110 section 14)."""
    web = Web(files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            name = self.path.lstrip("/")
            data = web.files.get(name)
            if data is None:
                self._headers(404, 0)
                return
            start, end, status = 0, len(data), 200
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            if asked:
                start, end, status = int(asked[1]), min(int(asked[2]) + 1, end), 206
            if not body:
                self._headers(200, len(data), ETag=f'"{hash(data):x}"')
                return
            web.asked.append((name, start, end))
            trouble = web.trouble.pop(0) if web.trouble else ""
            if trouble == "busy":
                self._headers(503, 0)
                return
            content = f"bytes {start}-{end - 1}/{len(data)}"
            more = {"ETag": f'"{hash(data):x}"'} | ({"Content-Range": content} if asked else {})
            self._headers(status, end - start, **more)
            last = web.ends.get(name, end)
            if trouble == "cut" or last < end:
                self.wfile.write(data[start : min(last, (start + end) // 2)])
                self.close_connection = True
                return
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(data[start:end])

        def _headers(self, status: int, length: int, **more: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            for name, value in {name.replace("_", "-"): v for name, v in more.items()}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with serving(Handler) as web.address:
        yield web

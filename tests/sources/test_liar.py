"""A store that lies ends nothing and fills nothing: what is taken of it is bounded."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.sources.liar import Liar, lying_store

import rexmit
from rexmit.errors import UserError
from rexmit.sources import Remote, find, line, meter, objects, reader, relay, web
from rexmit.sources.meter import RefusedError
from rexmit.sources.relay import Relay

CAPTURE = Path(__file__).parents[1] / "real/captures/dcerpc.pcap"

WAITS = sum(
    int(Path(f"/proc/sys/net/ipv4/{name}").read_text().split()[2])
    for name in ("tcp_rmem", "tcp_wmem")
)
"""Bytes that may wait in the kernel, sent and not taken: how far a connection's buffers grow. Of
20 GB that is little; what is kept of them the memory of a process tells, below."""


@pytest.fixture
def liar() -> Iterator[Liar]:
    with lying_store(CAPTURE.read_bytes()) as store:
        yield store


SLOW = ("big", "silent", "slow", "slow-head")


@pytest.fixture(autouse=True)
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked again for long, and whoever is silent or slow is so soon."""
    monkeypatch.setattr(reader, "READING", (1, 5))
    spec = getattr(request.node, "callspec", None)
    if spec is not None and spec.params.get("name") in SLOW:
        for module in (line, meter, web):
            monkeypatch.setattr(module, "SILENT_S", 1)


@pytest.fixture
def s3(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It is the S3 server."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", liar.address)
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    objects.store.cache_clear()
    yield
    objects.store.cache_clear()


@pytest.mark.parametrize("name", ["ok", "redir-ok"])
def test_what_it_does_not_lie_about_is_read(liar: Liar, name: str) -> None:
    found = rexmit.trace(f"{liar.address}/{name}.pcap", whatif=())
    assert found.facts.packets == rexmit.trace(CAPTURE, whatif=()).facts.packets


WEB = {
    "bomb": "the server sends 20,000,000,000 bytes, where",
    "big": "no byte came within 1 s|the store is too slow",
    "busy": "the server answers 500",
    "changed": "it has changed since it was found",
    "error": "there is no such object",
    "extension": "the store sends more than was asked for",
    "gz": "the server packs what it sends",
    "headers": "the store sends more than was asked for",
    "huge": "no capture of a known format",
    "interim": "it is no answer of a web server|sends more than was asked for",
    "line": "it is no answer of a web server|sends more than was asked for",
    "long": "the store sends more than was asked for",
    "neg": "the server says of the length what is no number",
    "nonsense": "it is no answer of a web server",
    "norange": "the server gives no ranges; download it first",
    "parts": "the server sends other bytes than were asked for",
    "redir-cloud": "another host, 169.254.169.254; REXMIT_FOLLOW_REDIRECTS=1",
    "redir-file": "points to what is no web address, which is not read",
    "redir-host": "another host, 127.0.0.2:.*; REXMIT_FOLLOW_REDIRECTS=1 lets it",
    "redir-loop": "points elsewhere more than 5 times",
    "redir-none": "points to what is no web address",
    "redir-port": "points to what is no web address",
    "redir-user": "points to what is no web address",
    "short": "the connection ended before all had come",
    "silent": "no byte came within 1 s",
    "slow": "the store is too slow: .* where 1,000 a second are the least",
    "slow-head": "the store is too slow",
    "trailers": "the store sends more than was asked for",
    "word": "the server says of the length what is no number",
    "wrongrange": "the server sends other bytes than were asked for",
}


@pytest.mark.parametrize("name", WEB)
def test_a_web_server(liar: Liar, name: str) -> None:
    liar.elsewhere = "http://127.0.0.2:9"
    with pytest.raises(UserError, match=WEB[name]) as caught:
        rexmit.trace(f"{liar.address}/{name}.pcap", whatif=())
    assert "TOPSEC" not in caught.value.text()
    # No more than three ranges and what the kernel took by itself.
    most = reader.AHEAD * reader.FIRST_BYTES if name == "huge" else 2 * len(liar.capture)
    assert liar.sent[name] < 2 * web.HEAD_BYTES + most + WAITS
    assert all(headers["Accept-Encoding"] == "identity" for _, _, headers in liar.asked)


S3 = {
    "bomb": "the store sends more than was asked for",
    "changed": "it has changed since it was found",
    "error": "the store sends more than was asked for",
    "gz": "the store sends more than was asked for",
    "redir-cloud": "the store points elsewhere, to http://169.254.169.254/",
    "redir-host": "the store points elsewhere, to http://127.0.0.2:9/ok.pcap",
    "slow": "the store is too slow",
    "wrongrange": "[Rr]ange",
}


@pytest.mark.usefixtures("s3")
@pytest.mark.parametrize("name", S3)
def test_an_object_store(liar: Liar, name: str) -> None:
    liar.elsewhere = "http://127.0.0.2:9"
    with pytest.raises(UserError, match=S3[name]) as caught:
        rexmit.trace(f"s3://bucket/{name}.pcap", whatif=())
    assert "TOPSEC" not in caught.value.text()
    most = relay.MOST_BYTES if name == "error" else 2 * len(liar.capture)
    assert liar.sent[name] < most + WAITS


@pytest.mark.usefixtures("s3")
def test_a_page_of_a_list_without_an_end(liar: Liar) -> None:
    with pytest.raises(UserError, match="the store sends more than was asked for"):
        find(["s3://bucket/long/*.pcap"])
    # Behind what was taken the kernel lets as much wait at most (tcp_rcv_space_adjust).
    assert liar.sent["bucket"] < 2 * relay.MOST_BYTES


def test_nobody_else_is_relayed(liar: Liar) -> None:
    port = urlsplit(Relay().address).port
    asked = f"GET {liar.address}/ok.pcap HTTP/1.1\r\n"
    for head in (asked, f"{asked}Proxy-Authorization: Basic eDp4\r\n", "no request\r\n"):
        with socket.create_connection(("127.0.0.1", port or 0)) as one:
            one.sendall(f"{head}\r\n".encode())
            assert one.recv(1000).startswith(b"HTTP/1.1 502 ")
    assert not liar.asked


@pytest.mark.parametrize(
    ("host", "address", "said"),
    [
        ("bucket.s3.eu-west-1.amazonaws.com", "10.0.0.1", None),
        ("store.example", "10.0.0.1", None),
        ("bucket.store.example", "127.0.0.1", None),
        ("other.example", "10.0.0.1", "another host, other.example"),
        ("other.example", "1.1.1.1", None),
        ("other.example", "169.254.169.254", "metadata service"),
        ("other.example", "fe80::1%lo", "another host"),
        ("metadata.google.internal", None, "metadata service"),
    ],
)
def test_where_a_store_may_point(
    host: str, address: str | None, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://store.example:9000")
    with contextlib.nullcontext() if said is None else pytest.raises(RefusedError, match=said):
        relay.check(host, address)


@pytest.mark.usefixtures("s3")
def test_a_list_without_an_end(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MOST_LISTED", 3000)
    with pytest.raises(UserError, match="the store lists more than 3,000 objects") as caught:
        find(["s3://bucket/*.pcap"])
    assert caught.value.hint
    assert len(liar.asked) < 10


def test_the_memory_that_it_takes(liar: Liar) -> None:
    script = (
        "import resource, sys, rexmit\nfrom rexmit.errors import UserError\n"
        "for name in sys.argv[2:]:\n"
        "    try: rexmit.trace(f'{sys.argv[1]}/{name}.pcap', whatif=())\n"
        "    except UserError: pass\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    words = [sys.executable, "-c", script, liar.address]
    ran = subprocess.run(
        [*words, "ok", "bomb", "long", "gz"], capture_output=True, text=True, check=True
    )
    first, *others = map(int, ran.stdout.split())
    assert max(others) - first < 20_000


def test_another_host_only_where_the_user_says_so(
    liar: Liar, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine 127.0.0.1 login me password SECRETPW\n")
    monkeypatch.setenv("NETRC", str(file))
    with lying_store(liar.capture, "127.0.0.2") as other:
        liar.elsewhere = other.address
        with pytest.raises(UserError, match="REXMIT_FOLLOW_REDIRECTS=1"):
            find([f"{liar.address}/redir-host.pcap"])
        assert not other.asked
        monkeypatch.setenv("REXMIT_FOLLOW_REDIRECTS", "1")
        trace = rexmit.trace(f"{liar.address}/redir-host.pcap", whatif=())
        assert trace.facts.packets > 10
        assert trace.captures == [f"{liar.address}/redir-host.pcap"]
        # Who asks is told the host that the user named, and no other.
        assert all("Authorization" in headers for _, _, headers in liar.asked)
        assert not any("Authorization" in headers for _, _, headers in other.asked)
        for name, said in {"cloud": "metadata service", "file": "no web address"}.items():
            with pytest.raises(UserError, match=said):
                find([f"{liar.address}/redir-{name}.pcap"])
    assert all(headers["Accept-Encoding"] == "identity" for _, _, headers in liar.asked)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[fd20:ce::254]",
        "metadata.google.internal",
        "metadata",
    ],
)
def test_a_cloud_is_no_web_server(host: str) -> None:
    with pytest.raises(UserError, match="metadata service is no web server"):
        find([f"http://{host}/latest/meta-data"])


def test_a_proxy_of_the_environment(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", liar.address.replace("://", "://me:word@"))
    (found,), _ = find(["http://captures.example/ok.pcap"])
    assert isinstance(found, Remote)
    assert found.bytes == len(liar.capture)
    (_, _, headers), *_ = liar.asked
    assert headers["Host"] == "captures.example"
    assert headers["Proxy-Authorization"] == "Basic bWU6d29yZA=="

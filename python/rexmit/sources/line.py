"""One connection to a web server, of which every byte is counted before anything reads it."""

from __future__ import annotations

import base64
import io
import ipaddress
import socket
import ssl
from contextlib import suppress
from functools import cache
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from rexmit.sources.meter import CONNECT_S, SILENT_S, Meter, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

_METADATA: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            # EC2 and most others, by IPv4, IPv6, and IPv4 within IPv6 (RFC 6052).
            "169.254.0.0/16",
            "fd00:ec2::/32",
            "fe80::a9fe:a9fe/128",
            "64:ff9b::a9fe:0/112",
            # Google, Oracle, Alibaba; Azure's WireServer.
            "fd20:ce::254/128",
            "fd00:c1::a9fe:a9fe/128",
            "192.0.0.192/32",
            "100.100.100.200/32",
            "168.63.129.16/32",
        ),
    )
)
"""Where a cloud tells a machine its secrets."""

_METADATA_NAMES: Final = ("metadata.google.internal", "metadata.goog", "metadata", "instance-data")


class ServerConnection:
    """A connection to a server, or to the proxy that the environment names for it.

    `server` has scheme, name and port. Raises OSError where it does not stand.
    """

    def __init__(self, server: SplitResult) -> None:
        self._meter = Meter(0)
        self._proxy = proxy_of(server)
        _refuse_metadata(server.hostname or "")
        self._http = _connection(server, self._proxy)
        try:
            self._http.connect()
            self._socket: socket.socket = self._http.sock
            if self._proxy is None:
                _refuse_metadata(self._socket.getpeername()[0])
            self._socket.settimeout(SILENT_S)
        except BaseException:
            self._http.close()
            raise
        handed: Any = _Handed(self)
        self._http.sock = handed

    def ask(
        self, method: str, url: SplitResult, headers: Mapping[str, str], most: int
    ) -> HTTPResponse:
        """The head of an answer, of which so many bytes are taken at most. Raises OSError, and
        HTTPException where it is none.
        """
        self._meter = Meter(most)
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        if self._proxy is not None and url.scheme == "http":
            target, headers = url.geturl(), {**headers, **login(self._proxy)}
        self._http.request(method, target, headers=dict(headers))
        return self._http.getresponse()

    def receive(self, into: Any) -> int:  # noqa: ANN401 - any buffer
        """The next bytes, counted."""
        size = self._socket.recv_into(into)
        self._meter.took(size)
        return size

    def send(self, data: Any) -> None:  # noqa: ANN401 - any buffer
        """Sends all of it."""
        self._socket.sendall(data)

    def stop(self) -> None:
        """Ends what another thread waits for here."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()


class _Counted(io.RawIOBase):
    """What a line receives. Closing it ends no line."""

    def __init__(self, line: ServerConnection) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:  # noqa: ANN401 - any buffer
        return self._line.receive(into)


class _Handed:
    """What http.client takes for a socket. Closing it ends no line."""

    def __init__(self, line: ServerConnection) -> None:
        self._line = line

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Counted(self._line))

    def sendall(self, data: Any) -> None:  # noqa: ANN401 - any buffer
        self._line.send(data)

    def close(self) -> None:
        """Who opened the line closes it."""


def _connection(server: SplitResult, proxy: SplitResult | None) -> HTTPConnection:
    host, port = server.hostname or "", server.port
    if proxy is not None:
        host, port = proxy.hostname or "", proxy.port or 80
    if server.scheme == "http":
        return HTTPConnection(host, port, timeout=CONNECT_S)
    connection = HTTPSConnection(host, port, timeout=CONNECT_S, context=_trust())
    if proxy is not None:
        connection.set_tunnel(server.hostname or "", server.port or 443, login(proxy))
    return connection


@cache
def _trust() -> ssl.SSLContext:
    """Whom the system trusts, or SSL_CERT_FILE."""
    return ssl.create_default_context()


def proxy_of(server: SplitResult) -> SplitResult | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name for a server."""
    named = getproxies()
    named_proxy = named.get(server.scheme) or named.get("all")
    if not named_proxy or proxy_bypass(server.netloc, named):
        return None
    proxy = urlsplit(named_proxy if "://" in named_proxy else f"http://{named_proxy}")
    if proxy.scheme != "http":
        raise RefusedError(f"proxies of {proxy.scheme}:// are not known here, but those of http://")
    return proxy


def login(proxy: SplitResult | None) -> dict[str, str]:
    """The header by which a proxy knows who asks, if it wants to."""
    if proxy is None or proxy.username is None:
        return {}
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": basic(words)}


def basic(words: str) -> str:
    """A user and a password, with a colon between them, as RFC 7617 has them."""
    return f"Basic {base64.b64encode(words.encode()).decode()}"


def _refuse_metadata(host: str) -> None:
    if is_metadata(host):
        raise RefusedError("a cloud's metadata service is no web server, and is not asked")


def is_metadata(host: str) -> bool:
    """Whether a name or an address is that by which a cloud tells a machine its secrets."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.rstrip(".").lower() in _METADATA_NAMES
    plain = getattr(address, "ipv4_mapped", None) or address
    return any(plain in network for network in _METADATA)

"""What stands between obstore and a store: it counts what comes, and says who is asked.

obstore reads answers to lists and failures whole, however long they are, and goes wherever a store
points. Neither can be set. So it asks through a proxy of ours on loopback, which takes no one else.
"""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import select
import socket
import threading
from contextlib import ExitStack, suppress
from typing import Final
from urllib.parse import urlsplit

from rexmit.addresses import shown
from rexmit.sources import credentials, line
from rexmit.sources.meter import CONNECT_S, REDIRECTS, SILENT_S, RefusedError

MOST_BYTES: Final = 24 << 20
"""Of one answer: a range of the largest size, or a page of a list, has less."""

_HEAD_BYTES: Final = 65_536
_PIECE: Final = 1 << 18

_CLOUDS: Final = (
    "amazonaws.com",
    "amazonaws.com.cn",
    "api.aws",
    "googleapis.com",
    "windows.net",
    "microsoftonline.com",
    "fabric.microsoft.com",
    "chinacloudapi.cn",
    "usgovcloudapi.net",
)
"""Where clouds have their stores, which names of a private network may lead to."""


class Relay:
    """A proxy by which one store is asked. After it refused something it refuses all."""

    def __init__(self) -> None:
        self._word = secrets.token_hex(16)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://rexmit:{self._word}@127.0.0.1:{self._server.getsockname()[1]}"
        self.refusal: RefusedError | None = None
        """Why it does."""
        threading.Thread(target=self._serve, daemon=True, name="rexmit-relay").start()

    def _serve(self) -> None:
        while True:
            client, _ = self._server.accept()
            threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _one(self, client: socket.socket) -> None:
        with client, ExitStack() as closing:
            try:
                client.settimeout(SILENT_S)
                head, rest = _head(client)
                server = closing.enter_context(self._opened(client, head))
                server.sendall(rest)
                self._carry(client, server, is_tunnel=head[0].startswith("CONNECT "))
            except RefusedError as error:
                self.refusal = error
                _answer(client, "421 refused", error)
            except (OSError, ValueError) as error:
                _answer(client, "502 no connection", error)

    def _opened(self, client: socket.socket, head: list[str]) -> socket.socket:
        """A connection to where a request goes, which has been told all of its head."""
        method, target, version = head[0].split(" ")
        login = f"proxy-authorization: {line.basic(f'rexmit:{self._word}')}"
        if not any(secrets.compare_digest(login.encode(), one.encode()) for one in head[1:]):
            raise OSError("this is a proxy of one process")
        if self.refusal is not None:
            raise self.refusal
        is_tunnel = method == "CONNECT"
        asked = urlsplit(f"https://{target}" if is_tunnel else target)
        proxy = line.proxy_of(asked)
        host, port = asked.hostname or "", asked.port or (443 if is_tunnel else 80)
        check(host, None)
        if proxy is not None:
            server = socket.create_connection((proxy.hostname or "", proxy.port or 80), CONNECT_S)
        else:
            server = socket.create_connection((host, port), CONNECT_S)
        try:
            server.settimeout(SILENT_S)
            if proxy is None:
                check(host, server.getpeername()[0])
                if not is_tunnel:
                    path = f"{asked.path or '/'}{f'?{asked.query}' if asked.query else ''}"
                    head[0] = f"{method} {path} {version}"
            if is_tunnel and proxy is None:
                client.sendall(b"HTTP/1.1 200 x\r\n\r\n")
                return server
            kept = [one for one in head if not one.lower().startswith(("proxy-", "connection:"))]
            kept += [f"{name}: {value}" for name, value in line.login(proxy).items()]
            # Each request comes here with a head of its own.
            kept += [] if is_tunnel else ["connection: close"]
            server.sendall("\r\n".join([*kept, "", ""]).encode("latin-1"))
        except BaseException:
            server.close()
            raise
        return server

    def _carry(self, client: socket.socket, server: socket.socket, *, is_tunnel: bool) -> None:
        """Both ways, until one ends; an answer is what comes after something was asked. Raises
        RefusedError.
        """
        if not is_tunnel:
            _check_pointing(server.recv(_PIECE, socket.MSG_PEEK))
        came = 0
        while True:
            ready, _, _ = select.select([client, server], [], [], 10 * SILENT_S)
            if not ready:
                return
            for one in ready:
                piece = one.recv(_PIECE)
                if not piece:
                    return
                came = 0 if one is client else came + len(piece)
                if came > MOST_BYTES:
                    raise RefusedError("the store sends more than was asked for")
                (server if one is client else client).sendall(piece)


def _head(client: socket.socket) -> tuple[list[str], bytes]:
    """The lines of a request's head, and what came behind it."""
    read = b""
    while b"\r\n\r\n" not in read:
        piece = client.recv(_HEAD_BYTES)
        if not piece or len(read) > _HEAD_BYTES:
            raise OSError("it is no request")
        read += piece
    head, _, rest = read.partition(b"\r\n\r\n")
    return head.decode("latin-1").split("\r\n"), rest


def _answer(client: socket.socket, status: str, error: Exception) -> None:
    body = f"cannot connect: {error}".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with suppress(OSError):
        client.sendall(head.encode() + body)


def _check_pointing(answer: bytes) -> None:
    """Raises RefusedError for an answer that points elsewhere: obstore does not say there by which
    word it is known here. In a tunnel another host is asked for by name.
    """
    if answer.startswith(b"HTTP/1.1 3"):
        place = re.search(rb"(?i)\r\nlocation: *([^\r]*)", answer)
        to = shown(place[1].decode("latin-1")) if place else "nowhere"
        raise RefusedError(f"the store points elsewhere, to {to}")


def check(host: str, address: str | None) -> None:
    """Raises RefusedError for a host that a store may not point to: a cloud's metadata service that
    the user does not let be asked, and one of the own network that the user has not named.
    """
    if line.is_metadata(address or host):
        if credentials.may_ask_cloud():
            return
        raise RefusedError("the store points to a cloud's metadata service, which is not asked")
    if address is None or os.environ.get(REDIRECTS):
        return
    if ipaddress.ip_address(address).is_global:
        return
    named = {urlsplit(value).hostname for value in os.environ.values() if "://" in value}
    ours = [one for one in named if one] + list(_CLOUDS)
    if not any(host == one or host.endswith(f".{one}") for one in ours):
        raise RefusedError(f"the store points to another host, {host}; {REDIRECTS}=1 lets it")

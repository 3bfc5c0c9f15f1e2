"""A web server as a store of captures. Nothing that it answers is believed or taken without limit.

It is asked for a range (RFC 9110 §14) and held to it: to the bytes asked for and not one more, as
they are stored and not compressed. Where it points elsewhere is followed on its own host; on
another one only where the user says so, and never to another scheme.
"""

from __future__ import annotations

import netrc
import os
import re
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Final, TypeVar
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from rexmit.addresses import WEB
from rexmit.sources.found import CHANGED, Found
from rexmit.sources.line import ServerConnection, basic
from rexmit.sources.meter import REDIRECTS, SILENT_S, RefusedError

MOST_REDIRECTS: Final = 5

HEAD_BYTES: Final = 65_536
"""What the head of an answer may have, and what is between the pieces of its body."""

_AGAIN: Final = (408, 429, 500, 502, 503, 504)
"""What a server answers that may serve a moment later."""

_LONGEST_S: Final = 15.0
"""Seconds between two tries, at most."""

Given = TypeVar("Given")


class Web:
    """The server at an address. A request that fails is made again: so often, within so many
    seconds. Threads may share it. All methods raise OSError.
    """

    def __init__(self, address: str, tries: tuple[int, int]) -> None:
        self._server = urlsplit(address)
        self._tries = tries
        self._idle: deque[ServerConnection] = deque()
        self._busy: set[ServerConnection] = set()
        self._closed = False

    def look(self, path: str) -> Found:
        """What it says of an object."""

        def once(fresh: bool) -> Found:
            with self._answer("HEAD", path, {}, 0, fresh=fresh) as answer:
                _check_status(answer, 200)
                _check_plain(answer, path)
                size = _whole(answer.getheader("Content-Length"))
                if size is None:
                    raise RefusedError("the server does not say how long it is")
                answer.read()
                return _found(answer, size)

        return self._tried(once)

    def read(self, path: str, start: int, end: int) -> tuple[Found, bytes]:
        """The bytes from one place to before another, and what it says of the object then."""
        piece = bytearray()
        seen: list[Found] = []

        def once(fresh: bool) -> None:
            begin, most = start + len(piece), end - start - len(piece)
            asked = {"Range": f"bytes={begin}-{end - 1}"}
            with self._answer("GET", path, asked, most, fresh=fresh) as answer:
                _check_status(answer, 206)
                _check_plain(answer, path)
                seen.append(_found(answer, _check_range(answer, begin, end)))
                if not seen[0].is_same(seen[-1]):
                    raise RefusedError(CHANGED)
                _take(answer, most, piece)

        self._tried(once)
        return seen[0], bytes(piece)

    def close(self) -> None:
        """Ends all connections; whoever reads gets an OSError."""
        self._closed = True
        for line in list(self._busy):
            line.stop()
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _answer(
        self, method: str, path: str, asked: dict[str, str], most: int, *, fresh: bool
    ) -> Iterator[HTTPResponse]:
        """Asks, where it is pointed to as well. The connection is used again once all has come."""
        url = self._server._replace(path="/" + quote(path))
        headers = {"User-Agent": "rexmit", "Accept": "*/*", "Accept-Encoding": "identity", **asked}
        for _ in range(MOST_REDIRECTS + 1):
            is_home = url[:2] == self._server[:2]
            line = self._line(url, fresh=fresh or not is_home)
            self._busy.add(line)
            whole = False
            try:
                login = _login(url.hostname or "") if is_home else {}
                taken = HEAD_BYTES + most + most // 16
                answer = line.ask(method, url, {**headers, **login}, taken)
                if answer.status not in (301, 302, 303, 307, 308):
                    yield answer
                    whole = answer.isclosed() and not answer.will_close
                    return
                url = self._pointed(url, answer.getheader("Location"))
            finally:
                self._busy.discard(line)
                if whole and is_home and not self._closed:
                    self._idle.append(line)
                else:
                    line.close()
        raise RefusedError(f"the server points elsewhere more than {MOST_REDIRECTS} times")

    def _line(self, url: SplitResult, *, fresh: bool) -> ServerConnection:
        if not fresh:
            with suppress(IndexError):
                return self._idle.pop()
        return ServerConnection(url)

    def _pointed(self, url: SplitResult, to: str | None) -> SplitResult:
        try:
            place = urlsplit(urljoin(url.geturl(), quote(to or "", safe="%/:=&?~#+!$,;'@()*[]")))
            port, there = place.port, place.hostname
        except ValueError:
            there = None
        if not to or not there or place.scheme not in WEB or "@" in place.netloc:
            raise RefusedError("the server points to what is no web address, which is not read")
        if (url.scheme, place.scheme) == ("https", "http"):
            raise RefusedError("the server points to an address without TLS, which is not read")
        ports = {"http": 80, "https": 443}
        was, now = url.port or ports[url.scheme], port or ports[place.scheme]
        is_home = there == url.hostname and (was == now or (was, now) == (80, 443))
        if not is_home and not os.environ.get(REDIRECTS):
            raise RefusedError(
                f"the server points to another host, {place.netloc}; {REDIRECTS}=1 lets it"
            )
        return place._replace(fragment="")

    def _tried(self, once: Callable[[bool], Given]) -> Given:
        most, seconds = self._tries
        began_s = time.monotonic()
        number = 0
        while True:
            try:
                return once(number > 0)
            except (RefusedError, FileNotFoundError, PermissionError, ssl.SSLCertVerificationError):
                raise
            except HTTPException as error:
                if not isinstance(error, IncompleteRead | ConnectionError):
                    raise RefusedError("it is no answer of a web server") from error
                lost: Exception = error
            except OSError as error:
                lost = error
            wait_s = min(0.1 * 2**number, _LONGEST_S)
            late = time.monotonic() + wait_s - began_s > seconds
            if number >= most or late or self._closed:
                raise OSError(_words(lost)) from lost
            time.sleep(wait_s)
            number += 1


def _login(host: str) -> dict[str, str]:
    """What the user's netrc file has for a host. Its entry for any other host does not count."""
    file = os.environ.get("NETRC")
    try:
        entry = netrc.netrc(file).hosts.get(host)
    except FileNotFoundError:
        if file is None:
            return {}
        raise RefusedError(f"NETRC names {file}, which is not there") from None
    except (OSError, netrc.NetrcParseError) as error:
        raise RefusedError(f"the netrc file cannot be read: {error}") from error
    if entry is None:
        return {}
    user, _, password = entry
    return {"Authorization": basic(f"{user}:{password or ''}")}


def _check_status(answer: HTTPResponse, due: int) -> None:
    status = answer.status
    if status == due:
        return
    if status in (404, 410):
        raise FileNotFoundError
    if status in (401, 403, 407):
        raise PermissionError(f"it answers {status}")
    if status == 200:
        raise RefusedError("the server gives no ranges; download it first")
    if status in _AGAIN:
        raise OSError(f"the server answers {status}")
    raise RefusedError(f"the server answers {status}")


def _check_plain(answer: HTTPResponse, path: str) -> None:
    """The bytes are those that lie there. A file may be packed, and be called so by its server."""
    coding = answer.getheader("Content-Encoding", "identity").strip().lower()
    is_file = path.endswith((".gz", ".tgz")) and coding in ("gzip", "x-gzip")
    chunks = answer.getheader("Transfer-Encoding", "chunked").strip().lower()
    if (coding != "identity" and not is_file) or chunks != "chunked":
        raise RefusedError("the server packs what it sends, which was not asked for")


def _check_range(answer: HTTPResponse, begin: int, end: int) -> int:
    """How long the object is, of which these bytes come."""
    span = re.fullmatch(
        r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})", answer.getheader("Content-Range", "")
    )
    if span is None or (int(span[1]), int(span[2])) != (begin, end - 1):
        raise RefusedError("the server sends other bytes than were asked for")
    return int(span[3])


def _whole(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,19}", text.strip()):
        raise RefusedError("the server says of the length what is no number")
    return int(text)


def _found(answer: HTTPResponse, size: int) -> Found:
    changed_s = None
    # It need not say.
    with suppress(ValueError, OverflowError):
        when = parsedate_to_datetime(answer.getheader("Last-Modified", ""))
        changed_s = int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    return Found(size, answer.getheader("ETag"), changed_s)


def _take(answer: HTTPResponse, most: int, piece: bytearray) -> None:
    """Adds the body to a piece: so many bytes, and looks for one more."""
    length = _whole(answer.getheader("Content-Length"))
    if length is not None and length != most:
        raise RefusedError(f"the server sends {length:,} bytes, where {most:,} were asked for")
    left = most
    while left:
        came = answer.read(min(left, 1 << 16))
        if not came:
            raise IncompleteRead(b"", left)
        piece += came
        left -= len(came)
    if answer.read(1):
        raise RefusedError("the store sends more than was asked for")


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no byte came within {SILENT_S} s: the connection is lost"
    if isinstance(error, HTTPException):
        return "the connection ended before all had come"
    if isinstance(error, OSError) and error.strerror:
        return f"no connection: {error.strerror}"
    return str(error)

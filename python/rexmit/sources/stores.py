"""Object stores and web servers: what reads their objects, and what is said where they fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol
from urllib.parse import unquote

from rexmit.addresses import S3, SCHEMES, WEB, secret, shown
from rexmit.errors import UserError
from rexmit.sources import credentials
from rexmit.sources.found import Found

LOOKING: Final = (2, 10)
"""Retries, and seconds of them, while captures are looked for: whoever waits sees it at once where
there is no such store."""

READING: Final = (10, 180)
"""The same while they are read: an hour's work outlives a store that is restarted."""


class Store(Protocol):
    """What reads objects. It is called inside `told`."""

    def look(self, path: str) -> Found:
        """What the store says of an object."""

    def read(self, path: str, start: int, end: int) -> tuple[Found, bytes]:
        """The bytes from one place to before another, and what the store says of the object then.
        No more is taken of it.
        """

    def close(self) -> None:
        """Asks for nothing more."""


def is_web(address: str) -> bool:
    """Whether it is of a web server, which has no list of its files."""
    return address.partition("://")[0].lower() in WEB


def opened(address: str, tries: tuple[int, int]) -> Store:
    """What reads objects of the store at this address. Raises UserError."""
    if is_web(address):
        from rexmit.sources.web import Web

        return Web(address, tries)
    from rexmit.sources.objects import Objects

    with told(address):
        return Objects(address, tries)


def check(address: str) -> None:
    """Raises UserError for an address with what is neither kept nor shown, or of no store."""
    part = secret(address)
    if part == "password":
        raise UserError(
            f"{address}: a password does not belong in an address, which is kept and shown",
            credentials.hint(address),
            usage=True,
        )
    if part == "query":
        raise UserError(
            f"{address}: an address with ?... is not read, for addresses are kept and shown",
            "fetch it with another program: curl ADDRESS | rexmit trace -"
            if is_web(address)
            else credentials.hint(address),
            usage=True,
        )
    scheme, _, rest = address.partition("://")
    if scheme.lower() not in SCHEMES:
        raise UserError(
            f"{address}: nothing is known of {scheme}://",
            "captures are read from files, s3://, gs://, az://, http:// and https://",
            usage=True,
        )
    if not rest.partition("/")[0]:
        raise UserError(f"{address} names no store", f"as in {scheme}://NAME/PATH", usage=True)


def split(address: str) -> tuple[str, str]:
    """The store of an address and the path there. Raises UserError."""
    check(address)
    scheme, _, rest = address.partition("://")
    store, _, path = rest.partition("/")
    return f"{scheme.lower()}://{store}", unquote(path) if is_web(address) else path


@contextmanager
def told(address: str) -> Iterator[None]:
    """Inside, what a store says of a failure becomes a UserError about `address`."""
    from obstore import exceptions

    try:
        yield
    except FileNotFoundError as error:
        hint = "look at its name, and at the endpoint"
        raise UserError(f"{address}: there is no such object", hint) from error
    except (exceptions.BaseError, ValueError, OSError) as error:
        refused = (
            PermissionError,
            exceptions.PermissionDeniedError,
            exceptions.UnauthenticatedError,
        )
        # Of a list, the answer stands in the text alone.
        if isinstance(error, refused) or "403 Forbidden" in str(error):
            what = f"{address}: the store refuses: {words(error)}"
            raise UserError(what, credentials.hint(address)) from error
        if "NoSuchBucket" in str(error):
            hint = "look at the bucket's name, and at the endpoint"
            raise UserError(f"{address}: there is no such bucket", hint) from error
        raise UserError(f"{address}: {words(error)}", _hint(address, str(error))) from error


def words(error: BaseException) -> str:
    """The last cause of an error of a store, in a line; they come with all that led to them."""
    text = shown(str(error).partition("\n\nDebug source")[0])
    lines = [line.strip() for line in text.replace(": ", ":\n").splitlines() if line.strip()]
    message = " ".join(lines)
    return (
        message
        if len(message) <= _LONGEST
        else f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}"
    )


_LONGEST: Final = 300


def _hint(address: str, text: str) -> str | None:
    lower = text.lower()
    if not is_web(address) and any(word in lower for word in ("credential", "metadata", "token")):
        return credentials.hint(address)
    if any(word in lower for word in ("connect", "dns", "timed out", "timeout")):
        endpoint = " (AWS_ENDPOINT_URL)" if address.startswith(S3) else ""
        return f"is the network there, and is the endpoint right{endpoint}?"
    return None

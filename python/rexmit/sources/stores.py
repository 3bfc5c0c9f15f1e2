"""Object stores and web servers, by obstore (Rust's object_store): signed, retried.

obstore was taken for its weight: one wheel of 5.6 MB serves S3, Google Cloud Storage, Azure and web
servers, and imports in 40 ms; fsspec needs a package of its own for each, with botocore and aiohttp
below them. Where a store is, and who asks, is said by the usual variables: AWS_ENDPOINT_URL,
AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SKIP_SIGNATURE for public buckets,
GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME and so on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from rexmit.errors import UserError

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

S3: Final = ("s3", "s3a")
WEB: Final = ("http", "https")
SCHEMES: Final = (*S3, "gs", "az", "azure", "abfs", "abfss", *WEB)
"""The beginnings of addresses that are understood."""

CONNECT_S: Final = 5
"""Seconds in which a connection must stand."""

SILENT_S: Final = 30
"""Seconds without a byte after which a request counts as lost."""

LOOKING: Final = (2, 10)
"""Retries, and seconds of them, while captures are looked for: whoever waits sees it at once where
there is no such store."""

READING: Final = (10, 180)
"""The same while they are read: an hour's work outlives a store that is restarted."""


def split(address: str) -> tuple[str, str]:
    """The store of an address and the path there. Raises UserError."""
    parts = urlsplit(address)
    if parts.scheme not in SCHEMES:
        raise UserError(
            f"{address}: nothing is known of {parts.scheme}://",
            "captures are read from files, s3://, gs://, az://, http:// and https://",
            usage=True,
        )
    if not parts.netloc:
        raise UserError(
            f"{address} names no store", f"as in {parts.scheme}://NAME/PATH", usage=True
        )
    path = address.split("://", 1)[1].partition("/")[2]
    if parts.scheme in WEB:
        if parts.query:
            raise UserError(
                f"{address}: an address with ?... is not read",
                "download it first, or name the store itself (s3://, gs://, az://)",
                usage=True,
            )
        path = unquote(path)
    return f"{parts.scheme}://{parts.netloc}", path


@lru_cache(maxsize=64)
def store(address: str, tries: tuple[int, int]) -> ObjectStore:
    """What reads objects of the store at this address. Raises UserError."""
    from obstore.store import from_url

    retries, seconds = tries
    client: dict[str, Any] = {
        "connect_timeout": timedelta(seconds=CONNECT_S),
        "read_timeout": timedelta(seconds=SILENT_S),
        # A whole request: of a slow line, too, a piece comes within it.
        "timeout": timedelta(seconds=10 * SILENT_S),
    }
    if address.startswith("http://") or _is_plain(os.environ):
        client["allow_http"] = True
    more: dict[str, Any] = {}
    if address.partition(":")[0] in S3 and not _named(
        os.environ, "AWS_REGION", "AWS_DEFAULT_REGION"
    ):
        more["region"] = "us-east-1"
    retry: dict[str, Any] = {"max_retries": retries, "retry_timeout": timedelta(seconds=seconds)}
    # Its overloads are of one store each, and which one it is stands in the address.
    opened: Any = from_url
    with told(address):
        made: ObjectStore = opened(address, client_options=client, retry_config=retry, **more)
        return made


def _is_plain(variables: os._Environ[str]) -> bool:
    """Whether the endpoint that the user names has no TLS."""
    names = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT")
    return any(variables.get(name, "").startswith("http://") for name in names)


def _named(variables: os._Environ[str], *names: str) -> bool:
    return any(variables.get(name) for name in names)


def changed_s(meta: ObjectMeta) -> int | None:
    """When an object was written, in whole seconds, as all answers of a store have it."""
    # A web server need not say, and 1970 stands there then.
    return int(meta["last_modified"].timestamp()) or None


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
        refused = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)
        # Of a list, the answer stands in the text alone.
        if isinstance(error, refused) or "403 Forbidden" in str(error):
            what = f"{address}: the store refuses: {words(error)}"
            raise UserError(what, _credentials(address)) from error
        if "NoSuchBucket" in str(error):
            hint = "look at the bucket's name, and at the endpoint"
            raise UserError(f"{address}: there is no such bucket", hint) from error
        raise UserError(f"{address}: {words(error)}", _hint(address, str(error))) from error


def words(error: BaseException) -> str:
    """The last cause of an error of a store, in a line; they come with all that led to them."""
    text = str(error).partition("\n\nDebug source")[0]
    lines = [line.strip() for line in text.replace(": ", ":\n").splitlines() if line.strip()]
    told = " ".join(lines)
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST // 2]} … {told[-_LONGEST // 2 :]}"


_LONGEST: Final = 300


def _credentials(address: str) -> str:
    if address.startswith(S3):
        return (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a "
            "public bucket"
        )
    if address.startswith("gs"):
        return (
            "set GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for a public bucket"
        )
    if address.startswith("http"):
        return "the web server wants to know who asks; download it first"
    return "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"


def _hint(address: str, text: str) -> str | None:
    lower = text.lower()
    if "credential" in lower or "metadata" in lower or "token" in lower:
        return _credentials(address)
    if any(word in lower for word in ("connect", "dns", "timed out", "timeout")):
        endpoint = " (AWS_ENDPOINT_URL)" if address.startswith(S3) else ""
        return f"is the network there, and is the endpoint right{endpoint}?"
    return None

"""Object stores, by obstore (Rust's object_store): signed, retried.

obstore was taken for its weight: one wheel of 5.6 MB serves S3, Google Cloud Storage and Azure, and
imports in 40 ms; fsspec needs a package of its own for each, with botocore and aiohttp below them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from itertools import count
from os import environ
from typing import TYPE_CHECKING, Any, Final

from rexmit.addresses import S3
from rexmit.errors import UserError
from rexmit.sources import credentials
from rexmit.sources.found import Found
from rexmit.sources.meter import CONNECT_S, SILENT_S, Meter
from rexmit.sources.relay import Relay

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta
    from obstore.store import ObjectStore


MOST_LISTED: Final = 1_000_000
"""Objects that are looked through for a pattern: lists of a store that lies have no end."""

_PAGE: Final = 1000


class Objects:
    """The store at an address. A request that fails is made again: so often, within so many
    seconds. Threads may share it. Its methods raise what obstore does, and OSError.
    """

    def __init__(self, address: str, tries: tuple[int, int]) -> None:
        """Raises UserError."""
        credentials.check(address)
        self._address = f"{address}/"
        self._store, self._relay = store(address, tries)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Inside, what the relay refuses is raised as that."""
        try:
            yield
        except Exception as error:
            if self._relay.refusal is not None:
                raise self._relay.refusal from error
            raise

    def look(self, path: str) -> Found:
        """What it says of an object."""
        import obstore

        with self._asking():
            return _found(obstore.head(self._store, path))

    def read(self, path: str, start: int, end: int) -> tuple[Found, bytes]:
        """The bytes from one place to before another, and what it says of the object then."""
        import obstore

        options: GetOptions = {"range": (start, end)}
        piece = bytearray()
        meter = Meter(end - start)
        with self._asking():
            given = obstore.get(self._store, path, options=options)
            # As it comes: what comes too slowly is seen, too.
            for some in given.stream(min_chunk_size=1):
                meter.took(len(some))
                piece += memoryview(some)
        return _found(given.meta), bytes(piece)

    def under(self, folder: str) -> Iterator[tuple[str, Found]]:
        """Paths of all objects in a folder and below it, and what it says of each. Raises
        UserError where they do not end."""
        import obstore

        pages = iter(obstore.list(self._store, prefix=folder or None, chunk_size=_PAGE))
        for listed in count(step=_PAGE):
            with self._asking():
                some = next(pages, None)
            if some is None:
                return
            if listed >= MOST_LISTED:
                raise UserError(
                    f"{self._address}: the store lists more than {MOST_LISTED:,} objects",
                    "name a folder of which only the last part is a pattern",
                )
            yield from ((one["path"], _found(one)) for one in some)

    def close(self) -> None:
        """Connections are obstore's."""


def _found(meta: ObjectMeta) -> Found:
    # Whole seconds, as all answers of a store have them.
    return Found(meta["size"], meta["e_tag"], int(meta["last_modified"].timestamp()) or None)


@lru_cache(maxsize=64)
def store(address: str, tries: tuple[int, int]) -> tuple[ObjectStore, Relay]:
    """What reads objects of the store at this address, and what it asks through."""
    from obstore.store import from_url

    retries, seconds = tries
    relay = Relay()
    client: dict[str, Any] = {
        "connect_timeout": timedelta(seconds=CONNECT_S),
        "read_timeout": timedelta(seconds=SILENT_S),
        # A whole request: of a slow line, too, a piece comes within it.
        "timeout": timedelta(seconds=10 * SILENT_S),
        "proxy_url": relay.address,
    }
    names = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT")
    if any(environ.get(name, "").startswith("http://") for name in names):
        client["allow_http"] = True
    more: dict[str, Any] = {}
    if address.partition(":")[0] in S3 and not (
        environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    ):
        more["region"] = "us-east-1"
    retry: dict[str, Any] = {"max_retries": retries, "retry_timeout": timedelta(seconds=seconds)}
    # Its overloads are of one store each, and which one it is stands in the address.
    opened: Any = from_url
    objects: ObjectStore = opened(address, client_options=client, retry_config=retry, **more)
    return objects, relay

"""A capture in an object store or on a web server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from rexmit.addresses import WEB
from rexmit.sources.found import Found

if TYPE_CHECKING:
    from rexmit.sources.reader import Reader


@dataclass(frozen=True, slots=True)
class Remote:
    """An object: the address of the store it is in (`s3://bucket`, `https://host`), and its path
    there. `bytes`, `tag` and `changed_s` are what was found when it was looked for: an object
    that has changed since is not read. It can be pickled; whoever opens it brings the credentials.
    """

    store: str
    path: str
    bytes: int
    tag: str | None = None
    """The store's own name of these very bytes (ETag), where it has one."""
    changed_s: int | None = None
    """When they were written, in seconds since 1970, where the store says."""

    def __str__(self) -> str:
        path = self.path
        if self.store.startswith(WEB):
            # As it is found again: these are no letters of an address.
            path = re.sub(r"[%?\s]", lambda one: quote(one[0]), path)
        return f"{self.store}/{path}"

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def open(self) -> Reader:
        """Begins to read it. Raises OSError, also while it is read."""
        from rexmit.sources.reader import Reader

        return Reader(self.store, self.path, Found(self.bytes, self.tag, self.changed_s))

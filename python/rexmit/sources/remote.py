"""A capture in an object store or on a web server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        return f"{self.store}/{self.path}"

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def is_same(self, size: int, tag: str | None, changed_s: int | None) -> bool:
        """Whether what a store says of an object now is said of these bytes."""
        if size != self.bytes:
            return False
        if tag is not None and self.tag is not None:
            return tag == self.tag
        return changed_s is None or self.changed_s is None or changed_s == self.changed_s

    def open(self) -> Reader:
        """Begins to read it. Raises OSError, also while it is read."""
        from rexmit.sources.reader import Reader

        return Reader(self.store, self.path, self.bytes, self.is_same)

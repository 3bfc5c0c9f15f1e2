"""Addresses of what is no file here, and what of them may be kept and shown.

Whoever reads a page, a table, a journal or a message may be anyone. So none of them has a user's
name and password, nor what stands behind `?`: signatures and tokens.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

WEB: Final = ("http", "https")
S3: Final = ("s3", "s3a")
ABFS: Final = ("abfs", "abfss")
"""Of these `NAME@` is a container."""

SCHEMES: Final = (*S3, "gs", "az", "azure", *ABFS, *WEB)
"""The beginnings of addresses that are understood."""

_LETTERS: Final = "A-Za-z0-9+.-"
_SCHEME: Final = rf"[A-Za-z][{_LETTERS}]*"


@cache
def _address() -> re.Pattern[str]:
    # The names of several stand with commas between them. A path has one slash of the two left.
    # Letters are looked at once: a text may be one long word.
    return re.compile(
        rf"(?<![{_LETTERS}])([0-9+.-]*+{_SCHEME}+):(//?)(\S*?)(?=[,;]{_SCHEME}://|\s|$)"
    )


_USER: Final = (
    # As RFC 3986 has it; or with letters in the password that end an authority there. A port is
    # no password.
    r"[^/?#]*@|[^/?#:\[]+:\d*[^\d/?#].*@"
)

_QUERY: Final = r"\?[A-Za-z][\w.-]*="
"""Behind a store's object. `?` by itself is of a pattern there."""


def is_address(word: str) -> bool:
    """Whether a word names an object of a store or of a web server, and not a file."""
    return "://" in word


def secret(address: str) -> str | None:
    """What an address has that is neither kept nor shown, in a word."""
    scheme, _, rest = address.partition("://")
    user, _, query = _parts(scheme.lower(), rest)
    return "password" if user else "query" if query else None


def shown(text: str) -> str:
    """A text with all its addresses as they may be kept and shown."""
    return _address().sub(_without, text) if ":/" in text else text


def _without(match: re.Match[str]) -> str:
    word, slashes, rest = match.groups()
    scheme = word.lstrip("0123456789+.-").lower()
    if slashes == "/" and scheme not in SCHEMES:
        return match[0]
    return f"{word}:{slashes}{_parts(scheme, rest)[1]}"


def _parts(scheme: str, rest: str) -> tuple[str, str, str]:
    """What stands behind `scheme://`: the user with the password, the place, the query."""
    with_user = re.match(_USER, rest)
    user = with_user[0] if with_user else ""
    if scheme in ABFS and ":" not in user:
        user = ""
    place = rest[len(user) :]
    if scheme in SCHEMES and scheme not in WEB:
        query = re.search(_QUERY, place)
        at = query.start() if query else len(place)
    else:
        at = place.find("?") if "?" in place else len(place)
    return user, place[:at], place[at:]

"""Edits of texts such as TOML and JSON: what lets a fuzzer through their grammar."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(rb'"[^"\n]*"|[A-Za-z0-9_.+-]+')

WORDS: Final[list[bytes]] = [
    *(b'"', b"'", b'"""', b"[", b"]", b"{", b"}", b"[[", b"]]", b",", b".", b"=", b":"),
    *(b"#", b"*", b"-1", b"0", b"1e400", b"-0.0", b"nan", b"NaN", b"Infinity", b"true"),
    *(b"null", b'"x"', b'""', b'"0"', b"0.5", b"[]", b"{}", b"[0]", b'{"x":0}', b"1979-05-27"),
    *(b"9999999999999999999999999", b"18446744073709551616", b"9223372036854775807"),
    *(b"0..9", b"9..0", b"0..99999999999", b"\x00", b"\xff", b"\xed\xa0\x80", b"\n", b"\r"),
    *(b'"\\u0000"', b'"\\ud800"', "\u2028".encode(), "ﬁ٣²".encode(), b"--", b"9" * 5000),
    *(b"[" * 300, b"{" * 300, b'{"a":' * 300, b"a." * 300),
]
"""What readers stumble over, as a value, a key or anywhere."""


def replace_token(text: bytes, which: int, word: bytes) -> bytes:
    """The text with its `which`th word, number or string replaced; counts round."""
    found = [match.span() for match in _TOKEN.finditer(text)]
    if not found:
        return word
    start, end = found[which % len(found)]
    return text[:start] + word + text[end:]


def replace_piece(text: bytes, where: int, length: int, word: bytes) -> bytes:
    """The text with `length` bytes from `where` on replaced; counts round."""
    at = where % (len(text) + 1)
    return text[:at] + word + text[at + length :]

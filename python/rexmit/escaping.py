"""Names that somebody else chose, as they may be seen: of files, interfaces, in captures, records.

They cannot move the cursor, begin or reverse a line, or hide in it: `shown` is what each passes on
its way to a terminal and into a page, `shell` what it passes into a command.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Final

HIDDEN: Final = (
    # Control characters, and halves of pairs: bytes of a name that are no text.
    "\\x00-\\x1f\\x7f-\\x9f"
    # What has no width, or turns the direction of what follows.
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e"
    "\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\U000e0000-\\U000e0fff"
    # What separates lines and paragraphs.
    "\\u2028\\u2029"
)
"""Characters that are not to be seen on a terminal or do something there, as a class of `re`."""


@cache
def _hidden() -> re.Pattern[str]:
    # Compiling takes longer than `rexmit --version` has to wait for.
    return re.compile(f"[{HIDDEN}\\ud800-\\udfff]")


def shown(text: str) -> str:
    """A line to look at: what is hidden in it stands as `\\u001b`, as JSON has it."""
    # Most lines have nothing but ASCII that is seen.
    if text.isascii() and text.isprintable():
        return text
    return _hidden().sub(escaped, text)


def shown_lines(text: str) -> str:
    """Lines to look at; what is in each of them was chosen by its writer, or is `shown`."""
    return "\n".join(map(shown, text.split("\n")))


def escaped(hidden: re.Match[str]) -> str:
    """A character as JSON escapes it."""
    code = ord(hidden[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def shell(words: Iterable[str]) -> str:
    """Words of a command, quoted so that a shell takes them as they are and none hides anything."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """One word, as `shell` quotes it."""
    if shown(word) == word:
        import shlex

        return shlex.quote(word)
    # Of bash, zsh, ksh and POSIX 2024 (XCU 2.2.4). Three octal digits end a byte, whatever follows.
    plain = {ord("'"), ord("\\")}
    escaped = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in plain else f"\\{byte:03o}"
        for byte in os.fsencode(word)
    )
    return f"$'{''.join(escaped)}'"

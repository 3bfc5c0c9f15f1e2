"""Names that somebody else chose, and what no output may have of them."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from rexmit import escaping

BAD: Final = (
    "\x1b[31mred\x1b]8;;http:x.invalid\x07link\x9b2J\x7f\r\x08\x0b\x0c\t"
    "\u202egnp\u2066\u200b\u2028\u2029\ufeff\u00ad\U000e0041\nFORGED"
)
NAME: Final = f"è日 [red]{BAD}'"
"""A file may have it."""

FORBIDDEN: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0041]"
    r"|^\W*FORGED",
    re.MULTILINE,
)

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")

_BEGUN: Final = re.compile(r"\\u001b\[31mred")


def hold(text: str, *, styled: bool = False) -> str:
    """A text without its styles. Nothing in it is hidden, and of a bad name nothing is missing."""
    text = _STYLE.sub("", text) if styled else text
    found = FORBIDDEN.search(text)
    assert not found, ascii(text[max(found.start() - 300, 0) : found.end() + 300])
    whole = escaping.shown(BAD)
    if text.startswith(("{", "[")):
        json.loads(text)  # It has short escapes besides.
        return text
    for begun in _BEGUN.finditer(text):
        here = text[begun.start() :][: len(whole)]
        # Long names are cut where there is little room.
        assert whole.lower().startswith(re.split("…| ", here)[0].lower()), ascii(here)
    return text


def planted(data: Any) -> Any:  # noqa: ANN401 - JSON
    """Plain data with what is bad at the end of each text that is a sentence or a path."""
    if isinstance(data, dict):
        return {key: planted(value) for key, value in data.items()}
    if isinstance(data, list):
        return [planted(value) for value in data]
    free = isinstance(data, str) and (" " in data or "/" in data)
    return data + BAD if free else data


def texts_of(data: Any) -> str:  # noqa: ANN401 - JSON
    """All texts in plain data, a line each."""
    if isinstance(data, dict):
        return "".join(map(texts_of, [*data, *data.values()]))
    if isinstance(data, list):
        return "".join(map(texts_of, data))
    return f"{data}\n" if isinstance(data, str) else ""

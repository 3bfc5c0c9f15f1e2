"""Files of TOML: read, or refused with the line at which they are wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError

_LONG_KEY: Final = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}"""
)
"""A key of so many parts, over which the reader of TOML takes minutes."""

_DEEPEST: Final = 32
"""Lists and tables in one another at most."""


_LONGEST: Final = 1_000_000
"""Bytes of a file at most. Of larger ones the reader makes tables for minutes."""

_LARGEST: Final = 2**64
"""No number reaches it; TOML has 64 bits, and a seed takes them all."""


def read(path: Path) -> tuple[dict[str, Any], str]:
    """What a file says, unchecked, and its text. Raises UserError."""
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            raise UserError(f"{path} has more than {_LONGEST:,} bytes", "nothing here needs that")
        text = content.decode()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 text (byte {error.start})") from None
    try:
        data = None if _LONG_KEY.search(text) else tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(path, text, error) from None
    except ValueError:
        # Python reads whole numbers of up to 4,300 digits.
        raise UserError(f"{path}: a number has too many digits") from None
    except RecursionError:
        data = None
    levels = None if data is None else _levels(data)
    if data is None or levels is None:
        raise UserError(
            f"{path}: lists or tables lie too deep in one another", "nothing here needs that"
        )
    if any(isinstance(one, int) and abs(one) >= _LARGEST for level in levels for one in level):
        raise UserError(f"{path}: a number has too many digits")
    return data, text


def _syntax(path: Path, text: str, error: tomllib.TOMLDecodeError) -> UserError:
    match = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
    line = text.count("\n") + 1 if match is None or match[1] is None else int(match[1])
    message = str(error)[: match.start()] if match else str(error)
    return UserError(f"{path}:{line}: {message}", "the file is no valid TOML (see toml.io)")


def too_deep(data: object) -> bool:
    """Whether lists and tables lie deeper in one another than in any file of ours."""
    return _levels(data) is None


def _levels(data: object) -> list[list[object]] | None:
    """All values by how deep they lie; None where that is too deep."""
    levels = [[data]]
    while levels[-1] and len(levels) <= _DEEPEST:
        inner: list[object] = []
        for value in levels[-1]:
            if isinstance(value, dict):
                inner += value.values()
            elif isinstance(value, list):
                inner += value
        levels.append(inner)
    return None if levels[-1] else levels

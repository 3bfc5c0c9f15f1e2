"""A source file without what cannot change a number: comments, layout, tests beside the code.

What is not seen: whether a change that is left changes anything, code that a macro makes of its
lexemes, and test items that are marked otherwise than with `#[cfg(test)]` (they count as code).
"""

from __future__ import annotations

import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_RUST: Final = re.compile(
    r"""
    (?P<space>\s+ | //[^\n]*)
  | (?P<block>/\*)
  | (?P<lexeme>
        (?:b|c)?r(?P<hashes>\#*)".*?"(?P=hashes)        # raw strings
      | (?:b|c)?"(?:[^"\\]|\\.)*"                       # strings
      | b?'(?:[^'\\]|\\x..|\\u\{[^}]*\}|\\.)'           # characters; a lifetime has no end
      | '\w+
      | \w+
      | .
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK: Final = re.compile(r"/\*|\*/")
_TEST: Final = ("#", "[", "cfg", "(", "test", ")", "]")
_OPEN: Final = {"(": ")", "[": "]", "{": "}"}

# Of Python 3.12 and later, which takes format strings to pieces.
_FORMAT_START: Final = getattr(tokenize, "FSTRING_START", -1)
_FORMAT_END: Final = getattr(tokenize, "FSTRING_END", -1)
_LAYOUT: Final = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)


def normal(path: Path) -> bytes:
    """The file's contents as they count. Raises OSError, and ValueError where they do not parse."""
    data = path.read_bytes()
    if path.suffix == ".rs":
        return "\n".join(rust(data.decode())).encode()
    if path.suffix == ".py":
        return "\n".join(python(data.decode())).encode()
    if path.suffix == ".toml":
        return json.dumps(tomllib.loads(data.decode()), sort_keys=True, default=str).encode()
    return data


def rust(text: str) -> list[str]:
    """The lexemes of a Rust source, without comments and without items for tests."""
    return _without_tests(list(_rust_lexemes(text)))


def _rust_lexemes(text: str) -> Iterator[str]:
    place = 0
    while found := _RUST.match(text, place):
        place = found.end()
        if found["block"]:
            place = _after_block(text, place)
        elif found["lexeme"]:
            yield found["lexeme"]


def _after_block(text: str, place: int) -> int:
    """Where a block comment ends; they nest."""
    depth = 1
    while depth and (edge := _BLOCK.search(text, place)):
        depth += 1 if edge[0] == "/*" else -1
        place = edge.end()
    return len(text) if depth else place


def _without_tests(lexemes: list[str]) -> list[str]:
    kept: list[str] = []
    place = 0
    while place < len(lexemes):
        if tuple(lexemes[place : place + len(_TEST)]) == _TEST:
            place = _after_item(lexemes, place + len(_TEST))
        else:
            kept.append(lexemes[place])
            place += 1
    return kept


def _after_item(lexemes: list[str], place: int) -> int:
    """After the item that begins here: after its semicolon, or its block."""
    while place < len(lexemes):
        lexeme = lexemes[place]
        if lexeme in _OPEN:
            place = _after_group(lexemes, place)
            if lexeme == "{":
                # Those of a `use` are not the end of it.
                return place + (lexemes[place : place + 1] == [";"])
        elif lexeme == ";":
            return place + 1
        else:
            place += 1
    return place


def _after_group(lexemes: list[str], place: int) -> int:
    closing = [_OPEN[lexemes[place]]]
    while closing and (place := place + 1) < len(lexemes):
        if lexemes[place] in _OPEN:
            closing.append(_OPEN[lexemes[place]])
        elif lexemes[place] == closing[-1]:
            closing.pop()
    return place + 1


def python(text: str) -> list[str]:
    """The lexemes of a Python source, without comments and documentation, alike for each version of
    Python.
    """
    lines = text.splitlines(keepends=True)
    words: list[tuple[str, bool]] = []
    begins = True  # a logical line
    nested, since = 0, (0, 0)
    for kind, string, start, end, _ in _python_lexemes(text):
        if kind in _LAYOUT:
            continue
        if kind == _FORMAT_START:
            nested, since = nested + 1, since if nested else start
        elif kind == _FORMAT_END:
            nested -= 1
            if not nested:
                words.append((_between(lines, since, end), False))
        elif not nested:
            words.append((_word(kind, string), begins and kind == tokenize.STRING))
        begins = kind in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return _without_documentation(words)


def _python_lexemes(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError) as error:
        raise ValueError(f"no Python: {error}") from error


def _word(kind: int, string: str) -> str:
    names = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\t", tokenize.DEDENT: "\b"}
    return names.get(kind, string)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, begin), (last, stop) = start, end
    if first == last:
        return lines[first - 1][begin:stop]
    inner = lines[first : last - 1]
    return "".join((lines[first - 1][begin:], *inner, lines[last - 1][:stop]))


def _without_documentation(words: list[tuple[str, bool]]) -> list[str]:
    """Without the strings that are a logical line of their own."""
    kept: list[str] = []
    after = [*words[1:], ("\n", False)]
    for (word, begins), (following, _) in zip(words, after, strict=True):
        if not (begins and following == "\n"):
            kept.append(word)
    return kept

"""What stands in documents between markers, made of result files.

    <!-- results: NAME TABLE -->
    …
    <!-- end -->

holds a table, and `<!--=NAME.KEY:SPEC-->21.7<!--/-->` a value in a sentence, by Python's format
SPEC. Nothing outside of markers is touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scripts.findings.markdown import number
from scripts.findings.results import Data, Value
from scripts.findings.stamps import ROOT

FOLDER: Final = ROOT / "docs" / "findings"

_BLOCK: Final = re.compile(
    r"^(?P<open><!-- results: (?P<name>\S+) (?P<table>\S+) -->\n)"
    r"(?P<body>.*?)(?P<close><!-- end -->)",
    re.MULTILINE | re.DOTALL,
)
_INLINE: Final = re.compile(
    r"(?P<open><!--=(?P<name>[\w-]+)\.(?P<key>[\w.-]*\w)(?::(?P<spec>[^>\s]*?))?-->)"
    r"(?P<body>[^<]*)(?P<close><!--/-->)"
)
_MARKERS: Final = re.compile(r"<!--(?: results:|=| end -->|/-->)")


@dataclass
class Seen(Mapping[str, Value]):
    """Values or tables, and which of them were looked at."""

    of: Mapping[str, Value]
    used: set[str] = field(default_factory=set)

    def __getitem__(self, key: str) -> Value:
        value = self.of[key]
        self.used.add(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.of)

    def __len__(self) -> int:
        return len(self.of)


@dataclass(frozen=True)
class Source:
    """A result as documents take from it: its data and how its tables are made."""

    data: Data
    tables: Mapping[str, Callable[[Data], str]]
    values_used: set[str] = field(default_factory=set)
    tables_used: set[str] = field(default_factory=set)

    def value(self, key: str) -> Value:
        """A value for a sentence. Raises KeyError."""
        found = self.data.values[key]
        self.values_used.add(key)
        return found

    def table(self, name: str) -> str:
        """A table's Markdown. Raises KeyError."""
        made = self.tables[name]
        watched = Data(Seen(self.data.values, self.values_used), _Tables(self))
        return made(watched)

    def unused(self) -> list[str]:
        """Values and tables that no document has taken anything from."""
        values = (f"value {key}" for key in self.data.values if key not in self.values_used)
        tables = (f"table {key}" for key in self.data.tables if key not in self.tables_used)
        return [*values, *tables]


class _Tables(Mapping[str, Sequence[Mapping[str, Value]]]):
    def __init__(self, source: Source) -> None:
        self._source = source

    def __getitem__(self, key: str) -> Sequence[Mapping[str, Value]]:
        rows = self._source.data.tables[key]
        self._source.tables_used.add(key)
        return rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.data.tables)

    def __len__(self) -> int:
        return len(self._source.data.tables)


def documents(folder: Path = FOLDER) -> list[Path]:
    """All of them."""
    return sorted(folder.glob("*.md"))


def filled(text: str, sources: Mapping[str, Source], name: str = "a document") -> str:
    """The text with what the results have between its markers. Raises ValueError for a marker that
    names what is not there, that is not closed, or that Markdown takes for the beginning of a
    block.
    """
    left = _INLINE.sub("", _BLOCK.sub("", text))
    if wrong := _MARKERS.search(left):
        line = left[wrong.start() :].partition("\n")[0]
        raise ValueError(f"{name}: a marker without its other half, or in another form: {line}")
    if early := re.search(r"^ {0,3}<!--=.*", text, re.MULTILINE):
        raise ValueError(
            f"{name}: a line that begins with a marker ends its paragraph: put a word before it: "
            f"{early[0]}"
        )

    def block(found: re.Match[str]) -> str:
        source = _source(sources, found, name)
        try:
            return f"{found['open']}\n{source.table(found['table'])}\n\n{found['close']}"
        except KeyError as error:
            raise ValueError(f"{name}: {found['open'].strip()}: there is no {error}") from error

    def inline(found: re.Match[str]) -> str:
        source = _source(sources, found, name)
        try:
            value = source.value(found["key"])
        except KeyError as error:
            raise ValueError(f"{name}: {found['open']}: there is no {error}") from error
        return found["open"] + number(value, found["spec"] or "") + found["close"]

    return _INLINE.sub(inline, _BLOCK.sub(block, text))


def _source(sources: Mapping[str, Source], found: re.Match[str], name: str) -> Source:
    source = sources.get(found["name"])
    if source is None:
        there = ", ".join(sources)
        raise ValueError(f"{name}: {found['open'].strip()}: no such result; there are {there}")
    return source

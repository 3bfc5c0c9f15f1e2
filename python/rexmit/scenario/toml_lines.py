"""Where the keys of a TOML document stand: the reader of the standard library does not tell.

The document must be valid TOML (parse it first): this follows its brackets, strings and comments
and notes the line of every table and key, those inside inline tables and arrays included.
"""

from __future__ import annotations

Path = tuple[str | int, ...]

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def note(self, path: Path, line: int) -> None:
        for depth in range(1, len(path) + 1):
            self.lines.setdefault(path[:depth], line)

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def blank(self, *, newlines: bool) -> None:
        while self.at < len(self.text):
            char = self.peek()
            if char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char in " \t" or (newlines and char in "\r\n"):
                self.at += 1
            else:
                return

    def string(self) -> str:
        for mark in ('"""', "'''", '"', "'"):
            if self.peek(len(mark)) == mark:
                break
        self.at += len(mark)
        start = self.at
        while self.at < len(self.text) and self.peek(len(mark)) != mark:
            self.at += 2 if mark[0] == '"' and self.peek() == "\\" else 1
        found = self.text[start : self.at]
        self.at += len(mark)
        # A multi-line string may end in up to two quotes of its own before the closing three.
        while len(mark) == 3 and self.peek() == mark[0]:
            self.at += 1
        return found

    def key(self) -> Path:
        parts: list[str | int] = []
        while True:
            self.blank(newlines=False)
            if self.peek() in ("'", '"'):
                parts.append(self.string())
            else:
                start = self.at
                while self.peek() in _BARE and self.at < len(self.text):
                    self.at += 1
                parts.append(self.text[start : self.at])
            self.blank(newlines=False)
            if self.peek() != ".":
                return tuple(parts)
            self.at += 1

    def pair(self, table: Path) -> None:
        line = self.line
        path = table + self.key()
        self.note(path, line)
        self.at += 1  # the equals sign
        self.value(path)

    def value(self, path: Path) -> None:
        self.blank(newlines=False)
        char = self.peek()
        if char in ("'", '"'):
            self.string()
        elif char == "[":
            self.at += 1
            index = 0
            while True:
                self.blank(newlines=True)
                if self.peek() in ("]", ""):
                    self.at += 1
                    return
                self.note((*path, index), self.line)
                self.value((*path, index))
                index += 1
                self.blank(newlines=True)
                if self.peek() == ",":
                    self.at += 1
        elif char == "{":
            self.at += 1
            while True:
                self.blank(newlines=True)
                if self.peek() in ("}", ""):
                    self.at += 1
                    return
                self.pair(path)
                self.blank(newlines=True)
                if self.peek() == ",":
                    self.at += 1
        else:
            while self.peek() and self.peek() not in ",]}#\r\n":
                self.at += 1

    def header(self) -> Path:
        line = self.line
        many = self.peek(2) == "[["
        self.at += 2 if many else 1
        path = self._with_indexes(self.key())
        if many:
            index = self.counts.get(path, 0)
            self.counts[path] = index + 1
            path = (*path, index)
        self.at = self.text.find("]", self.at) + (2 if many else 1)
        self.note(path, line)
        return path

    def _with_indexes(self, path: Path) -> Path:
        full: Path = ()
        for depth, part in enumerate(path):
            full = (*full, part)
            if depth < len(path) - 1 and full in self.counts:
                full = (*full, self.counts[full] - 1)
        return full

    def document(self) -> dict[Path, int]:
        table: Path = ()
        while True:
            self.blank(newlines=True)
            if self.at >= len(self.text):
                return self.lines
            if self.peek() == "[":
                table = self.header()
            else:
                self.pair(table)


def locate(text: str) -> dict[Path, int]:
    """The line, from 1, of every table and key of a valid TOML document, by path."""
    return _Scanner(text).document()

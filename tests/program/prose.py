"""Prose of documents, comments and help, and what a careless replacement of words leaves of it."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]

_NAMES: Final = (
    *("dumpcap", "gzip", "hostfs", "htb", "netem", "nginx", "noqa", "pcap", "rexmit", "sock_diag"),
    *("tc", "tcpdump", "tshark", "type", "xz"),
)
"""What begins a sentence in lower case; a word with a colon does as well."""

_PROPER: Final = frozenset({"HyStart", "NewReno"})
"""What is a type of ours and a word of the field."""

_NOUN: Final = (
    "acknowledgement|capture|column|connection|direction|kernel|packet|piece|probe|receiver|"
    "retransmission|row|segment|sender|stack|subflow|timer"
)

RULES: Final = {
    "a word twice": re.compile(r"\b([A-Za-z]{2,}) \1\b"),
    "an article before another": re.compile(
        r"\b(?:a|an|the) (?:a|an|the|its?|they|their|them|he|she|him|his|her|we|us|our|you|your|"
        r"this|these|those|whose)\b(?!-)",
        re.IGNORECASE,
    ),
    "an article before no noun": re.compile(
        r"\b(?:the|an) (?:of|for|in|at|by|with|from|to|and|or|is|are|was|were|has|have|that|which|"
        r"when|where|if|than|not|be|been)\b(?!-)|\b(?:an|the|its|their|our|your)[.,;:)](?= |$)"
    ),
    "a for an": re.compile(r"\ba (?!and|are)(?:[ai][a-z]{2,}|e(?!u)[a-z]+|o(?!f|ne|nce)[a-z]+)\b"),
    "an for a": re.compile(
        r"\ban (?!hour|honest|heir|htb|skb)(?:[bcdfghjklmnpqrstvwyz][a-z]+|uni[a-z]+|use[a-z]*)\b"
    ),
    "a sentence in lower case": re.compile(
        rf"[a-z]{{3,}}(?<!\betc)\. (?!(?:{'|'.join(_NAMES)})\b|[\w ,]{{1,20}}:)[a-z]"
    ),
    "a space too much": re.compile(r"\w [,;.](?= |$)"),
    "one of many": re.compile(
        rf"\b(?:a|an|one|each|every|another) (?:{_NOUN})s\b|"
        rf"\b(?:two|three|four|several|many|few|both|these|those) (?:{_NOUN})\b(?! [a-z]+s\b|['-])",
        re.IGNORECASE,
    ),
}
"""What no sentence has, by name. Quotations, code and links are taken out before."""

_TYPE: Final = re.compile(r"\b(?:struct|enum|trait|union|type) ([A-Z][a-z]+(?:[A-Z][a-z0-9]*)+)\b")
_LIST: Final = re.compile(r"(?:[-*#>]+|\d+\.) ")


class Paragraph(NamedTuple):
    """Some prose, and where it begins."""

    path: str
    line: int
    text: str


def _paragraphs(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[Paragraph]:
    """Lines put together; blank ones, items of lists, tables and code end a paragraph."""
    found: list[str] = []
    first, code = 0, False
    for number, line in (*lines, (0, "")):
        text = line.strip()
        code ^= text.startswith("```")
        item = _LIST.match(text)
        ends = code or not text or item or line.startswith("    ") or text[0] in "|`<"
        if ends and found:
            yield Paragraph(path, first, " ".join(found))
            found = []
        if (ends and not item) or text.startswith("```"):
            continue
        first = first if found else number
        found.append(text[item.end() :] if item else text)


def of_markdown(path: str, text: str) -> Iterator[Paragraph]:
    """Of a document."""
    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    return _paragraphs(path, enumerate(text.splitlines(), 1))


def of_rust(path: str, text: str) -> Iterator[Paragraph]:
    """Its comments."""
    lines = [
        (n, re.match(r"\s*//[/!]? ?(.*)", line)) for n, line in enumerate(text.splitlines(), 1)
    ]
    return _paragraphs(path, [(n, found[1] if found else "") for n, found in lines])


def of_python(path: str, text: str) -> Iterator[Paragraph]:
    """Its comments and its texts of several words, docstrings and help among them."""
    comments: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = re.sub(r"^#:? ?", "", token.string)
    last = max(comments, default=0)
    yield from _paragraphs(path, [(n, comments.get(n, "")) for n in range(1, last + 1)])
    nodes = list(ast.walk(ast.parse(text)))
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            lines = re.sub(r"^ {4}", "", node.value, flags=re.MULTILINE).splitlines()
            if len(node.value.split()) > 1:
                yield from _paragraphs(path, enumerate(lines, node.lineno))


def _listed(*patterns: str) -> Iterator[tuple[str, str]]:
    command = ["git", "ls-files", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        yield name, (ROOT / name).read_text(encoding="utf-8")


def everywhere() -> Iterator[Paragraph]:
    """All prose of the repository but the changelog's."""
    for path, text in _listed("docs/*.md", "README.md", "CONTRIBUTING.md"):
        yield from of_markdown(path, text)
    for path, text in _listed("*.rs"):
        yield from of_rust(path, text)
    for path, text in _listed("python/*.py", "scripts/*.py", "benches/*.py"):
        yield from of_python(path, text)


def types() -> frozenset[str]:
    """Names of the crates' types that have several words."""
    found = {name for _, text in _listed("*.rs") for name in _TYPE.findall(text)}
    return frozenset(found - _PROPER)


def wrong(text: str, names: frozenset[str] = frozenset()) -> list[str]:
    """What a paragraph has that no sentence has; `names` are those that stand in code alone."""
    text = re.sub(r"`[^`]*`|\"[^\"]*\"|“[^”]*”", "X", text)
    text = re.sub(r"\[([^][]*)\](?:\([^)]*\))?", r"\1", text)
    found = [f"{rule}: …{hit[0]}…" for rule, one in RULES.items() for hit in one.finditer(text)]
    words = re.findall(r"(?<![\w.:/])[A-Z]\w+\b(?!::)", text)
    return found + [f"a type without backticks: {word}" for word in words if word in names]

"""No Rust type grows without anyone noticing: its methods, wherever they stand, and its fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from os.path import commonpath
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[2]

METHODS: Final = 60
FIELDS: Final = 25

LARGE_METHODS: Final[Mapping[str, int]] = {
    # The machine asks 17 of its actor, and a program, an acknowledgement, a timer and the
    # connection above begin 30; the others are steps of the write loop and of a retransmission,
    # each over several of its parts.
    "Sender of crates/tcp/src/sender/mod.rs": 70,
}
"""Types of more methods, which are to be split into parts: they may lose some, never gain any."""

LARGE_FIELDS: Final[Mapping[str, int]] = {
    # A field a column.
    "Retransmission of crates/trace/src/rows.rs": 33,
    # A field a column.
    "SenderRow of crates/trace/src/rows.rs": 32,
    # A field a fact that the table of necessary evidence may ask for.
    "Witness of crates/trace/src/necessary/witness.rs": 26,
}

_IMPL = re.compile(r"^impl(?:<.*?>)?\s+(?:.*?\bfor\s+)?&?(?:mut\s+)?([A-Z]\w*)[^;]*?\{$", re.M)
_STRUCT = re.compile(r"^(?:pub(?:\([^)]*\))?\s+)?struct\s+(\w+)[^;(]*?\{$", re.M)
_METHOD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?fn \w+", re.M)
_FIELD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?\w+: ", re.M)


def counted(files: Mapping[str, str]) -> tuple[Counter[str], Counter[str]]:
    """How many methods and fields each type has, by its name and the file that defines it, of the
    texts of files as rustfmt writes them, tests left out."""
    products = {path: text.split("\n#[cfg(test)]\nmod ")[0] for path, text in files.items()}
    fields = {
        (name, path): len(_FIELD.findall(body))
        for path, text in products.items()
        for name, body in _blocks(text, _STRUCT)
    }
    methods: Counter[str] = Counter()
    for path, text in products.items():
        for name, body in _blocks(text, _IMPL):
            places = [place for known, place in fields if known == name]
            # Of two types of one name it is the one that is defined nearer.
            place = max(places, key=lambda one: len(commonpath([one, path])), default=path)
            methods[f"{name} of {place}"] += len(_METHOD.findall(body))
    return methods, Counter({f"{name} of {path}": n for (name, path), n in fields.items()})


def _blocks(text: str, head: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for found in head.finditer(text):
        end = text.index("\n}", found.end() - 1)
        yield found[1], text[found.end() : end]


def product() -> dict[str, str]:
    """Every Rust file of the crates that is no test."""
    return {
        name: path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "crates").rglob("*.rs"))
        if "tests" not in (name := path.relative_to(ROOT).as_posix()).replace(".rs", "").split("/")
    }


def test_no_type_has_more_methods_than_it_may() -> None:
    methods, _ = counted(product())
    assert {name: n for name, n in methods.items() if n > METHODS} == LARGE_METHODS


def test_no_type_has_more_fields_than_it_may() -> None:
    _, fields = counted(product())
    assert {name: n for name, n in fields.items() if n > FIELDS} == LARGE_FIELDS


def test_methods_and_fields_are_counted_wherever_they_stand() -> None:
    files = {
        "c/src/a.rs": """
pub struct A<T: B> {
    pub x: u8,
    y: T,
}

impl<T: B> A<T> {
    pub fn a() {
        fn inner() {}
    }
}
""",
        "c/src/a/b.rs": """
impl<T> Clone for A<T> {
    fn clone() {
    }
}

#[cfg(test)]
mod tests {
    impl A {
        fn b() {}
    }
}
""",
        "c/src/d.rs": "struct A {\n    x: u8,\n}\n",
    }
    methods, fields = counted(files)
    assert methods == Counter({"A of c/src/a.rs": 2})
    assert fields == Counter({"A of c/src/a.rs": 2, "A of c/src/d.rs": 1})

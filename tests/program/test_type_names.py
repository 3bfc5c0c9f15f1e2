"""A type's name stands for one thing: of names that several types have there are never more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.program.test_types import product

ROOT = Path(__file__).parents[2]

SEVERAL: Final = 3
"""So many types may share a name, each in a room of its own."""

BEYOND: Final = 169
"""Types whose name more have. They may become fewer, never more."""

_RUST = re.compile(
    r"^[ \t]*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) ([A-Z]\w*)"
    r"|^(?:pub(?:\([^)]*\))? )?type ([A-Z]\w*)",
    re.MULTILINE,
)
_PYTHON = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)


def rust_types(text: str) -> list[str]:
    """The types that a Rust file defines, tests left out, and those that belong to a trait."""
    return [one or other for one, other in _RUST.findall(text.split("\n#[cfg(test)]\nmod ")[0])]


def python_types(text: str) -> list[str]:
    """The classes of a Python module."""
    return _PYTHON.findall(text)


def beyond(names: Iterable[str]) -> dict[str, int]:
    """Of each name, how many types more than may have it, those of most first."""
    return {name: n - SEVERAL for name, n in Counter(names).most_common() if n > SEVERAL}


def test_no_more_types_share_a_name() -> None:
    names = [name for text in product().values() for name in rust_types(text)]
    for path in sorted((ROOT / "python").rglob("*.py")):
        names += python_types(path.read_text(encoding="utf-8"))
    found = beyond(names)
    most = ", ".join(f"{name} {n + SEVERAL}" for name, n in [*found.items()][:10])
    print(f"types that share their name with {SEVERAL} others or more, beyond these: {most}")
    assert sum(found.values()) <= BEYOND


def test_types_are_seen() -> None:
    text = """
pub(crate) struct A<T>(T);
    enum B {}
pub type C = u8;
impl A {
    type D = u8;
}
/// struct E
#[cfg(test)]
mod tests {
    struct F;
}
"""
    assert rust_types(text) == ["A", "B", "C"]
    assert python_types("class A:\n    class B: ...\n") == ["A"]
    assert beyond(["A"] * 5 + ["B"] * 3) == {"A": 2}

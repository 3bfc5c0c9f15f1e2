"""Functions and locals are called after what they make and hold: of the few words that say nothing,
there are never more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.program.test_types import product

ROOT = Path(__file__).parents[2]

CALLED_OF: Final = 53
"""Functions called `of`: each is to have its subject's name. They may become fewer, never more."""

SAY_NOTHING: Final = 208
"""Locals called `told`, `said`, `made` or `found`, likewise."""

_WORD = "told|said|made|found"

_RUST_LOCAL = re.compile(
    # What `let`, `for`, a pattern and a closure bind.
    rf"\blet (?:mut )?(?:{_WORD})\b|\blet \((?:\w+, )*(?:{_WORD})\b|\bfor (?:{_WORD}) in\b"
    rf"|\b(?:Some|Ok|Err)\((?:{_WORD})\) (?:=>|=|if)"
    rf"|(?<!\|)\|(?!\|)[^|;{{}}=\n]*\b(?:{_WORD})\b[^|;{{}}=\n]*\|(?!\|)"
)


def rust_functions(text: str) -> int:
    """How many functions of a Rust file are called `of`."""
    return len(re.findall(r"\bfn of\b", text))


def rust_locals(text: str) -> int:
    """How many locals of a Rust file are called by one of the words, as rustfmt writes it."""
    return len(_RUST_LOCAL.findall(re.sub(r"//.*", "", text)))


def python_functions(text: str) -> int:
    """How many functions of a Python file are called `of`."""
    return len(re.findall(r"\bdef _?of\(", text))


def python_locals(text: str) -> int:
    """How many names in a Python file are bound to one of the words, wherever they stand."""
    return sum(name in _WORD.split("|") for name in _bound(ast.parse(text)))


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def python() -> list[str]:
    """Every Python file of the packages."""
    files = sorted((ROOT / "python").rglob("*.py"))
    return [path.read_text(encoding="utf-8") for path in files]


def test_no_more_functions_are_called_of() -> None:
    rust = sum(map(rust_functions, product().values()))
    assert rust + sum(map(python_functions, python())) == CALLED_OF


def test_no_more_locals_say_nothing() -> None:
    rust = sum(map(rust_locals, product().values()))
    assert rust + sum(map(python_locals, python())) == SAY_NOTHING


def test_such_functions_are_seen() -> None:
    assert rust_functions("impl A {\n    pub const fn of(a: u8) -> Self {\n    fn offset() {") == 1
    assert python_functions("def of(a):\n    def _of(b):\n        of(1)\ndef offset(): pass") == 2


def test_such_locals_are_seen() -> None:
    text = """
let found = 1;
let mut told: Vec<u8> = vec![];
let (made, _) = (1, 2);
let Some(said) = x else { return };
for found in all {
    x.map(|told| told + 1).map_or(0, |(made, b)| made);
    self.found = found(told, said.made);
    let x = a || told || found == 1;
    // let found = 2;
}
"""
    assert rust_locals(text) == 7
    text = (
        "def f(told):\n    found = [said for said in told]\n    self.made = made\n    x(found=1)\n"
    )
    assert python_locals(text) == 3

"""Modules of a crate in an order: none uses one that uses it, in however many steps."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"

IN_ORDER = ("guest", "loss")
"""Crates whose modules, those of the first level, form no circle."""


def uses(source: Path) -> dict[str, set[str]]:
    """Of every module of the first level, with those below it, the others that it names."""
    found: dict[str, set[str]] = {}
    for file in source.rglob("*.rs"):
        name = file.relative_to(source).parts[0].removesuffix(".rs")
        if name not in ("main", "lib"):
            found.setdefault(name, set()).update(_names(file.read_text(encoding="utf-8")))
    return {name: (named & found.keys()) - {name} for name, named in found.items()}


def _names(text: str) -> set[str]:
    text = re.sub(r"//[^\n]*", "", text)
    names = set(re.findall(r"\bcrate::(\w+)", text))
    for group in re.findall(r"\bcrate::\{(.*?)\};", text, re.DOTALL):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{[^{}]*\}", "", group)))
    return names


@pytest.mark.parametrize("crate", IN_ORDER)
def test_modules_form_no_circle(crate: str) -> None:
    found = uses(CRATES / crate / "src")
    assert found
    try:
        TopologicalSorter(found).prepare()
    except CycleError as circle:
        pytest.fail(f"modules of {crate} use each other: {' -> '.join(circle.args[1])}")


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "main.rs").write_text("mod a;\nmod b;\nuse crate::a;\n")
    (tmp_path / "a.rs").write_text("use crate::{net::{x, y}, b};\n// crate::c\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "deep.rs").write_text("fn f() { crate::a::g() }\n")
    assert uses(tmp_path) == {"a": {"b"}, "b": {"a"}}

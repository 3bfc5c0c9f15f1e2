"""What functions are told comes as an object: there are no long lists of parameters, and values
that are handed on by their names from function to function may only become fewer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGES = Path(__file__).parents[2] / "python"

PARAMETERS: Final = 7
"""More of them are a long list: hand an object on."""

COMMAND_LINES: Final = 120
"""A longer function of a command does what the library should."""

HANDED_ON: Final = frozenset({"capture_filter", "connections_limit", "jobs", "stacks"})
"""What nearly every function once took, and handed on as `jobs=jobs`."""

HAND_ONS: Final = 7
"""How often they are handed on so."""


def long_lists(text: str) -> Iterator[tuple[str, int]]:
    """Functions with more parameters than they should have, and how many those are."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            count = len([name for name in names if name not in ("self", "cls")])
            if count > PARAMETERS:
                yield node.name, count


def hand_ons(text: str) -> int:
    """How often a value is handed on under its own name, of those that are watched."""
    return sum(
        isinstance(node, ast.keyword)
        and node.arg in HANDED_ON
        and isinstance(node.value, ast.Name)
        and node.value.id == node.arg
        for node in ast.walk(ast.parse(text))
    )


def product() -> dict[str, str]:
    """Every module of all packages."""
    return {
        path.relative_to(PACKAGES).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGES.rglob("*.py"))
    }


def test_no_list_of_parameters_is_long() -> None:
    found = {
        f"{name} of {path}": count
        for path, text in product().items()
        for name, count in long_lists(text)
    }
    print(f"functions of more than {PARAMETERS} parameters: {len(found)}")
    assert found == {}


def test_no_command_is_long() -> None:
    for path, text in product().items():
        if "/cli/" in path:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    lines = (node.end_lineno or 0) - node.lineno + 1
                    assert lines <= COMMAND_LINES, f"{node.name} of {path}: {lines} lines"


def test_no_more_is_handed_on() -> None:
    found = {path: count for path, text in product().items() if (count := hand_ons(text))}
    print(f"values handed on under their names: {sum(found.values())}")
    assert sum(found.values()) == HAND_ONS, found


def test_both_are_counted_wherever_they_stand() -> None:
    text = """
class A:
    def f(self, a, /, b, c, *rest, d, e, f, g=1, **more):
        async def h(a, b, c, d, e, f, g, jobs):
            return k(jobs=jobs, stacks=jobs, other=other)
"""
    assert list(long_lists(text)) == [("h", 8)]
    assert hand_ons(text) == 1

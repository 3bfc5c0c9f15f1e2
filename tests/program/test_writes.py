"""Nothing in the package opens a file to write it but `store/opening.py`, whose rules hold against
planted links, and the few lines that say why they do (`# writes: WHY`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "python"

PLACE = PACKAGES / "rexmit" / "store" / "opening.py"

METHODS = frozenset({"write_text", "write_bytes", "touch"})
"""Whatever they are called on."""

FUNCTIONS = frozenset(
    {
        *(f"shutil.{name}" for name in ("copy", "copy2", "copyfile", "copytree", "move")),
        *("os.makedirs", "os.truncate", "tempfile.mktemp", "tempfile.NamedTemporaryFile"),
    }
)

READING = frozenset({"O_RDONLY", "O_PATH"})
WRITING = frozenset({"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"})


def writes(text: str) -> list[int]:
    """The numbers of the lines that open, make or follow what is written without saying why."""
    lines = text.splitlines()
    tree = ast.parse(text)
    assigned = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = {node.lineno for node in calls if _writes(node, assigned)}
    return sorted(n for n in found if not re.search(r"# writes: \w", lines[n - 1]))


def _writes(node: ast.Call, assigned: Mapping[str, ast.expr]) -> bool:
    name = ast.unparse(node.func)
    method = name.rpartition(".")[2]
    if name in FUNCTIONS or (method in METHODS and isinstance(node.func, ast.Attribute)):
        return True
    if name == "os.open":
        flags = _flags(node, assigned)
        return not flags & READING or bool(flags & WRITING)
    if method == "mkdir":
        # One that may be there already may be a link to another.
        return any(keyword.arg == "exist_ok" for keyword in node.keywords)
    if name == "os.fdopen" or method != "open":
        return False
    return any(_is_mode(value) for value in _values(node))


def _flags(node: ast.AST, assigned: Mapping[str, ast.expr]) -> set[str]:
    """The flags in an expression, and in what its names were assigned in the file."""
    found: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute):
            found.add(one.attr)
        elif isinstance(one, ast.Name) and one.id in assigned:
            rest = {name: value for name, value in assigned.items() if name != one.id}
            found |= _flags(assigned[one.id], rest)
    return found


def _values(node: ast.Call) -> Iterator[ast.expr]:
    yield from node.args
    yield from (keyword.value for keyword in node.keywords)


def _is_mode(value: ast.expr) -> bool:
    said = value.value if isinstance(value, ast.Constant) else None
    return isinstance(said, str) and bool(re.fullmatch(r"[rwxabt+]*[wxa+][rwxabt+]*", said))


@pytest.mark.parametrize(
    "line",
    [
        "path.write_text('x')",
        "path.write_bytes(b'x')",
        "path.touch()",
        "path.open('wb')",
        "path.open(mode='a')",
        "open(path, 'w')",
        "open(path, 'r+')",
        "os.open(path, os.O_RDWR)",
        "os.open(path, flags | os.O_CREAT)",
        "os.open(path, flags)",
        "shutil.copyfile(a, b)",
        "tempfile.NamedTemporaryFile()",
        "path.mkdir(parents=True, exist_ok=True)",
    ],
)
def test_is_seen(line: str) -> None:
    assert writes(line) == [1]
    assert writes(f"{line}  # writes: a reason") == []


@pytest.mark.parametrize(
    "line",
    ["path.open('rb')", "os.open(path, os.O_RDONLY | os.O_DIRECTORY)", "engine.open(kernel)"],
)
def test_reading_is_none(line: str) -> None:
    assert writes(line) == []


def test_flags_are_looked_up() -> None:
    assert writes("FLAGS = os.O_RDONLY | os.O_CREAT\nos.open(path, FLAGS)") == [2]
    assert writes("FLAGS = os.O_RDONLY\nos.open(path, FLAGS)") == []


def test_all_go_the_one_way() -> None:
    wrong = [
        f"{file.relative_to(PACKAGES)}:{number}"
        for file in sorted(PACKAGES.rglob("*.py"))
        if file != PLACE
        for number in writes(file.read_text(encoding="utf-8"))
    ]
    assert wrong == [], "write by store/files.py, or by what store/opening.py opens"

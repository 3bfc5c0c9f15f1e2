"""Every import of the package against the table of rooms in docs/explanation/design.md."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "rexmit"

Imports = Mapping[str, set[str]]
"""Modules of the package by name, without `rexmit.`, and the modules that each imports."""


def rooms(text: str) -> list[str]:
    """The rooms of the document's table, the lowest first."""
    section = text.split("## Rooms of the Python package")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def imports(package: Path) -> Imports:
    """Of every module, wherever in it the import stands."""
    files = {_name(file, package): file for file in package.rglob("*.py")}
    compiled = {file.name.split(".")[0] for file in package.glob("*.pyi")}
    known = files.keys() | compiled
    return {name: set(_imports(file, known)) for name, file in files.items()}


def _name(file: Path, package: Path) -> str:
    parts = file.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(file: Path, known: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (_inner(alias.name) for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: {node.lineno}: a relative import"
            if _is_ours(node.module or ""):
                inner = _inner(node.module or "")
                for alias in node.names:
                    module = f"{inner}.{alias.name}".removeprefix(".")
                    yield module if module in known else inner


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == "rexmit"


def _inner(name: str) -> str:
    return name.removeprefix("rexmit").removeprefix(".")


def upward(found: Imports, order: Sequence[str]) -> list[str]:
    """What imports a room that does not stand above its own."""
    level = {room: place for place, room in enumerate(order)}
    wrong = []
    for module, others in sorted(found.items()):
        room = module.split(".")[0]
        for other in sorted(others):
            theirs = other.split(".")[0]
            if room != theirs and level[theirs] >= level[room]:
                wrong.append(f"{module} imports {other}")
    return wrong


def circle(found: Imports) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    graph = {name: others - {name} for name, others in found.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.fixture(scope="module")
def found() -> Imports:
    """Of the package, without what only starts it."""
    every = dict(imports(PACKAGE))
    del every["__main__"], every[""]
    return every


@pytest.fixture(scope="module")
def order() -> list[str]:
    return rooms((ROOT / "docs" / "explanation" / "design.md").read_text(encoding="utf-8"))


def test_the_table_has_every_room_once(found: Imports, order: list[str]) -> None:
    there = {module.split(".")[0] for module in found} | {"_core"}
    assert sorted(order) == sorted(there)


def test_no_room_imports_one_below_it(found: Imports, order: list[str]) -> None:
    assert upward(found, order) == []


def test_no_modules_import_each_other(found: Imports) -> None:
    assert circle(found) == []


def test_the_product_knows_no_other_package() -> None:
    """Those beside it are reached by what they add alone, and import it."""
    others = [path.parent.name for path in PACKAGE.parent.glob("*/adds.py")]
    assert "rexmit_validate" in others
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            assert not {name.partition(".")[0] for name in names} & set(others), file


def test_it_works_without_them(tmp_path: Path) -> None:
    """Every module is imported, and a capture analysed, where no other package lies."""
    (tmp_path / "rexmit").symlink_to(PACKAGE)
    modules = [
        f"rexmit.{name}".removesuffix(".") for name in imports(PACKAGE) if name != "__main__"
    ]
    code = f"import importlib; [importlib.import_module(name) for name in {modules}]"
    capture = ROOT / "tests/real/captures/dcerpc.pcap"
    for words, status in (
        (["-c", code], 0),
        (["-m", "rexmit", "trace", str(capture)], 0),
        (["-m", "rexmit", "validate", "--help"], 2),
    ):
        done = subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )
        assert done.returncode == status, done.stderr
    assert "No such command 'validate'" in done.stderr


def test_wrong_imports_are_seen(tmp_path: Path) -> None:
    """In functions and for types too, and of modules by their package's name."""
    for name, text in {
        "low/a": "def late():\n    from rexmit import high\n",
        "low/b": "if TYPE_CHECKING:\n    from rexmit.high.c import C\n",
        "low/d": "import rexmit.low.e\nimport polars\n",
        "low/e": "from rexmit.low import d\n",
        "high/__init__": "",
        "high/c": "from rexmit.low import a\n",
    }.items():
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    made = imports(tmp_path)
    assert upward(made, ["low", "high"]) == ["low.a imports high", "low.b imports high.c"]
    assert upward(made, ["high", "low"]) == ["high.c imports low.a"]
    assert set(circle({name: made[name] for name in ("low.d", "low.e")})) == {"low.d", "low.e"}

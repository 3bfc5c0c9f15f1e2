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
from shutil import copyfile
from typing import Final

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


PACKAGES: Final = ("rexmit", "rexmit_papers", "rexmit_validate")
"""Each may import those before it, and is whole without those behind it."""

NAMES: Final = re.compile(r"\bpapers?\b|tlp.?2013|unc.?2007|mptcp.?2017|ryll", re.IGNORECASE)
"""Papers, and the scenarios that are of one."""

SOURCES: Final = {
    "_core.pyi": "`unc-2007`, a set of stacks whose settings are from there",
    "analysis/leave_out.py": "the rule for transfers without a probe is from there",
    "cli/trace_options.py": "that set of stacks, and the grid of settings",
    "library/trace.py": "that set of stacks",
    "store/trace_schema.py": "the setting `smart` is from there",
    "tracing/sentences/settings.py": "the setting `smart` is from there",
    "webpage/assets/table.js": "paper to print on",
    "webpage/assets/theme.js": "paper to print on",
    "whatif/settings.py": "the grid of settings is from there",
}
"""Files that name one, and why: a definition has its source beside it."""


def others(file: Path) -> set[str]:
    """The packages that a file imports, among ours."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
    return found & set(PACKAGES)


def test_packages_import_those_before_them() -> None:
    """The product imports no other; what they add is all that it knows of them."""
    there = sorted(path.parent.name for path in PACKAGE.parent.glob("*/__init__.py"))
    assert there == sorted(PACKAGES)
    for place, package in enumerate(PACKAGES):
        for file in (PACKAGE.parent / package).rglob("*.py"):
            assert others(file) <= set(PACKAGES[: place + 1]), file


def test_the_product_names_no_paper() -> None:
    """Its tables, figures and words are those of a scenario."""
    found = {
        file.relative_to(PACKAGE).as_posix()
        for ending in ("py", "pyi", "js", "css")
        for file in PACKAGE.rglob(f"*.{ending}")
        if NAMES.search(file.read_text(encoding="utf-8"))
    }
    assert found == SOURCES.keys()


@pytest.mark.parametrize("there", [1, 2])
def test_it_works_without_those_behind(there: int, tmp_path: Path) -> None:
    """Every module is imported, and what commands are for is done, where only some packages lie."""
    for package in PACKAGES[:there]:
        (tmp_path / package).symlink_to(PACKAGE.parent / package)
    # Where this checkout is installed, its folder is in the path as well.
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, sys\n"
        f"sys.path[:] = [one for one in sys.path if one == {str(tmp_path)!r}\n"
        "    or not pathlib.Path(one, 'rexmit').is_dir()]\n",
        encoding="utf-8",
    )
    modules = [
        f"{package}.{name}".removesuffix(".")
        for package in PACKAGES[:there]
        for name in imports(PACKAGE.parent / package)
        if name != "__main__"
    ]
    code = f"import importlib; [importlib.import_module(name) for name in {modules}]"
    copyfile(ROOT / "tests/real/captures/dcerpc.pcap", tmp_path / "capture.pcap")
    small = ("--set", "network=mobile", "--set", "loss.segments=5")
    for words, status in (
        (("-c", code), 0),
        (("run", "smoke", "--engine", "model", *small, "--out", "run"), 0),
        (("show", "run"), 0),
        (("show", "run", "--repairs", "--json"), 0),
        (("show", "run", "run"), 0),
        (("plot", "run", "--format", "png"), 0),
        (("diff", "run", "run"), 0),
        (("trace", "capture.pcap", "--out", "trace"), 0),
        (("report", "run", "trace"), 0),
        (("show", "run", "--claims"), 0 if there > 1 else 2),
        (("paper", "--help"), 0 if there > 1 else 2),
        (("validate", "--help"), 2),
    ):
        program = () if words[0] == "-c" else ("-m", "rexmit")
        done = subprocess.run(
            [sys.executable, *program, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )
        assert done.returncode == status, (words, done.stderr)
        if words[0] in ("show", "plot", "report") and "--claims" not in words:
            assert not NAMES.search(done.stdout), words
    assert "No such command 'validate'" in done.stderr
    made = (tmp_path / "report.html").read_bytes()
    assert made.startswith(b"<!doctype html>")


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
    assert others(tmp_path / "low/a.py") == {"rexmit"}
    assert upward(made, ["low", "high"]) == ["low.a imports high", "low.b imports high.c"]
    assert upward(made, ["high", "low"]) == ["high.c imports low.a"]
    assert set(circle({name: made[name] for name in ("low.d", "low.e")})) == {"low.d", "low.e"}

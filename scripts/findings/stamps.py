"""Which code a result depends on, and whether it is still the code that made it.

A stamp is, for each of a finding's patterns, the beginning of the SHA-256 of the names and contents
of all files that match it, each as `normal` has it. Not in it: the versions of libraries and
compilers, and the drawing of figures.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from scripts.findings.normal import normal

ROOT: Final = Path(__file__).parents[2]
DIGITS: Final = 20


def crates(name: str, root: Path = ROOT) -> tuple[str, ...]:
    """The sources of a crate and of all crates of ours that it is made of, as Cargo has them."""
    found: set[str] = set()
    todo = [name]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            about = tomllib.loads(
                (root / "crates" / one / "Cargo.toml").read_text(encoding="utf-8")
            )
            names = [of.removeprefix("rexmit-") for of in about.get("dependencies", {})]
            todo += [of for of in names if (root / "crates" / of).is_dir()]
    return tuple(f"crates/{one}/src/**/*.rs" for one in sorted(found))


MODEL: Final = (
    *crates("sim"),
    *(f"python/rexmit/{room}/**/*.py" for room in ("scenario", "campaign", "analysis")),
    "python/rexmit/statistics/*.py",
    "python/rexmit/engines/model.py",
    "python/rexmit_papers/claim.py",
)
"""Whatever runs on the model, is summed up, and judged."""

KERNELS: Final = (
    *crates("guest"),
    "kernel/fragment.config",
    "kernel/patches/**/*.patch",
    *(
        f"python/rexmit/engines/{name}.py"
        for name in ("attempt", "boot", "guest", "kernel", "tail")
    ),
)
"""Whatever runs on kernels, beside that."""

TRACE: Final = (
    *crates("trace"),
    *(f"python/rexmit/tracing/{name}.py" for name in ("mechanisms", "sides", "systems", "terms")),
    *(
        f"python/rexmit/tracing/{name}.py"
        for name in ("folder", "inputs", "run", "table_parts", "tasks")
    ),
    "python/rexmit/whatif/settings.py",
)
"""Whatever analyses captures."""


def files(patterns: Iterable[str], root: Path = ROOT) -> list[Path]:
    """Those that match, without tests and what only prints. Raises ValueError for a pattern that
    matches none.
    """
    found: set[Path] = set()
    for pattern in patterns:
        there = [path for path in root.glob(pattern) if path.is_file()]
        if not there:
            raise ValueError(f"{pattern}: no such file, though a finding depends on it")
        found.update(path for path in there if _counts(path.relative_to(root)))
    return sorted(found)


def _counts(path: Path) -> bool:
    name = path.name
    return not (
        name == "tests.rs"
        or name.endswith("_tests.rs")
        or "tests" in path.parts
        or name.startswith("print_")
    )


def stamps(patterns: Iterable[str], root: Path = ROOT) -> dict[str, str]:
    """Of each pattern a digest of all its files, in hexadecimal digits."""
    return {pattern: _stamp(pattern, root) for pattern in sorted(set(patterns))}


def _stamp(pattern: str, root: Path) -> str:
    whole = hashlib.sha256()
    for path in files([pattern], root):
        whole.update(f"{path.relative_to(root)}\0{_digest(path)}\n".encode())
    return whole.hexdigest()[:DIGITS]


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(normal(path)).hexdigest()

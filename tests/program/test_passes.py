"""How often `make check test` compiles the workspace, and what each target asks of a machine."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from tests.processes import run_command

ROOT = Path(__file__).parents[2]

PASSES = 3
"""Lints, tests, and what users get. The guest program, which is linked otherwise, is apart."""

BUILDS = re.compile(
    r"(?P<pass>cargo clippy|cargo test|MATURIN_PEP517_ARGS='[^']*'|scripts/build-guest)"
    r"|cargo (?:build|run|bench|rustc)\b|maturin (?:build|develop)"
)
"""What compiles our crates. Those that are built alike are one pass."""


def commands(*targets: str) -> list[str]:
    """What make would run for targets where nothing is built, a line each."""
    words = ["make", "--no-print-directory", "--dry-run", "--always-make", *targets]
    # Not as a part of the make that runs these tests.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    made = run_command(words, cwd=ROOT, env=env)
    assert made.returncode == 0, made.stderr
    return made.stdout.replace("\\\n", " ").splitlines()


def test_the_workspace_is_compiled_a_few_times() -> None:
    found = [one for line in commands("check", "test") for one in BUILDS.finditer(line)]
    passes = {one["pass"] for one in found}
    assert None not in passes, [one[0] for one in found]
    assert "scripts/build-guest" in passes
    print(f"compile passes: {len(passes) - 1}, and the guest program")
    assert len(passes - {"scripts/build-guest"}) <= PASSES


def test_checks_and_fast_tests_ask_for_no_more_than_a_bare_machine_has() -> None:
    for target in ("check", "test-fast", "wheel"):
        asked = [shlex.split(line) for line in commands(target) if "system-packages" in line]
        assert asked
        assert {words[-1] for words in asked} == {"base"}, target
    assert any(line.endswith("scripts/system-packages") for line in commands("test"))


def test_the_fast_tests_run_first() -> None:
    runs = [line for line in commands("test") if "pytest" in line and " -m " in line]
    assert ["not (" in line for line in runs] == [True, False]

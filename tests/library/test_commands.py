"""The command line parses, calls the library and prints."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import click
import pytest

from rexmit.cli import app

WORKING = frozenset({"campaign", "engines", "guest", "scenario", "stacks", "whatif"})
"""Rooms that do what commands ask for, and say nothing of how it is printed."""

LIBRARIES = ("library.", "rexmit_papers.library.", "rexmit_validate.library.")


def commands(group: click.Group, before: str = "") -> dict[str, Path]:
    """Every command with the file that it stands in."""
    found: dict[str, Path] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        assert one is not None
        if isinstance(one, click.Group):
            found |= commands(one, f"{before}{name} ")
        else:
            assert one.callback is not None
            found[f"{before}{name}"] = Path(inspect.getfile(inspect.unwrap(one.callback)))
    return found


def imported(file: Path) -> set[str]:
    """Modules of the packages that a file imports, without `rexmit.`."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {
        f"{node.module}.{alias.name}".removeprefix("rexmit.")
        for node in froms
        for alias in node.names
        if (node.module or "").startswith("rexmit")
    }


EVERY = commands(app)


@pytest.mark.parametrize("command", EVERY)
def test_a_command_calls_the_library(command: str) -> None:
    modules = imported(EVERY[command])
    assert any(module.startswith(LIBRARIES) for module in modules)
    assert {module.partition(".")[0] for module in modules} & WORKING == set()


def test_all_of_them_are_looked_at() -> None:
    assert {"run", "show", "kernel exec", "validate agree", "paper tlp-2013", "tcpfilter"} <= set(
        EVERY
    )

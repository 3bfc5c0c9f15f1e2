"""Every block of the documents is run, in order, and gives what stands below it."""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.docs.documents import (
    FINDINGS,
    GALLERY,
    blocks_of,
    documents,
    name,
    needs_kernel,
)

from rexmit.scenario import from_plain
from rexmit_site.blocks import Block, commands, like

SHELLS: Final = ("sh", "console")
TRIED: Final = (*SHELLS, "python", "toml")

_PATH: Final = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
_ENVIRONMENT: Final = {**os.environ, "PATH": _PATH, "COLUMNS": "100"}


def shell(text: str, place: str) -> list[str]:
    """What bash prints. It must not fail."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{place}: {text}\n{done.stdout}"
    return done.stdout.splitlines()


def python(text: str, names: dict[str, Any], place: str) -> list[str]:
    """What is printed, and the value of the last expression as a notebook shows it."""
    body = ast.parse(text).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), place, "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)  # noqa: S307
            if value is not None:
                print(repr(value))
    return printed.getvalue().splitlines()


def compare(shown: list[str], told: list[str], place: str) -> None:
    """The shown lines are what was told."""
    if not like(shown, told):
        lines = difflib.unified_diff(shown, told, "shown", "told", lineterm="")
        pytest.fail("\n".join([f"{place}: …", *lines]))


def scenario(text: str) -> None:
    """A scenario, or a part of one."""
    whole = {
        "format": 1,
        "networks": {"one": {"rate": "1Mbit", "delay": "1ms"}},
        "configs": {"one": {}},
    }
    from_plain(whole | tomllib.loads(text))


def run(blocks: list[Block]) -> Iterator[Block]:
    """Run them in the working folder; yields those that were run."""
    names: dict[str, Any] = {}
    given: list[str] | None = None
    for block in blocks:
        before, given = given, None
        if block.language == "text" and before is not None and block.follows:
            compare(block.text.splitlines(), before, block.place)
        if "file" in block.said:
            Path(block.said["file"]).write_text(f"{block.text}\n", encoding="utf-8")
        if block.language == "toml":
            scenario(block.text)
        if block.not_run is not None or block.language not in TRIED:
            continue
        if block.language == "sh":
            shell(block.text, block.place)
        elif block.language == "python":
            given = python(block.text, names, block.place)
        elif block.language == "console":
            for command in commands(block.text):
                told = shell(command.typed, block.place)
                if command.shown:
                    compare(command.shown, told, f"{block.place}: {command.typed}")
        yield block


def of_documents() -> list[Any]:
    """Those that have a block to run; the gallery's are run for its pictures."""
    return [
        pytest.param(
            document,
            id=name(document),
            marks=[pytest.mark.kernel] if needs_kernel(document) else [],
        )
        for document in documents()
        if FINDINGS not in document.parents
        and document != GALLERY
        and any(one.language in TRIED and one.not_run is None for one in blocks_of(document))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("document", of_documents())
@pytest.mark.usefixtures("place")
def test_blocks_do_what_they_say(document: Path) -> None:
    assert list(run(blocks_of(document)))


def test_what_is_not_run_says_why() -> None:
    for document in documents():
        for block in blocks_of(document):
            # A block of results is made by scripts/findings.
            said = block.said.keys() - {"not run", "file", "results"}
            assert not said, f"{name(document)}: {block.place}: unknown comment {said}"
            if block.not_run is not None:
                assert block.language in TRIED, block.place
                assert len(block.not_run) > 8, block.place


def block(language: str, text: str, **said: str) -> Block:
    return Block("here.md:1", language, text, said, follows=True)


@pytest.mark.usefixtures("place")
def test_a_block_that_fails_is_told() -> None:
    with pytest.raises(AssertionError, match=r"here.md:1: false"):
        list(run([block("sh", "false")]))
    with pytest.raises(pytest.fail.Exception, match=r"-2\n\+3"):
        list(run([block("console", "$ echo 3\n2")]))
    with pytest.raises(pytest.fail.Exception, match=r"-4\n\+5"):
        list(run([block("python", "2 + 3"), block("text", "4")]))
    with pytest.raises(ZeroDivisionError):
        list(run([block("python", "1 / 0")]))
    with pytest.raises(Exception, match="unknown key"):
        list(run([block("toml", "[tcp]\nnone = 1")]))
    assert list(run([block("sh", "false", **{"not run": "fails"})])) == []


def test_lines_are_compared_with_gaps() -> None:
    told = ["one 1", "two", "three", "four 4 5"]
    assert like(["one …", "…", "four … 5"], told)
    assert like(["…"], told)
    assert like(["…", "two", "…"], told)
    assert not like(["two", "…"], told)
    assert not like(["one 1", "three", "…"], told)
    assert not like(["…", "four 4"], told)

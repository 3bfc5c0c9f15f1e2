"""Names that others chose, as they are shown and as they are quoted for a shell."""

from __future__ import annotations

import ast
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Final

from hypothesis import strategies as st
from tests.program.names import FORBIDDEN, NAME

from rexmit import escaping


def test_a_command_with_a_bad_name_works_in_a_shell() -> None:
    words = ["printf", "%s|", NAME, "plain", "two words", "it's", os.fsdecode(b"\xff\xc3"), "a\nb"]
    command = escaping.shell(words)
    assert escaping.shown(command) == command
    said = subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout
    assert said == b"".join(os.fsencode(word) + b"|" for word in words[2:])
    assert escaping.shell(["a", "two words"]) == shlex.join(["a", "two words"])


_CHARACTERS: Final = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
"""Of other surrogates than those of bytes that are no text no name is made."""

WORDS: Final = st.lists(
    st.text(st.sampled_from("ab \"$'\\7\n\x07é\udcff") | _CHARACTERS)
    .map(os.fsencode)
    .map(os.fsdecode)
)


def test_what_is_hidden_is_shown_as_in_json() -> None:
    for text in (NAME, "\u0000\u0085\udcff", "plain ü ñ 日本 عربى 😀 a\nb"):
        said = escaping.shown(text)
        assert json.loads(f'"{said}"', strict=False) == text
        assert not FORBIDDEN.search(said)
    assert escaping.shown("ü ñ 日本 عربى 😀") == "ü ñ 日本 عربى 😀"
    assert escaping.shown_lines(f"ü\n{NAME}") == "ü\n" + escaping.shown(NAME).replace(
        "\\u000a", "\n"
    )


PACKAGES: Final = Path(escaping.__file__).parents[1]

WAYS_ROUND: Final = {"print", "click.echo", "sys.stdout.write", "sys.stderr.write"}
"""What writes lines by itself, where `outputs` escapes them."""


def test_lines_are_written_in_one_way() -> None:
    for file in PACKAGES.rglob("*.py"):
        if file.name in ("outputs.py", "progress.py"):
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not calls & WAYS_ROUND, file
        froms = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert "rich.text" not in froms, f"{file}: rexmit.present.text.Text escapes"

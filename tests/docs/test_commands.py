"""Every `rexmit` command in a document or in a page of help can be parsed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.documents import FINDINGS, blocks_of, documents, name
from tests.docs.typed import commands, wrong

from rexmit_site.blocks import commands as of_console
from rexmit_site.commands import every


def text(language: str, block: str) -> str:
    """What is typed."""
    if language == "console":
        return "\n".join(command.typed for command in of_console(block))
    return block


@pytest.mark.parametrize("document", documents(), ids=name)
def test_commands_of_documents(document: Path) -> None:
    told = []
    for block in blocks_of(document):
        if block.language in ("sh", "console", "ini"):
            for words in commands(text(block.language, block.text)):
                if (error := wrong(words)) is not None:
                    told.append(f"{block.place}: {' '.join(words)}: {error}")
    assert told == []


def test_there_are_many() -> None:
    found = [
        words
        for document in documents()
        for block in blocks_of(document)
        if block.language == "sh"
        for words in commands(block.text)
    ]
    assert len(found) > 100
    assert any(FINDINGS in document.parents for document in documents())


def test_commands_of_pages_of_help() -> None:
    told = []
    for words, command in every():
        for line in re.sub(r" *\\\n\s*", " ", f"{command.help}\n{command.epilog}").splitlines():
            # What it is for stands behind it.
            if found := re.match(r" +(rexmit .*?)(?:\s{2,}\S.*)?$", line.replace("   ", "  ")):
                typed = re.sub(r"\s+", " ", found[1])
                told += [
                    f"{' '.join(words)}: {typed}: {error}"
                    for one in commands(typed)
                    if (error := wrong(one)) is not None
                ]
    assert told == []


def test_a_wrong_command_is_told() -> None:
    typed = "A=1 sudo /opt/rexmit trace --nosuch x | rexmit nothing; (rexmit run smoke --jobs x)"
    errors = [wrong(words) for words in commands(typed)]
    assert len(errors) == 3
    first, second, third = errors
    assert "--nosuch" in str(first)
    assert second == "no command nothing"
    assert "x is no whole number" in str(third)
    assert [wrong(words) for words in commands("rexmit --version # rexmit\nrexmit run smoke")] == [
        None,
        None,
    ]

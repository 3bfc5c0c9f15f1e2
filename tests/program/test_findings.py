"""The commands of the findings that answer the papers item by item: the small ones work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rexmit.cli import app

FINDINGS: Final = Path(__file__).parents[2] / "docs" / "findings"

#: A kernel has to be built, or thousands of benches measured.
_LARGE: Final = ("--kernel", "--together")


def commands(text: str) -> list[str]:
    """Those of blocks of shell first, then those of tables, each once."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    cells = re.findall(r"^\|.*?`(rexmit [^`]+)` \|$", text, re.MULTILINE)
    return list(dict.fromkeys(line for line in [*lines, *cells] if line.startswith("rexmit ")))


def small(command: str) -> bool:
    return not any(word in command for word in _LARGE)


def items() -> list[Path]:
    found = sorted(FINDINGS.glob("tlp-2013-items.md")) + sorted(FINDINGS.glob("tlp-2013-talk.md"))
    assert len(found) == 2
    return found


def test_every_item_says_what_became_of_it() -> None:
    """A table's row has as many cells as its head, and its verdict is not empty."""
    for document in items():
        heads = 0
        for line in document.read_text().splitlines():
            if not line.startswith("|"):
                heads = 0
                continue
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            heads = heads or len(cells)
            assert len(cells) == heads, line
            assert cells[-3], line


@pytest.mark.slow
@pytest.mark.parametrize("document", items(), ids=lambda path: path.stem)
def test_small_commands_work(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = commands(document.read_text())
    assert len(told) > 10
    for command in filter(small, told):
        done = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
        assert done.exit_code == 0, (command, done.output, done.exception)


def test_commands_are_found_in_blocks_and_in_tables() -> None:
    text = (
        "```sh\nrexmit run a \\\n  --out b   # why\n```\n"
        "| x | `rexmit show b` |\n| `rexmit stacks` | `rexmit run c --kernel 6.12` |\n"
    )
    found = commands(text)
    assert [" ".join(one.split()) for one in found] == [
        "rexmit run a --out b # why",
        "rexmit show b",
        "rexmit run c --kernel 6.12",
    ]
    assert [small(one) for one in found] == [True, True, False]

"""How many files an addition touches: an option, a sentence and a column are added to a copy. Of a
stack, and of a change of RACK's window, the files that know one are counted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from tests.processes import run_command
from tests.program.test_types import product

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/rexmit"
CAPTURE = ROOT / "tests/real/captures/dcerpc.pcap"

Edits = Mapping[str, tuple[tuple[str, str], ...]]
"""Of each file of the package the lines that are added, each behind a line that is there."""

JSON: Final = """\
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False
"""
RESUME: Final = """\
    resume: bool = False
    \"""Whether an analysis on a cluster that was stopped goes on.\"""
"""

OPTION: Final[Edits] = {
    "cli/trace_options.py": (
        (JSON, '    trial: Annotated[int, Option("--trial", help="A trial.")] = 0\n'),
    ),
    "tracing/options.py": (
        (RESUME, "    trial: int = 0\n"),
        ("class Live(TypedDict, total=False):\n", "    trial: int\n"),
        ('            "stacks": list(self.stacks),\n', '            "trial": self.trial,\n'),
    ),
}
"""What a user gives, as far as the compiled core."""

OF_CORE: Final = {
    "crates/python/src/trace/asked.rs": r"\blinger_s\b",
    "crates/trace/src/settings.rs": r"\bpub linger:",
    "python/rexmit/_core.pyi": r"\blinger_s\b",
}
"""Where a setting of the core is declared, and read from Python: one that there is."""

SENTENCE: Final[Edits] = {
    "tracing/sentences/network.py": (
        (
            '    """What is no retransmission, though it looks like one."""\n',
            '    return [Sentence("it is one", "connections", bool, label="trial")]\n',
        ),
    ),
}


COLUMN: Final[Edits] = {
    "tracing/groups.py": (
        ("    refused: int\n", "    trial: int\n"),
        ('    pl.len().alias("connections"),\n', '    pl.lit(7).alias("trial"),\n'),
    ),
    "tracing/sections/groups.py": (
        (
            '        ("\\nrefused", lambda one: f"{one.refused:,}"),\n',
            '        ("trial", lambda one: f"{one.trial:,}"),\n',
        ),
    ),
}
"""What is reckoned, and its head and cell."""

OF_PAGE: Final = f"""
import rexmit
from rexmit.webpage.of_trace import part
page = part(rexmit.trace({str(CAPTURE)!r}), connections=None, limit=0)
"""


def copied(folder: Path, edits: Edits) -> Path:
    """A copy of the package with these additions; the folder that it lies in."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "bin")
    shutil.copytree(PACKAGE, folder / "rexmit", ignore=ignored, symlinks=False)
    for built in PACKAGE.glob("*.so"):
        (folder / "rexmit" / built.name).symlink_to(built)
    for name, additions in edits.items():
        file = folder / "rexmit" / name
        text = file.read_text(encoding="utf-8")
        for behind, added in additions:
            assert text.count(behind) == 1, f"{name}: {behind}"
            text = text.replace(behind, behind + added)
        file.write_text(text, encoding="utf-8")
    return folder


def said(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What the copy says."""
    return run_command(
        [sys.executable, *words], cwd=place, env={**os.environ, "PYTHONPATH": str(place)}
    )


def says(name: str, setting: str) -> list[str]:
    """The files of the core's bindings, and of the analysis's settings, that know a setting."""
    files = [*(ROOT / "crates/python/src").rglob("*.rs"), ROOT / name]
    return [
        path.relative_to(ROOT).as_posix()
        for path in dict.fromkeys(files)
        if re.search(setting, path.read_text(encoding="utf-8"))
    ]


def test_an_option(tmp_path: Path) -> None:
    """It arrives at the core, which says that there is none of this name."""
    place = copied(tmp_path, OPTION)
    assert "--trial" in said(place, "-m", "rexmit", "trace", "--help").stdout
    unknown = "there is no setting trial"
    assert unknown in said(place, "-m", "rexmit", "trace", str(CAPTURE), "--trial", "3").stderr
    for words in ("trial=3", "rexmit.Analysis(trial=3)"):
        code = f"import rexmit\nrexmit.trace({str(CAPTURE)!r}, {words})"
        assert unknown in said(place, "-c", code).stderr
    core = {one for name, setting in OF_CORE.items() for one in says(name, setting)}
    assert core == OF_CORE.keys()
    print(f"files that an option of the analysis touches: {len(OPTION) + len(core)}")
    assert len(OPTION) + len(core) <= 5


def test_a_sentence(tmp_path: Path) -> None:
    place = copied(tmp_path, SENTENCE)
    print(f"files that a sentence touches: {len(SENTENCE)}")
    assert len(SENTENCE) == 1
    printed = said(place, "-m", "rexmit", "trace", str(CAPTURE)).stdout
    assert re.search(r"^ *trial +it is one$", printed, re.MULTILINE)
    facts = "from rexmit.result.blocks import Facts\n" + OF_PAGE
    facts += "for one in page.sections[0].blocks:\n"
    facts += "    if isinstance(one, Facts):\n        print(dict(one.pairs).get('trial', ''))\n"
    assert "it is one" in said(place, "-c", facts).stdout.splitlines()


def test_a_column(tmp_path: Path) -> None:
    """It stands on the terminal, in JSON and on the page."""
    place = copied(tmp_path, COLUMN)
    print(f"files that a column touches: {len(COLUMN)}")
    assert len(COLUMN) <= 5
    words = ("-m", "rexmit", "trace", str(CAPTURE), "--by", "host")
    head, _, row, *_ = said(place, *words).stdout.splitlines()[1:]
    assert (head.split()[-1], row.split()[-1]) == ("trial", "7")
    data = json.loads(said(place, *words, "--json").stdout)
    assert data["groups"][0]["trial"] == 7
    tables = "print([one.frame['trial'][0] for one in page.tables if one.name == 'hosts'])\n"
    assert said(place, "-c", OF_PAGE + tables).stdout == "[7]\n"


@pytest.mark.parametrize("stack", ["linux-4.1", "windows-xp", "freebsd-5", "solaris-10"])
def test_a_stack(stack: str) -> None:
    """The list of pages, and every file of the product that names it."""
    texts = {name: text.split("\n#[cfg(test)]\nmod tests {")[0] for name, text in product().items()}
    for path in sorted((ROOT / "python").rglob("*.py")):
        texts[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
    touched = [name for name, text in texts.items() if f'"{stack}"' in text]
    page = next(name for name in touched if name.startswith("crates/tcp/src/stacks/"))
    assert f"{Path(page).stem}::" in texts["crates/tcp/src/stacks/mod.rs"]
    print(f"files that the stack {stack} touches: {len(touched) + 1}")
    assert len(touched) + 1 <= 8


def test_the_window_of_rack() -> None:
    """One file reckons it. The recovery machine, which the model and emulated senders run, what-if,
    and what says which evidence RACK cannot do without ask it; an emulated sender asks the machine.
    """
    texts = product()

    def matching(pattern: str) -> set[str]:
        return {name for name, text in texts.items() if re.search(pattern, text)}

    rack = "crates/tcp/src/recovery/rack.rs"
    assert matching(r"fn reordering_window\(&self, view: &Reordering\)") == {rack}
    assert matching(r"\breordering_window\(&Reordering \{") == {
        "crates/tcp/src/recovery/machine/episode.rs",
        "crates/trace/src/necessary/table.rs",
        "crates/trace/src/whatif/watch.rs",
    }
    assert matching(r"\bdetection\s*\.reordering_window\(") == {
        "crates/tcp/src/recovery/machine/detect.rs",
        "crates/trace/src/emulate/sender/causes.rs",
    }
    assert matching(r"\bmin_rtt[\w.()]* */ *4\b|\bquarters?\(|\* 5 / 4\b") == {rack}
    print("files that a change of RACK's window touches: 1")

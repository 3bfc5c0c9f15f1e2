"""What shells offer after TAB."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rexmit.kernels import recipe
from rexmit.library.doctor import PARTS
from rexmit.stacks import names

SCENARIOS = Path(__file__).parents[2] / "scenarios"

OFFERS = [
    ("run talk-2013-", {file.stem for file in SCENARIOS.glob("talk-2013-*.toml")}),
    ("run smoke --stack sol", {name for name in names() if name.startswith("sol")}),
    ("run smoke --engine ", {"kernel", "model"}),
    ("run mine", {"mine-too"}),
    ("stacks win", {name for name in names() if name.startswith("win")}),
    ("kernel build 6", set(recipe.patched_series())),
    ("kernel build 6.12 --patch ", set(recipe.optional_names())),
    ("kernel exec --net mptcp-s", {"mptcp-schedulers", "mptcp-smoke"}),
    ("validate agree --stack rf", {"rfc"}),
    ("doctor ", set(PARTS)),
    ("doc", {"doctor"}),
]


def answer(home: Path, **asked: str) -> str:
    """What the program tells a shell that asks so."""
    environment = {**os.environ, "HOME": str(home), **asked}
    environment.pop("REXMIT_CACHE", None)
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        ["rexmit"],
        # Typer speaks of completion by the name that the program has.
        executable=Path(sys.executable).with_name("rexmit"),
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def asked_by(shell: str, line: str) -> Mapping[str, str]:
    """How the function of a shell asks."""
    words = f"rexmit {line}"
    if shell == "bash":
        at = len(words.split()) - (0 if words.endswith(" ") else 1)
        return {"COMP_WORDS": words, "COMP_CWORD": str(at)}
    if shell == "fish":
        return {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return {"_TYPER_COMPLETE_ARGS": words}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios/mine-too.toml").touch()
    return tmp_path


@pytest.mark.parametrize(("line", "offered"), OFFERS)
def test_names_are_offered(home: Path, line: str, offered: set[str]) -> None:
    told = answer(home, _REXMIT_COMPLETE="complete_bash", **asked_by("bash", line))
    assert set(told.split()) == offered
    assert offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_the_same(home: Path, shell: str) -> None:
    for line, offered in (OFFERS[0], OFFERS[1]):
        told = answer(home, _REXMIT_COMPLETE=f"complete_{shell}", **asked_by(shell, line))
        words = set(told.replace('"', " ").split())
        assert offered <= words
        assert not words & {"smoke", "rfc"}


def test_kernels_are_offered_as_they_are_built(home: Path) -> None:
    line = asked_by("bash", "run smoke --kernel ")
    assert answer(home, _REXMIT_COMPLETE="complete_bash", **line).split() == []


def test_where_no_name_fits_the_shell_offers_files(home: Path) -> None:
    line = asked_by("zsh", "run ./sc")
    assert answer(home, _REXMIT_COMPLETE="complete_zsh", **line).strip() == "_files"


def test_bash_does_it(home: Path) -> None:
    script = answer(home, _REXMIT_COMPLETE="source_bash")
    typed = (
        'COMP_WORDS=(rexmit run smo); COMP_CWORD=2; _rexmit_completion rexmit; echo "$COMPREPLY"'
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{typed}"],
        env={**os.environ, "PATH": path},
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "smoke\n"

"""What shells offer after TAB."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rexmit.kernels import recipe
from rexmit.library.doctor import PARTS
from rexmit.stacks import names

SCENARIOS = Path(__file__).parents[2] / "scenarios"

OFFERS = [
    ("run talk-2013-", {file.stem for file in SCENARIOS.glob("talk-2013-*.toml")}),
    ("run smoke --stack sol", {name for name in names() if name.startswith("sol")}),
    ("run smoke --engine ", {"kernel", "live", "model"}),
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
        # Click speaks of completion by the name that the program has.
        executable=Path(sys.executable).with_name("rexmit"),
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def asked(home: Path, line: str, shell: str = "bash") -> set[tuple[str, str]]:
    """What the function of a shell is told: of each what kind it is of, and itself."""
    words = f"rexmit {line}"
    number = len(words.split()) - (0 if words.endswith(" ") else 1)
    word = line.rpartition(" ")[2] if shell == "fish" else str(number)
    told = answer(
        home, _REXMIT_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=word
    ).splitlines()
    if shell == "zsh":
        return set(zip(told[::3], told[1::3], strict=True))
    pairs = (one.partition("\t")[0].partition(",") for one in told)
    return {(kind, offered) for kind, _, offered in pairs}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios/mine-too.toml").touch()
    return tmp_path


@pytest.mark.parametrize(("line", "offered"), OFFERS)
def test_names_are_offered(home: Path, line: str, offered: set[str]) -> None:
    assert asked(home, line) == {("plain", one) for one in offered}
    assert offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_the_same(home: Path, shell: str) -> None:
    for line, _ in (OFFERS[0], OFFERS[1]):
        assert asked(home, line, shell) == asked(home, line)


def test_kernels_are_offered_as_they_are_built(home: Path) -> None:
    assert asked(home, "run smoke --kernel ") == {("file", "")}


def test_where_no_name_fits_the_shell_offers_files(home: Path) -> None:
    assert asked(home, "run ./sc", "zsh") == {("file", "./sc")}


def test_it_is_installed_once(home: Path) -> None:
    (home / ".bashrc").write_text("export A=1")
    for _ in range(2):
        # The shell that runs it is the current one.
        subprocess.run(
            [
                "bash",
                "-c",
                f"{Path(sys.executable).with_name('rexmit')} --install-completion; true",
            ],
            env={**os.environ, "HOME": str(home)},
            capture_output=True,
            check=True,
        )
    installed = home / ".bash_completions/rexmit.sh"
    assert installed.read_text() == answer(home, _REXMIT_COMPLETE="bash_source")
    lines = (home / ".bashrc").read_text().splitlines()
    assert lines == ["export A=1", f"source ~/{installed.relative_to(home)}"]


def test_bash_does_it(home: Path) -> None:
    script = answer(home, _REXMIT_COMPLETE="bash_source")
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

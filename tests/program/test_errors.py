"""What errors say: the word that was meant, the number that was typed."""

from __future__ import annotations

import sys

import pytest
from tests.processes import run_command

from rexmit.errors import closest

STACKS = ["linux-2.4", "linux-3.10", "linux-4.1", "linux-6.1", "linux-6.12", "windows-xp", "rfc"]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("linux-6.13", "linux-6.12"),
        ("linux-6.2", "linux-6.1"),
        ("linux-5.15", "linux-6.1"),
        ("linux-3.2", "linux-3.10"),
        ("Linux-6.12", "linux-6.12"),
        ("linx-6.1", "linux-6.1"),
        ("windowsxp", "windows-xp"),
        ("solaris", None),
    ],
)
def test_the_nearest_version_is_meant(word: str, near: str | None) -> None:
    assert closest(word, STACKS) == near


def test_what_is_not_alike_is_not_meant() -> None:
    assert closest("rate", ["repeat", "seed"]) is None
    assert closest("loss", ["line_loss", "size"]) == "line_loss"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("trace x --port http", "http is no whole number; give one from 0 to 65535"),
        ("trace x --port 99999", "99999 is more than 65535; give one from 0 to 65535"),
        ("run smoke --jobs 0", "0 is less than 1; give one from 1 to 4096"),
        ("run smoke --hang-limit soon", "soon is no number; give one of at least 1"),
        ("trace x --port", "Option '--port' requires an argument."),
        ("validate agree --cases 1.5", "1.5 is no whole number; give one from 1 to 1000000"),
    ],
)
def test_a_wrong_number_is_said_plainly(words: str, said: str) -> None:
    done = run_command([sys.executable, "-m", "rexmit", *words.split()])
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Input should be" not in done.stderr

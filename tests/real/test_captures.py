"""The analyser against the oracle on captures that none of us made, and on our own corpora."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.real import captures
from tests.real.hold import Held, hold

from rexmit.errors import UserError

# tshark reads their captures.
pytestmark = pytest.mark.tools

SHARE = 0.02
"""Of rows, those on data that the capture does not show before."""


def check(path: Path) -> Held:
    """No certain retransmission is missed, none is made up, whatever the capture."""
    held = hold(path)
    assert not held.missed, held.missed[:3]
    assert not held.doubles, list(held.of("double"))[:3]
    assert not list(held.of("bare")), list(held.of("bare"))[:3]
    assert not list(held.of("none")), list(held.of("none"))[:3]
    return held


@pytest.mark.parametrize("path", captures.committed(), ids=lambda path: path.name)
def test_a_real_capture_agrees_with_the_oracle(path: Path) -> None:
    held = check(path)
    # What was never shown is a retransmission only where its sender has shown higher numbers.
    assert not list(held.of("new")), list(held.of("new"))


def test_the_captures_of_a_folder_agree_with_the_oracle() -> None:
    paths = captures.others()
    if not paths:
        pytest.skip(f"{captures.FOLDER} names no folder of captures")
    total, wrong = Held(), []
    for path in paths:
        try:
            total += check(path)
        except UserError as error:
            if "no capture of a known format" not in str(error):
                wrong.append((path.name, str(error)))
        except AssertionError as error:
            wrong.append((path.name, str(error)[:300]))
    assert not wrong
    assert total.on_new <= SHARE * total.rows, total.by_kind


@pytest.mark.parametrize("seed", [5, 6])
def test_a_corpus_of_the_model_agrees_with_the_oracle(seed: int, tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "rexmit",
        "validate",
        "synth",
        "--mix",
        "campus",
        "--connections",
        "60",
    ]
    out = tmp_path / "corpus"
    subprocess.run([*words, "--seed", str(seed), "--out", str(out)], check=True, timeout=300)
    paths = sorted((out / "captures").iterdir())
    assert len(paths) == 3
    total = sum(map(check, paths), Held())
    assert total.certain > 50

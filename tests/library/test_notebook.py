"""The notebook of the documentation gives what it shows."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.processes import run_command

ROOT = Path(__file__).parents[2]


def test_the_notebook_gives_what_it_shows() -> None:
    words = [sys.executable, "scripts/fill-notebook", "docs/library.ipynb", "--check"]
    done = run_command(words, cwd=ROOT)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nscripts/fill-notebook writes it anew"

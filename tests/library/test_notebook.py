"""The notebook of the documentation gives what it shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_notebook_gives_what_it_shows() -> None:
    words = [sys.executable, "scripts/fill-notebook", "docs/library.ipynb", "--check"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nscripts/fill-notebook writes it anew"

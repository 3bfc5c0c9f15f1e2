"""Opening what earlier calls left: runs, and corpora of known retransmissions."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from rexmit.store import open_run as runs
from rexmit.store.open_run import Run
from rexmit.validate.score import corpus as corpora
from rexmit.validate.score.corpus import Corpus


def open_run(folder: str | PathLike[str]) -> Run:
    """A finished run. Raises UserError for none, an unfinished one, or one that cannot be read."""
    return runs.open_run(Path(folder))


def open_corpus(folder: str | PathLike[str]) -> Corpus:
    """A corpus that `synth` or `rexmit validate truth` made. Raises UserError."""
    return corpora.open_corpus(Path(folder))

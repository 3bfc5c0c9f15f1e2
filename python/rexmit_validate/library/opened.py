"""Opening corpora of known retransmissions."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from rexmit_validate.score import corpus
from rexmit_validate.score.corpus import Corpus


def open_corpus(folder: str | PathLike[str]) -> Corpus:
    """A corpus that `synth` or `rexmit validate truth` made. Raises UserError."""
    return corpus.open_corpus(Path(folder))

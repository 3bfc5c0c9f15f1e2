"""How often the analysis of captures is right, where the truth is known; and tshark."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from matplotlib.figure import Figure

from rexmit.errors import UserError, argument, by_caller
from rexmit.present.figures.style import styled
from rexmit.progress import Hear, heard
from rexmit.tracing.memory import tables
from rexmit.validate.score import draw_reliability, tshark
from rexmit.validate.score.corpus import POINTS, Capture, Corpus, open_corpus
from rexmit.validate.score.report import Labels, Report, report


def score(
    corpus: Corpus | str | PathLike[str],
    *,
    point: str | None = None,
    part: str | None = None,
    flow: str | None = None,
    with_tshark: bool | None = None,
    progress: Hear = None,
) -> Report:
    """Analyses every capture of a corpus as `trace` does and holds each retransmission's mechanism
    and need against the truth.

    Only captures of a `point` (sender, switch, receiver), a `part`, a `flow` ("A:PORT > B:PORT"),
    if they are given. `with_tshark` scores tshark's labels, too; None: where tshark is installed.
    `progress` hears of each capture, by its name as note, before it is read.

    The answer's `at(point)` has matrices of mechanisms and needs with their accuracy, `wrong` a row
    for each wrong claim. Raises UserError.
    """
    if point is not None and point not in POINTS:
        raise UserError(
            f"{argument('point')} {point}: there is none",
            f"points: {', '.join(POINTS)}",
            usage=True,
        )
    whole = corpus if isinstance(corpus, Corpus) else open_corpus(Path(corpus))
    opened = whole.narrowed(point=point, part=part, flow=flow)
    labels = _labels(with_tshark)
    told, begun = heard(progress, "captures"), 0
    told.start(len(opened.captures))

    def tell(capture: Capture) -> None:
        nonlocal begun
        if begun:
            told.advance(1)
        begun += 1
        told.note(capture.path.name)

    try:
        made = report(opened, tables, labels, tell)
        told.advance(min(begun, 1))
    finally:
        told.close()
    return made


def draw_score(made: Report) -> Figure:
    """The reliability diagram: how often claims are right by how sure they are, a panel a point."""
    points = {point: made.at(point).reliability for point in made.points}
    with styled():
        return draw_reliability.draw(points, "How often rexmit trace is right, by how sure it is")


def _labels(asked: bool | None) -> Labels | None:
    if asked and not tshark.is_there():
        without = by_caller(called="with_tshark=False", typed="--no-tshark")
        raise UserError("tshark is not installed", f"apt-get install tshark, or {without}")
    wanted = tshark.is_there() if asked is None else asked
    return tshark.claims if wanted else None

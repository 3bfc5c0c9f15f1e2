"""How often the analysis of captures is right, where the truth is known; and tshark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from pathlib import Path

from matplotlib.figure import Figure

from rexmit.errors import UserError, argument, by_caller
from rexmit.present.figures.style import styled
from rexmit.progress import Hear, Silent, heard
from rexmit.tracing.memory import Tables, tables
from rexmit.tracing.options import Analysis
from rexmit.tracing.points.analyse import analyse
from rexmit.tracing.points.recognise import recognise
from rexmit_validate.score import draw_reliability, tshark
from rexmit_validate.score.corpus import POINTS, Corpus, Group, open_corpus
from rexmit_validate.score.report import Labels, Report, Taken, by_itself, report


def score(
    corpus: Corpus | str | PathLike[str],
    *,
    point: str | None = None,
    points: Sequence[str] | None = None,
    part: str | None = None,
    flow: str | None = None,
    with_tshark: bool | None = None,
    progress: Hear = None,
) -> Report:
    """Analyses every capture of a corpus as `trace` does and holds each retransmission's mechanism
    and need against the truth, and the account of time where the kernel recorded its own.

    With `points` the captures of these points of a part are analysed together, as captures of
    several points are, and where packets were lost is judged, too: `places` of a score.

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
    if points is not None and (point is not None or _not_points(points)):
        raise UserError(
            f"{argument('points')} {','.join(points)}: two or three different points",
            f"of {', '.join(POINTS)}, and without {argument('point')}",
            usage=True,
        )
    whole = corpus if isinstance(corpus, Corpus) else open_corpus(Path(corpus))
    opened = whole.narrowed(point=point, part=part, flow=flow)
    groups = opened.alone() if points is None else opened.together(points)
    alone = by_itself(partial(tables, timeline=opened.waits is not None))
    analysed = alone if points is None else _together
    labels = _labels(with_tshark) if points is None else None
    meter, begun = heard(progress, "captures"), 0
    meter.start(len(groups))

    def tell(group: Group) -> None:
        nonlocal begun
        if begun:
            meter.advance(1)
        begun += 1
        meter.note(group.name)

    try:
        scored = report(opened, analysed, labels, tell, groups)
        meter.advance(min(begun, 1))
    finally:
        meter.close()
    return scored


def _not_points(names: Sequence[str]) -> bool:
    return not 2 <= len(set(names)) == len(names) or bool(set(names) - set(POINTS))


def _together(group: Group) -> Taken:
    captured = recognise([capture.path for capture in group.captures], group.points, Silent())
    if captured is None:
        raise AssertionError("named points are points")
    combined = analyse(captured, Analysis(whatif=())).combined
    mine = Tables(*(combined.tables[name] for name in Tables._fields))
    return Taken(mine, combined.ways["followed"])


def draw_score(scored: Report) -> Figure:
    """The reliability diagram: how often claims are right by how sure they are, a panel a point."""
    points = {point: scored.at(point).reliability for point in scored.points}
    with styled():
        return draw_reliability.draw(points, "How often rexmit trace is right, by how sure it is")


def _labels(asked: bool | None) -> Labels | None:
    if asked and not tshark.is_there():
        without = by_caller(called="with_tshark=False", typed="--no-tshark")
        raise UserError("tshark is not installed", f"apt-get install tshark, or {without}")
    wanted = tshark.is_there() if asked is None else asked
    return tshark.claims if wanted else None

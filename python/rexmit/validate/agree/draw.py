"""Draws random cases: case N of a seed is the same in any run."""

from __future__ import annotations

from rexmit.campaign.streams import Streams
from rexmit.validate.agree import draw_bursts, draw_pages
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.lot import Lot


def draw(
    streams: Streams, seed: int, index: int, series: tuple[int, int], *, paths: int = 1
) -> Case:
    """Case `index` of `seed` over so many paths, with settings that a kernel of this series has."""
    if paths > 1:
        return draw_bursts.draw(Lot(streams, seed, index, "agree paths"))
    return draw_pages.draw(Lot(streams, seed, index, "agree"), series)

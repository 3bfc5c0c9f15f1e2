"""Draws random cases: case N of a seed is the same in any run on kernels that have the same."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from rexmit.campaign.streams import Streams
from rexmit_validate.agree import draw_bursts, draw_pages
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.lot import Lot

SYSCTLS: Final = draw_pages.SYSCTLS | draw_bursts.SYSCTLS
"""Settings that cases may have beside the buffers, which every kernel has."""

CONGESTION_CONTROLS: Final = draw_pages.CONGESTION_CONTROLS


def draw(
    streams: Streams,
    seed: int,
    index: int,
    there: Set[str] = SYSCTLS | CONGESTION_CONTROLS,
    *,
    paths: int = 1,
) -> Case:
    """Case `index` of `seed` over so many paths, on a kernel that has what is `there` of the
    settings and algorithms that may be drawn.

    What a kernel does not have is drawn and left out: all else is as on one that has it.
    """
    if paths > 1:
        return draw_bursts.draw(Lot(streams, seed, index, "agree paths"), there)
    return draw_pages.draw(Lot(streams, seed, index, "agree"), there)

"""Places of loss beside the truth."""

from __future__ import annotations

import polars as pl
import pytest

from rexmit_validate.score import places

_FLOW = "10.0.0.1:80 > 10.0.0.2:40000"


@pytest.mark.parametrize("again", [True, False])
def test_a_lost_retransmission_has_its_place_even_if_points_take_it_for_new(*, again: bool) -> None:
    """Of one whose first copy was lost before the first point nothing shows that it is one."""
    truth = pl.DataFrame(
        {
            "flow": [_FLOW] * 2,
            "at_ns": [1_000, 2_000],
            "seq_start": [10, 20],
            "seq_end": [20, 30],
            "switch_ns": [1_000, 2_000],
            "receiver_ns": [None, 2_500],
        }
    )
    followed = pl.DataFrame(
        {
            "flow": [_FLOW],
            "time_ns": [1_000],
            "seq_start": [10],
            "seq_end": [20],
            "again": [again],
            "lost": ["switch to receiver"],
        }
    )
    made = places.judge(truth, followed, ["switch", "receiver"])
    lost = "switch to receiver"
    assert made.counts == {(lost, lost): 1, (places.CAME_BY, places.CAME_BY): 1}

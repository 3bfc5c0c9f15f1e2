"""The paper's numbers as they stand in its Table 4, percentages included."""

from __future__ import annotations

import pytest

from rexmit.analysis.times import percent
from rexmit.wording import signed_percent
from rexmit_papers.ryll_2013 import paper

PRINTED = {
    ("high-speed", "plain"): ("+0.6%", "+1.3%"),
    ("high-speed", "tlp"): ("-38%", "-81%"),
    ("mobile", "plain"): ("-1.7%", "+7.8%"),
    ("mobile", "tlp"): ("-11%", "-19%"),
    ("satellite", "plain"): ("-0.1%", "+0.3%"),
    ("satellite", "tlp"): ("-0.4%", "-1.6%"),
}


@pytest.mark.parametrize(("network", "config"), PRINTED)
def test_percentages_come_out_as_printed(network: str, config: str) -> None:
    mine, base = paper.TABLE_4[network, config], paper.TABLE_4[network, paper.BASELINE]
    told = (
        signed_percent(percent(mine.t_total_s, base.t_total_s)),
        signed_percent(percent(mine.t_recover_s, base.t_recover_s)),
    )
    assert told == PRINTED[network, config]


@pytest.mark.parametrize(
    ("lost", "name"),
    [(1, "TLP loss detection"), (2, "ER"), (3, "ER"), (4, "FACK"), (5, "FACK"), (20, "FACK")],
)
def test_repair_by_lost_segments(lost: int, name: str) -> None:
    assert paper.repair_of(lost).name == name

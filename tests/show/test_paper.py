"""The paper's numbers as they stand in its Table 4, percentages included."""

from __future__ import annotations

import pytest

from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.table4 import percent
from rexmit.wording import signed_percent

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
    ("value", "text"),
    [
        (0.588, "+0.6%"),
        (-0.04, "0.0%"),
        (9.94, "+9.9%"),
        (9.96, "+10%"),
        (-9.96, "-10%"),
        (-38.05, "-38%"),
        (250.4, "+250%"),
        (None, ""),
    ],
)
def test_signs_and_digits(value: float | None, text: str) -> None:
    assert signed_percent(value) == text


def test_no_percentage_of_nothing() -> None:
    assert percent(1.0, None) is None
    assert percent(None, 1.0) is None
    assert percent(1.0, 0.0) is None


@pytest.mark.parametrize(
    ("lost", "name"),
    [(1, "TLP loss detection"), (2, "ER"), (3, "ER"), (4, "FACK"), (5, "FACK"), (20, "FACK")],
)
def test_repair_by_lost_segments(lost: int, name: str) -> None:
    repair = paper.repair_of(lost)
    assert repair is not None
    assert repair.name == name


def test_no_loss_needs_no_repair() -> None:
    assert paper.repair_of(0) is None

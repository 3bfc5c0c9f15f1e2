"""Table 1: sequences of mechanisms, here and in the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rexmit.errors import UserError
from rexmit.store.open_run import open_run
from rexmit_papers.ryll_2013.table1 import table1

Rows = Callable[..., Any]


def retransmissions(repetition: int, *mechanisms: str, cell: int = 0, at: float = 1.3) -> list[Any]:
    return [
        {"cell": cell, "repetition": repetition, "mechanism": m, "time_s": at + i / 100}
        for i, m in enumerate(mechanisms)
    ]


def test_sequences_are_counted_without_repeats(row: Rows, write_run: Rows) -> None:
    rows = [row(config="tlp", repetition=i, is_tlp=i < 3) for i in range(4)]
    again = [
        *retransmissions(0, "tlp", "rack", "rack", "rack"),
        *retransmissions(1, "tlp", "rack"),
        *retransmissions(2, "tlp", "rack", "rto", "rto-recovery"),
        *retransmissions(3, "rto", "rto-recovery"),
    ]
    (found,) = table1(open_run(write_run(rows, again))).rows
    assert found.sequences == {
        ("tlp", "rack"): 2,
        ("rto", "rto-recovery"): 1,
        ("tlp", "rack", "rto", "rto-recovery"): 1,
    }
    assert found.first_retransmission == {"tlp": 3, "rto": 1}
    assert found.probed == 3
    assert found.after_probe == {("rack",): 2, ("rack", "rto", "rto-recovery"): 1}
    assert found.repair.name == "FACK"
    assert found.as_in_paper is False


@pytest.mark.parametrize(
    ("lost", "mechanisms", "same"),
    [
        (1, ("tlp",), True),
        (1, ("tlp", "rack"), False),
        (2, ("tlp", "early-retransmit"), True),
        (3, ("tlp", "early-retransmit"), True),
        (3, ("tlp", "fack"), False),
        (4, ("tlp", "fack"), True),
        (9, ("tlp", "fack", "fack"), True),
        (9, ("tlp", "fack", "sack-recovery"), True),
        (3, ("tlp", "early-retransmit", "sack-recovery"), True),
        (9, ("tlp", "sack-recovery", "fack"), False),
        (9, ("tlp", "fack", "rto", "rto-recovery"), False),
        (1, ("tlp", "sack-recovery"), False),
        (9, ("tlp",), False),
        (9, ("rto", "rto-recovery"), None),
        (9, (), None),
    ],
)
def test_beside_the_paper(
    row: Rows, write_run: Rows, lost: int, mechanisms: tuple[str, ...], same: bool | None
) -> None:
    rows = [row(config="tlp", lost_segments=lost)]
    (found,) = table1(open_run(write_run(rows, retransmissions(0, *mechanisms)))).rows
    assert found.as_in_paper is same


def test_five_and_more_share_a_row(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", cell=n, lost_segments=n, dropped_packets=n + 1, is_tlp=True)
        for n in range(8)
    ]
    again = [r for n in range(1, 8) for r in retransmissions(0, "tlp", cell=n)]
    found = table1(open_run(write_run(rows, again))).rows
    assert [(r.lost_segments, r.transfers) for r in found] == [
        ((1,), 1),
        ((2,), 1),
        ((3,), 1),
        ((4,), 1),
        ((5, 6, 7), 3),
    ]
    assert found[-1].dropped_packets == (6, 7, 8)


def test_a_run_without_tlp_says_what_it_has(row: Rows, write_run: Rows) -> None:
    run = open_run(write_run([row(config="er"), row(config="tlp", cell=1, lost_segments=0)]))
    with pytest.raises(UserError) as caught:
        table1(run)
    assert "configuration er, tlp" in str(caught.value.hint)

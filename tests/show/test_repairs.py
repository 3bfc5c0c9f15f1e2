"""What retransmitted lost tails: sequences of mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rexmit.analysis.repairs import alike, repairs
from rexmit.errors import UserError
from rexmit.store.open_run import open_run

Rows = Callable[..., Any]


def retransmissions(repetition: int, *mechanisms: str, cell: int = 0, at: float = 1.3) -> list[Any]:
    return [
        {"cell": cell, "repetition": repetition, "mechanism": m, "time_s": at + i / 100}
        for i, m in enumerate(mechanisms)
    ]


def test_retransmissions_before_the_drop_are_not_the_tails(row: Rows, write_run: Rows) -> None:
    rows = [row(config="tlp", t_drop_s=1.1)]
    again = [*retransmissions(0, "fast-retransmit", at=1.05), *retransmissions(0, "tlp", at=1.2)]
    (found,) = repairs(open_run(write_run(rows, again)))
    assert found.sequences == {("tlp",): 1}


def test_retransmissions_of_other_data_are_not_the_tails(row: Rows, write_run: Rows) -> None:
    """On a lossy line: sent before the drop, or in its very moment and in front of it."""
    rows = [row(config="tlp", t_drop_s=1.1, line_loss=0.01)]
    other = {"cell": 0, "repetition": 0, "mechanism": "fast-retransmit", "need": "unknown"}
    tail = {"cell": 0, "repetition": 0, "need": "needed", "first_sent_s": 1.1}
    again = [
        other | {"time_s": 1.2, "first_sent_s": 1.0, "seq": 9000},
        other | {"time_s": 1.2, "first_sent_s": 1.1, "seq": 1000},
        tail | {"time_s": 1.3, "mechanism": "tlp", "seq": 7000},
        tail | {"time_s": 1.4, "mechanism": "rack", "seq": 5000},
        # the tail's own retransmission was lost on the line, which nobody but its second
        # retransmission tells
        tail | {"time_s": 1.5, "mechanism": "rto", "seq": 6000, "need": "unknown"},
    ]
    (found,) = repairs(open_run(write_run(rows, again)))
    assert found.sequences == {("tlp", "rack", "rto"): 1}
    assert found.lossy


def test_rows_of_other_cells_do_not_mix(row: Rows, write_run: Rows) -> None:
    rows = [row(config="tlp", cell=0), row(config="tlp", cell=1, network="mobile")]
    again = [*retransmissions(0, "tlp", cell=0), *retransmissions(0, "rto", cell=1)]
    found = repairs(open_run(write_run(rows, again)))
    assert [(r.network, r.sequences) for r in found] == [
        ("high-speed", {("tlp",): 1}),
        ("mobile", {("rto",): 1}),
    ]


def test_a_transfer_that_says_nothing_is_left_out_of_the_counts(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", repetition=0, complete=False),
        row(config="tlp", repetition=1, is_tlp=False),
    ]
    (found,) = repairs(open_run(write_run(rows, retransmissions(1, "rto"))))
    assert (found.transfers, found.left_out) == (1, 1)


def test_sequences_are_counted_without_repeats(row: Rows, write_run: Rows) -> None:
    rows = [row(config="er", repetition=i) for i in range(4)]
    again = [
        *retransmissions(0, "rto", "rto-recovery", "rto-recovery"),
        *retransmissions(1, "rto", "rto-recovery"),
        *retransmissions(2, "fack", "rto"),
    ]
    (found,) = repairs(open_run(write_run(rows, again)))
    assert found.sequences == {("rto", "rto-recovery"): 2, (): 1, ("fack", "rto"): 1}
    assert found.first_retransmission == {"rto": 2, "fack": 1}


def test_each_configuration_has_rows(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config=config, cell=3 * at + lost, lost_segments=lost)
        for at, config in enumerate(("er", "mine"))
        for lost in (0, 1, 2)
    ]
    again = [*retransmissions(0, "rto", cell=1), *retransmissions(0, "rto", cell=2)]
    found = repairs(open_run(write_run(rows, again)))
    assert [(one.config, one.lost_segments) for one in found] == [
        ("er", (1,)),
        ("er", (2,)),
        ("mine", (1,)),
        ("mine", (2,)),
    ]
    # er repairs both numbers in the same way, and so does what repairs nothing.
    both = [(one.config, one.lost_segments, one.sequences) for one in alike(found)]
    assert both == [("er", (1, 2), {("rto",): 2}), ("mine", (1, 2), {(): 2})]
    run = open_run(write_run(rows, again))
    assert [one.lost_segments for one in repairs(run, 2)] == [(2,), (2,)]
    with pytest.raises(UserError, match="no transfer with 3 lost segments"):
        repairs(run, 3)
    assert alike(reversed(found)) != alike(found)


def test_a_run_without_losses_says_so(row: Rows, write_run: Rows) -> None:
    run = open_run(write_run([row(lost_segments=0)]))
    with pytest.raises(UserError, match="no transfer lost a segment"):
        repairs(run)

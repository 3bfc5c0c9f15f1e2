"""Clocks that were set, as the judge of captures sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.real import packets
from tests.real.judge import judge
from tests.real.steps import evened
from tests.trace.scripted import stamped, write

# tshark reads their captures.
pytestmark = pytest.mark.tools


def taken(path: Path, *, by: float, bare: bool = False, when: float = 0.75) -> list[packets.Packet]:
    """An exchange in a capture whose clock is set by `by` seconds before a packet at `when`."""
    made = [
        replace(one, at=one.at + (by if one.at > when else 0), stamps=None if bare else one.stamps)
        for one in stamped()
    ]
    return list(packets.read(write(path / "kind.pcap", made)))


@pytest.mark.parametrize("by", [-100, -0.4, 5, 100])
def test_two_hosts_whose_clocks_deny_a_time_set_it_right(tmp_path: Path, by: float) -> None:
    right = [one.time_ns for one in taken(tmp_path, by=0)]
    assert [one.time_ns for one in evened(taken(tmp_path, by=0))] == right
    found = [one.time_ns for one in evened(taken(tmp_path, by=by))]
    assert max(abs(one - two) for one, two in zip(found, right, strict=True)) <= 2_000_000


def test_without_stamps_no_time_is_known_to_have_passed(tmp_path: Path) -> None:
    found = [one.time_ns for one in evened(taken(tmp_path, by=-0.4, bare=True))]
    assert found == sorted(found)
    jump = taken(tmp_path, by=5, bare=True)
    assert evened(jump) == jump


@pytest.mark.parametrize("by", [-100, -0.4, 5, 100])
@pytest.mark.parametrize("when", [0.75, 1.2])
def test_rows_across_a_step_are_judged_by_the_hosts_clocks(
    tmp_path: Path, by: float, when: float
) -> None:
    taken(tmp_path, by=by, when=when)
    _, [row] = judge(tmp_path / "kind.pcap")
    assert (row.impossible, row.broken) == (None, ())
    assert row.named

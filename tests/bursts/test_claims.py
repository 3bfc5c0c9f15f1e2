"""The claims of 2017 on made-up completion times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rexmit.errors import UserError
from rexmit.papers.probe_or_wait_2017.claims import claims
from rexmit.papers.probe_or_wait_2017.paper import (
    MPTCP_RTO,
    MPTCP_TLP,
    NEW,
    ONE,
    PROBE,
    TCP_RTO,
    TCP_TLP,
    TWO,
)
from rexmit.store.open_run import open_run

Pair = tuple[int, int]
Write = Callable[..., Path]

#: As the paper has them: what each adds to 1 s, by loss and configuration.
_USUAL = {
    (ONE, TCP_RTO): 0.0,
    (ONE, TCP_TLP): 0.0,
    (ONE, MPTCP_RTO): -0.1,
    (ONE, MPTCP_TLP): -0.1,
    (ONE, NEW): -0.1,
    (TWO, TCP_RTO): 0.0,
    (TWO, TCP_TLP): -0.1,
    (TWO, MPTCP_RTO): -0.1,
    (TWO, MPTCP_TLP): -0.2,
    (TWO, NEW): -0.3,
    (PROBE, TCP_RTO): 0.5,
    (PROBE, TCP_TLP): 0.3,
    (PROBE, MPTCP_RTO): -0.2,
    (PROBE, MPTCP_TLP): 0.3,
    (PROBE, NEW): -0.3,
}


def as_in_paper(config: str, pair: Pair, loss: str) -> float:
    """A time for each case that bears the paper out."""
    slow = pair[0] > pair[1]
    off = _USUAL[loss, config]
    if (loss, config) == (TWO, TCP_TLP) and pair[0] == 120:
        off = 0.05
    if (loss, config) == (ONE, MPTCP_RTO) and slow:
        off -= 0.1
    if (loss, config) == (TWO, MPTCP_RTO) and slow:
        off -= 0.15
    if (loss, config) == (ONE, NEW) and slow:
        off -= 0.1
    if (loss, config) == (TWO, NEW) and pair == (20, 120):
        off = _USUAL[TWO, MPTCP_TLP]
    return 1.0 + off


def verdicts(path: Path) -> dict[str, bool | None]:
    """What each claim comes to."""
    return {claim.key: claim.holds for claim in claims(open_run(path))}


def test_a_run_like_the_paper_bears_all_of_it_out(write_study: Write) -> None:
    told = verdicts(write_study(as_in_paper))
    assert list(told) == ["a", "b", "c", "d", "e", "f", "g1", "g2", "g3", "g4"]
    assert all(told.values()), told


@pytest.mark.parametrize(
    ("key", "config", "pair", "loss", "off"),
    [
        ("a", TCP_TLP, (20, 20), ONE, 0.05),
        ("b", TCP_TLP, (120, 20), TWO, -0.2),
        ("b", TCP_TLP, (20, 30), TWO, 0.2),
        ("c", TCP_TLP, (30, 20), PROBE, 0.4),
        ("d", MPTCP_RTO, (30, 20), ONE, 0.2),
        ("e", MPTCP_TLP, (20, 120), TWO, 0.2),
        ("e", MPTCP_TLP, (120, 20), TWO, -0.3),
        ("f", MPTCP_RTO, (20, 20), PROBE, 0.45),
        ("g1", NEW, (20, 20), ONE, 0.3),
        ("g2", NEW, (20, 20), ONE, -0.1),
        ("g3", NEW, (20, 120), TWO, -0.1),
        ("g4", NEW, (120, 20), PROBE, 0.7),
    ],
)
def test_one_time_off_and_its_claim_does_not_hold(
    write_study: Write, key: str, config: str, pair: Pair, loss: str, off: float
) -> None:
    def time(own: str, where: Pair, lost: str) -> float:
        changed = (own, where, lost) == (config, pair, loss)
        return as_in_paper(own, where, lost) + (off if changed else 0.0)

    assert verdicts(write_study(time))[key] is False


def test_without_new_its_claims_cannot_be_told(write_study: Write) -> None:
    def time(config: str, pair: Pair, loss: str) -> float | None:
        return None if config == NEW else as_in_paper(config, pair, loss)

    told = verdicts(write_study(time))
    assert [key for key, holds in told.items() if holds is None] == ["g1", "g2", "g3", "g4"]


def test_a_difference_within_a_tick_counts_as_equal(write_study: Write) -> None:
    def time(off: float) -> Callable[[str, Pair, str], float]:
        def made(config: str, pair: Pair, loss: str) -> float:
            mine = (config, loss) == (TCP_TLP, ONE)
            return 0.3 * as_in_paper(config, pair, loss) + (off if mine else 0.0)

        return made

    assert verdicts(write_study(time(0.0035), name="within"))["a"] is True
    assert verdicts(write_study(time(0.0045), name="beyond"))["a"] is False


def test_a_difference_within_what_chance_makes_counts_as_equal(write_study: Write) -> None:
    def time(config: str, pair: Pair, loss: str) -> float:
        return as_in_paper(config, pair, loss) + (0.1 if (config, loss) == (TCP_TLP, ONE) else 0.0)

    def scatter(row: dict[str, Any]) -> dict[str, Any]:
        off = 0.2 if row["repetition"] else -0.2
        return {**row, "t_total_s": row["t_total_s"] + off}

    assert verdicts(write_study(time, name="close"))["a"] is False
    assert verdicts(write_study(time, scatter, name="scattered"))["a"] is True


def test_inexact_connections_do_not_count(write_study: Write) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        wrong = row["repetition"] == 1
        return {**row, "exact": not wrong, "t_total_s": 9.0 if wrong else row["t_total_s"]}

    run = open_run(write_study(as_in_paper, change))
    assert all(claim.holds for claim in claims(run))
    assert not all(claim.holds for claim in claims(run, keep_inexact=True))


def test_another_study_has_no_claims(write_study: Write) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "loss_pattern": "data 3"}

    with pytest.raises(UserError, match="no connection of its networks"):
        claims(open_run(write_study(as_in_paper, change)))

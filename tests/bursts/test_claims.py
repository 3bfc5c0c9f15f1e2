"""The claims of 2017 on made-up completion times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit.errors import UserError
from rexmit.store.open_run import open_run
from rexmit_papers.probe_or_wait_2017.claims import claims
from rexmit_papers.probe_or_wait_2017.paper import (
    BARS_MS,
    MPTCP_RTO,
    MPTCP_TLP,
    NEW,
    ONE,
    PROBE,
    TCP_RTO,
    TCP_TLP,
    TWO,
)

Pair = tuple[int, int]
Write = Callable[..., Path]


def as_in_paper(config: str, pair: Pair, loss: str) -> float:
    """The authors' own bar of each case, seconds."""
    return BARS_MS[config, loss][pair] / 1000


def verdicts(path: Path) -> dict[str, bool | None]:
    """What each claim comes to."""
    return {claim.key: claim.holds for claim in claims(open_run(path))}


def test_the_authors_bars_bear_out_every_claim(write_study: Write) -> None:
    told = verdicts(write_study(as_in_paper))
    assert list(told) == [
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
        "g1",
        "g2",
        "g3",
        "g4",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ]
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
        ("h2", TCP_TLP, (30, 20), TWO, 0.009),
        ("h4", MPTCP_TLP, (20, 30), TWO, -0.009),
        ("h6", NEW, (20, 20), ONE, 0.009),
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
    assert [key for key, holds in told.items() if holds is None] == [
        "g1",
        "g2",
        "g3",
        "g4",
        "h5",
        "h6",
    ]


def test_a_difference_within_a_tick_counts_as_equal(write_study: Write) -> None:
    def time(off: float) -> Callable[[str, Pair, str], float]:
        def made(config: str, pair: Pair, loss: str) -> float:
            mine = (config, loss) == (TCP_TLP, ONE)
            return as_in_paper(TCP_RTO if mine else config, pair, loss) + (off if mine else 0.0)

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


def test_a_packet_too_many_and_a_diagram_is_another(write_study: Write) -> None:
    path = write_study(as_in_paper)
    file = path / "retransmissions.parquet"
    rows = pl.read_parquet(file)
    mine = (pl.col("config") == NEW) & (pl.col("network") == "20-20") & (pl.col("repetition") == 0)
    rows.vstack(rows.filter(mine & (pl.col("time_s") == 5.2)).head(1)).write_parquet(file)
    told = {claim.key: claim for claim in claims(open_run(path))}
    assert told["h5"].holds is False
    assert told["h5"].measured.startswith("2 of 3; mptcp-new")
    assert told["h3"].holds is True

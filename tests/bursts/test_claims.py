"""The claims of 2017 on made-up completion times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit.errors import UserError
from rexmit.statistics.verdict import Verdict
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


def verdicts(path: Path) -> dict[str, Verdict | None]:
    """What each claim comes to."""
    return {claim.key: claim.verdict for claim in claims(open_run(path))}


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
    assert set(told.values()) == {Verdict.HOLDS}, told


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

    assert verdicts(write_study(time))[key] is Verdict.DOES_NOT


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

    assert verdicts(write_study(time(0.0035), name="within"))["a"] is Verdict.HOLDS
    assert verdicts(write_study(time(0.0045), name="beyond"))["a"] is Verdict.DOES_NOT


def test_a_difference_that_chance_may_have_made_is_undecided(write_study: Write) -> None:
    def time(config: str, pair: Pair, loss: str) -> float:
        return as_in_paper(config, pair, loss) + (0.1 if (config, loss) == (TCP_TLP, ONE) else 0.0)

    def scatter(row: dict[str, Any]) -> dict[str, Any]:
        mine = (row["config"], row["loss_pattern"]) == (TCP_TLP, ONE)
        off = 0.2 if row["repetition"] % 2 else -0.2
        return {**row, "t_total_s": row["t_total_s"] + off * mine}

    assert verdicts(write_study(time, name="close"))["a"] is Verdict.DOES_NOT
    assert verdicts(write_study(time, scatter, name="scattered"))["a"] is Verdict.UNDECIDED


def test_inexact_connections_do_not_count(write_study: Write) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        wrong = row["repetition"] == 1
        return {**row, "exact": not wrong, "t_total_s": 9.0 if wrong else row["t_total_s"]}

    run = open_run(write_study(as_in_paper, change))
    assert {claim.verdict for claim in claims(run)} == {Verdict.HOLDS}
    kept = {claim.key: claim.verdict for claim in claims(run, keep_inexact=True)}
    assert kept["h2"] is not Verdict.HOLDS


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
    assert told["h5"].verdict is Verdict.DOES_NOT
    assert told["h5"].measured.startswith("2 of 3; mptcp-new")
    assert told["h3"].verdict is Verdict.HOLDS

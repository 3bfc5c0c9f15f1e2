"""What UNC 2007 says of others' work, beside traces whose numbers are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.trace.rows import connection, mechanism, retransmission, whatif, write_trace

from rexmit.statistics.verdict import Verdict
from rexmit.tracing.folder import Trace
from rexmit.tracing.source import Facts
from rexmit_papers.claim import Claim
from rexmit_papers.unc_2007.claims import claims
from rexmit_papers.unc_2007.senders import study
from rexmit_papers.unc_2007.tables import tables

NEEDED, SPURIOUS = 10, 4
"""Fast retransmits of each connection, each of an episode of its own."""


def trace(
    folder: Path, *, missed: int = 3, caused: int = 8, flight: int = 4, spurious: int = SPURIOUS
) -> Trace:
    """A hundred connections of Linux. With D = 4 each misses some of its needed fast retransmits,
    and keeps one of its spurious ones; with D = 2 there are two more needed ones and some spurious
    ones.
    """
    every = range(100)
    return write_trace(
        folder,
        captures=("t.pcap",),
        connections=[
            connection(
                connection=number,
                duration_s=10.0,
                end_s=10.0,
                backward_bytes=20_000,
                backward_unique_bytes=20_000,
                backward_packets=100,
                backward_rtt_avg_s=0.1,
                backward_best_case_s=1.0,
                backward_stack="linux-2.4",
                backward_syn_system="linux-2.4",
            )
            for number in every
        ],
        mechanisms=[
            mechanism(
                connection=number,
                mechanism="fast-retransmit",
                needed=NEEDED,
                spurious=spurious,
            )
            for number in every
        ],
        retransmissions=[
            retransmission(
                connection=number,
                mechanism="fast-retransmit",
                episode=episode,
                need="needed" if episode < NEEDED else "spurious",
                flight_segments=flight,
            )
            for number in every
            for episode in range(NEEDED + spurious)
        ],
        whatif=[
            one
            for number in every
            for one in (
                whatif(
                    connection=number,
                    setting="d=4",
                    fr_to_rto=missed,
                    spurious_fr_avoided=max(0, spurious - 1),
                ),
                whatif(connection=number, setting="d=2", rto_to_fr=2, spurious_fr_caused=caused),
            )
        ],
        facts=Facts(settings=("d=2", "d=4"), stacks=("linux-2.4",)),
    )


def judged(of: Trace) -> dict[str, Claim]:
    made = study([of])
    return {claim.key: claim for claim in claims(made, tables(made))}


def test_paxsons_numbers_are_met_and_missed(tmp_path: Path) -> None:
    met = judged(trace(tmp_path / "met"))
    # 7 needed by 1 spurious one for 10 by 4, and 3 of 10 missed.
    assert [part.value for part in met["paxson-4"].parts] == pytest.approx([2.8, 0.3])
    # 2 and 8 more of 14, and 12 by 12 for 10 by 4.
    assert [part.value for part in met["paxson-2"].parts] == pytest.approx([10 / 14, 0.4])
    assert met["paxson-4"].verdict is met["paxson-2"].verdict is Verdict.HOLDS
    other = judged(trace(tmp_path / "other", missed=5, caused=1))
    assert other["paxson-4"].verdict is other["paxson-2"].verdict is Verdict.DOES_NOT


def test_without_a_spurious_one_there_is_no_ratio(tmp_path: Path) -> None:
    none = judged(trace(tmp_path / "none", spurious=0))
    assert [part.name for part in none["paxson-4"].parts] == ["Linux missed"]
    assert [part.name for part in none["paxson-2"].parts] == ["Linux more"]


def test_a_wait_costs_each_needed_one_an_rtt(tmp_path: Path) -> None:
    small = judged(trace(tmp_path / "small"))["ncr"]
    # Equation (1) of half a flight of four: 3 - 10/11 RTTs.
    (part,) = small.parts
    assert part.value == pytest.approx(SPURIOUS * (3 - 10 / 11) - NEEDED)
    assert small.verdict is Verdict.DOES_NOT
    large = judged(trace(tmp_path / "large", flight=40))["ncr"]
    assert large.parts[0].value == pytest.approx(SPURIOUS * (21 - 1180 / 101) - NEEDED)
    assert large.verdict is Verdict.HOLDS

"""What UNC 2007 prints and claims, beside traces by hand."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.trace.rows import (
    connection,
    detected,
    mechanism,
    parameter,
    retransmission,
    whatif,
    write_trace,
)

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.present.show import show
from rexmit.statistics.verdict import Verdict
from rexmit.tracing.folder import Trace
from rexmit.tracing.source import Facts
from rexmit_papers.claim import Claim, summed_up
from rexmit_papers.unc_2007 import paper
from rexmit_papers.unc_2007.claims import claims
from rexmit_papers.unc_2007.parameters import parameters
from rexmit_papers.unc_2007.senders import Study, study
from rexmit_papers.unc_2007.show_study import study_blocks
from rexmit_papers.unc_2007.systems import system_of
from rexmit_papers.unc_2007.tables import tables

runner = CliRunner()

STACKS = ("linux-2.4", "windows-xp-unc2007")
SETTINGS = ("k=2", "min_rto=100ms", "a=1/2", "b=1/2", "d=2")


def trace(folder: Path, *, k_saves_s: float = 0.5, copies: int = 1) -> Trace:
    """Two of Linux and two of Windows, each with a loss; a timeout of Windows's is spurious. The
    same again for each copy, where k saves a tenth more or less.
    """
    common = {
        "duration_s": 10.0,
        "end_s": 10.0,
        "backward_bytes": 20_000,
        "backward_unique_bytes": 20_000,
        "backward_packets": 100,
        "backward_rtt_avg_s": 0.1,
        "backward_best_case_s": 1.0,
    }
    stacks = ("linux-2.4", "linux-2.4", "windows-xp", "windows-xp")
    every = range(4 * copies)
    firsts = [number for number in every if number % 4 == 0]
    lasts = [number for number in every if number % 4 == 3]
    return write_trace(
        folder,
        captures=("t.pcap",),
        connections=[
            connection(
                connection=number,
                backward_stack=stacks[number % 4],
                backward_syn_system="linux-2.4" if number % 4 == 0 else stacks[number % 4],
                **common,
            )
            for number in every
        ],
        mechanisms=[
            *(mechanism(connection=number, needed=1) for number in every),
            *(mechanism(connection=number, mechanism="rto", spurious=1) for number in lasts),
        ],
        retransmissions=[
            *(retransmission(connection=number, **detected(4.0)) for number in every),
            *(
                retransmission(connection=number, episode=1, need="spurious", **detected(12.0))
                for number in lasts
            ),
            *(
                retransmission(
                    connection=number, mechanism="fast-retransmit", episode=2, **detected(1.5)
                )
                for number in firsts
            ),
        ],
        parameters=[
            parameter(connection=number, parameter="min_rto_s", value=0.2, low=low, high=high)
            for number, low, high in ((0, 0.19, 0.21), (1, 0.1, 0.3))
        ],
        whatif=[
            one
            for place, number in enumerate(firsts)
            for one in (
                whatif(
                    connection=number, setting="k=2", change_s=-k_saves_s * (1 + 0.1 * (place % 2))
                ),
                whatif(connection=number, setting="d=2", change_s=-0.2),
            )
        ],
        facts=Facts(settings=SETTINGS, stacks=STACKS),
    )


def told(of: Study) -> dict[str, Claim]:
    return {claim.key: claim for claim in claims(of, tables(of))}


def test_four_connections_decide_nothing_and_two_hundred_do(tmp_path: Path) -> None:
    few = told(study([trace(tmp_path / "few")]))
    judged = ("explained", "syn", "by-rto", "spurious-windows", "k-most", "d-after-k", "best-over")
    assert {few[key].verdict for key in judged} == {Verdict.UNDECIDED}
    of = told(study([trace(tmp_path / "many", copies=50)]))
    assert of["explained"].verdict is Verdict.HOLDS
    assert of["explained"].measured.startswith("t 100.0% (98.1% to 100.0%)")
    # 200 of 200 may still be fewer than 99.9 %.
    assert of["syn"].verdict is Verdict.UNDECIDED
    assert of["syn"].measured.startswith("200 of 200: 100.0% (98.1%")
    assert of["spurious-windows"].verdict is Verdict.HOLDS
    assert of["spurious-windows"].measured.startswith("Windows 33.3%, Linux 0.0%; ")
    assert of["by-rto"].verdict is Verdict.DOES_NOT
    assert of["k-most"].verdict is Verdict.HOLDS
    assert of["d-after-k"].verdict is Verdict.HOLDS


def test_a_claim_turns_with_what_was_seen(tmp_path: Path) -> None:
    of = told(study([trace(tmp_path / "t", k_saves_s=0.1, copies=50)]))
    assert of["k-most"].verdict is Verdict.DOES_NOT
    assert of["d-after-k"].verdict is Verdict.DOES_NOT


def test_systems_are_judged_one_by_one(tmp_path: Path) -> None:
    of = told(study([trace(tmp_path / "t", copies=50)]))
    parts = {part.name: part.verdict for part in of["min-most"].parts}
    # k saves Linux something, and Windows nothing, as minRTO does.
    assert parts == {"Linux": Verdict.HOLDS, "Windows": Verdict.DOES_NOT}
    assert of["min-most"].verdict is Verdict.DOES_NOT
    # Windows's median timeout takes as long as Linux's, and no spurious one is Linux's.
    times = {part.name: part.value for part in of["estimator"].parts}
    assert times == {"Windows time": 1.0, "Windows spurious": float("inf")}


def test_what_shortens_significantly_is_no_next_to_nothing(tmp_path: Path) -> None:
    """One margin for both: half a round trip is neither."""
    of = told(study([trace(tmp_path / "t", k_saves_s=0.1, copies=50)]))
    assert of["k-helps"].verdict is Verdict.DOES_NOT
    more = told(study([trace(tmp_path / "more", k_saves_s=0.5, copies=50)]))
    assert more["k-helps"].verdict is Verdict.HOLDS
    assert more["b-linux"].verdict is Verdict.HOLDS
    assert [part.verdict for part in more["b-linux"].parts] == [Verdict.HOLDS] * 2


def test_what_our_own_corpora_show_of_their_stacks_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "truth.json").touch()
    (tmp_path / "t.pcap").touch()
    made = trace(tmp_path / "t", copies=50)
    assert told(study([made]))["explained"].counted
    made = replace(made, meta={**made.meta, "captures": [str(tmp_path / "t.pcap")]})
    of = told(study([made]))
    assert (of["explained"].counted, of["explained"].word) == (False, "by construction")
    assert not of["syn"].counted
    assert of["by-rto"].counted
    assert "2 true by construction and not counted" in summed_up(list(of.values()))


def test_what_was_not_replayed_cannot_be_told(tmp_path: Path) -> None:
    of = told(study([trace(tmp_path / "t")]))
    assert of["smart-10"].verdict is None
    assert of["smart-10"].measured == "nothing to tell it by"
    assert of["k-6"].verdict is None


def test_table_1_has_printed_assumed_and_inferred(tmp_path: Path) -> None:
    made = study([trace(tmp_path / "t")])
    of = {(one.system, one.parameter): one for one in parameters(made)}
    least = of["Linux", "min_rto_s"]
    assert (least.printed, least.assumed, least.n, least.median) == (0.2, (0.2,), 2, 0.2)
    assert least.low == pytest.approx(0.1045)
    assert least.high == pytest.approx(0.2955)
    assert of["Windows", "granularity_s"].assumed == (0.1,)
    assert of["Windows", "d"].printed == 2
    assert of["Windows", "min_rto_s"].median is None


def test_the_papers_values_stand_beside_ours(tmp_path: Path) -> None:
    out = io.StringIO()
    show(study_blocks(tables(study([trace(tmp_path / "t")]))), Console(file=out, width=160))
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert "minRTO, s 0.2 / 0.2 0.2 / 0.2" in lines
    assert "paper: unc 15.83 77.28 67.73 14.91 39.41 39.18 84.36 2.22" in lines
    assert "paper 310,418 56.7% 37.1% 3.5% 2.7% -" in lines
    assert "paper 155,770 918,327 D=3 -3.3% -2.9% 5.0% 3.5%" in lines
    assert "explained, of the lossy: t 100.0%; paper: 76 to 99 %" in lines


def test_a_trace_without_losses_says_that_there_are_none(tmp_path: Path) -> None:
    out = io.StringIO()
    empty = write_trace(tmp_path / "t", captures=("t.pcap",), connections=[], mechanisms=[])
    show(study_blocks(tables(study([empty]))), Console(file=out, width=160))
    assert "explained, of the lossy: nothing, as no connection lost any;" in out.getvalue()


def test_what_is_printed_adds_up() -> None:
    for one in paper.TABLE_4.values():
        shares = (one.needed_rto, one.needed_fr, one.spurious_rto, one.spurious_fr)
        assert sum(shares) == pytest.approx(100, abs=0.2)
    for system, row in paper.TABLE_5.items():
        assert row.fr + row.rto == pytest.approx(paper.TABLE_4[system].total, rel=0.001)


def test_rules_are_a_system_only_where_no_other_is() -> None:
    assert system_of("several", "rfc,solaris-10") == "Solaris"
    assert system_of("several", "rfc,linux-2.4,linux-6") == "Linux"
    assert system_of("several", "linux-2.4,solaris-10") is None
    assert system_of("rfc", None) == "RFC"


def test_stacks_of_a_study_have_names(tmp_path: Path) -> None:
    folder = str(trace(tmp_path / "t").path)

    def why(*words: str) -> str:
        refused = runner.invoke(app, ["trace", *words, folder])
        assert isinstance(refused.exception, UserError)
        assert refused.exception.usage
        return str(refused.exception)

    assert "solaris-10" in why("--stacks", "beos")
    assert "was analysed with others" in why("--stacks", "rfc")
    words = ["paper", "unc-2007", "--claims", "--stacks", ",".join(STACKS), folder]
    told = runner.invoke(app, words, catch_exceptions=False).output
    assert "Linux: D comes after k" in told


def test_syns_that_disagree_are_counted(tmp_path: Path) -> None:
    made = study([trace(tmp_path / "t")])
    other = made.senders.with_columns(
        pl.when(pl.col("connection") == 0)
        .then(pl.lit("solaris-10"))
        .otherwise("syn_system")
        .alias("syn_system")
    )
    agreement = tables(Study(made.traces, made.totals, other)).agreement
    assert (agreement.agree, agreement.named) == (3, 4)

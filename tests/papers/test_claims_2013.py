"""The paper's claims computed from runs: what holds, what does not, what cannot be told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.statistics.verdict import Verdict
from rexmit.store.open_run import open_run
from rexmit_papers.claim import Claim
from rexmit_papers.ryll_2013.claims import claims

Rows = Callable[..., Any]
Change = Callable[[dict[str, Any]], dict[str, Any]]

ROUND_TRIP = {"high-speed": 0.01, "mobile": 0.1, "satellite": 0.8}
T_RECOVER = {
    "high-speed": {"plain": 0.2375, "er": 0.2365, "tlp": 0.0525},
    "mobile": {"plain": 0.4392, "er": 0.4073, "tlp": 0.3310},
    "satellite": {"plain": 2.4792, "er": 2.4720, "tlp": 2.4331},
}


def as_claimed(row: Rows, losses: range = range(21)) -> list[dict[str, Any]]:
    """A campaign in which all holds: three transfers a cell, steps at powers of two."""
    rows: list[dict[str, Any]] = []
    base = {"high-speed": 0.12, "mobile": 0.7, "satellite": 5.7}
    for network, configs in T_RECOVER.items():
        for config, recover in configs.items():
            for lost in losses:
                single = lost == 1 and config == "tlp"
                t = configs["er"] if single else recover
                rounds = (lost - 1).bit_length() if lost else 0
                total = base[network] + (t + 0.6 * rounds * ROUND_TRIP[network] if lost else 0)
                if network == "high-speed" and config == "tlp" and lost > 1:
                    total -= 0.02  # what the paper's 38 % need
                cell = len({(r["network"], r["config"], r["lost_segments"]) for r in rows})
                for repetition in (0, 1, 2):
                    probe = config == "tlp" and not (network == "mobile" and repetition == 1)
                    rows.append(
                        row(
                            network=network,
                            config=config,
                            lost_segments=lost,
                            repetition=repetition,
                            cell=cell,
                            t_total_s=total,
                            t_recover_s=t if lost else None,
                            is_tlp=probe if lost > 1 else None,
                            mechanism=None if not lost else "tlp" if probe else "rto",
                            srtt_s=ROUND_TRIP[network],
                        )
                    )
    return rows


def test_what_departs_from_the_paper_is_judged_when_asked(row: Rows, write_run: Rows) -> None:
    usual = {key: one.verdict for key, one in told(write_run(as_claimed(row))).items()}
    path = write_run([{**one, "receive_window_bytes": 32_000} for one in as_claimed(row)])
    with pytest.raises(UserError, match="receive window 32000 for none") as refused:
        claims(open_run(path))
    assert "departing" in str(refused.value.hint)
    assert {one.key: one.verdict for one in claims(open_run(path), departing=True)} == usual
    words = ["paper", "tlp-2013", str(path), "--claims", "--departing"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "otherwise than in the paper: receive window 32000 for none" in done.output
    assert isinstance(CliRunner().invoke(app, [*words[:3], "--departing"]).exception, UserError)


def told(path: Path) -> dict[str, Claim]:
    return {claim.key: claim for claim in claims(open_run(path))}


def test_a_campaign_as_claimed(row: Rows, write_run: Rows) -> None:
    found = told(write_run(as_claimed(row)))
    no = {key: claim.measured for key, claim in found.items() if claim.verdict is not Verdict.HOLDS}
    # Of the printed 38 % and 11 % the made-up totals give others.
    assert no.keys() <= {"percentages", "single-twice"}, no
    assert found["factor"].measured == "factor 4.50: t_recover 0.2365 s against 0.0525 s"
    assert found["anomaly"].measured == "+7.8% (2013: +7.8%)"
    assert "mobile er after 1, 2, 4, 8, 16" in found["steps"].measured
    assert (
        found["not-always"].measured
        == "another first retransmission in 19 of 171 transfers, 11.1% (7.2% to 16.7%)"
    )
    assert found["never-worse"].measured.startswith("worse in 0 of 246 comparisons")
    assert "mobile 0.331 s against 0.2 s (2 SRTT 0.2 s)" in found["timer"].measured
    assert found["single"].measured.endswith("; the FIN is on the data")
    assert found["satellite"].measured.startswith("t_total -0.")


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("no-loss", lambda r: {"t_total_s": 0.3} if not r["lost_segments"] else {}),
        ("single", lambda r: {"t_recover_s": 0.05} if r["lost_segments"] == 1 else {}),
        ("factor", lambda _: {"t_recover_s": 0.03}),
        ("satellite", lambda r: {"t_total_s": r["t_total_s"] * 0.9}),
        ("timer", lambda r: {"t_recover_s": 0.01} if r["lost_segments"] else {}),
        ("never-worse", lambda r: {"t_total_s": 99.0} if r["lost_segments"] == 7 else {}),
        ("steps", lambda r: {"t_total_s": r["t_total_s"] + 5 * (r["lost_segments"] > 11)}),
        ("low-delay", lambda r: {"t_recover_s": 0.1} if r["network"] == "satellite" else {}),
    ],
)
def test_what_no_longer_holds(row: Rows, write_run: Rows, key: str, change: Change) -> None:
    rows = [{**r, **change(r)} if r["config"] == "tlp" else r for r in as_claimed(row)]
    assert told(write_run(rows))[key].verdict is Verdict.DOES_NOT


def test_what_so_few_transfers_cannot_tell(row: Rows, write_run: Rows) -> None:
    """The probe was always selected: in 171 transfers, of which one in fifty might be another."""
    rows = [
        {**r, "mechanism": "tlp", "is_tlp": True} if r["config"] == "tlp" and r["mechanism"] else r
        for r in as_claimed(row)
    ]
    found = told(write_run(rows))["not-always"]
    assert found.verdict is Verdict.UNDECIDED
    assert found.measured.endswith("in 0 of 171 transfers, 0.0% (0.0% to 2.2%)")


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("plain-er", {"t_recover_s": 0.26}),
        ("anomaly", {"t_recover_s": 0.4073}),
    ],
)
def test_what_is_about_plain(row: Rows, write_run: Rows, key: str, change: dict[str, Any]) -> None:
    rows = [
        {**r, **change} if r["config"] == "plain" and r["lost_segments"] else r
        for r in as_claimed(row)
    ]
    assert told(write_run(rows))[key].verdict is Verdict.DOES_NOT


def test_what_cannot_be_told_is_said(row: Rows, write_run: Rows) -> None:
    rows = [r for r in as_claimed(row) if r["network"] == "mobile" and r["config"] != "plain"]
    found = told(write_run([r for r in rows if r["lost_segments"] in (0, 1, 5)]))
    assert {key for key, claim in found.items() if claim.verdict is None} == {
        "single-twice",
        "factor",
        "plain-er",
        "anomaly",
        "steps",
        "satellite",
        "low-delay",
    }
    assert found["steps"].measured == "the run has no transfers for it"


def test_a_bare_fin_is_told(row: Rows, write_run: Rows) -> None:
    rows = [{**r, "fin_on_data": r["repetition"] == 0} for r in as_claimed(row)]
    assert told(write_run(rows))["single"].measured.endswith(
        "; a FIN of its own in 6 of 9 transfers"
    )


def test_other_campaigns_have_no_claims(row: Rows, write_run: Rows) -> None:
    for other in ({"network": "lan"}, {"page_segments": 30}, {"congestion_control": "reno"}):
        with pytest.raises(UserError, match="the paper's campaign"):
            claims(open_run(write_run([row(**other)])))


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ((1, 2, 4, 8, 16), Verdict.HOLDS),
        ((1, 2, 4, 8), Verdict.HOLDS),
        ((1, 3, 7, 15), Verdict.DOES_NOT),
        ((2, 4, 8, 16), Verdict.DOES_NOT),
        ((), Verdict.DOES_NOT),
        ((1, 2, 4, 8, 12), Verdict.DOES_NOT),
    ],
)
def test_steps_are_after_powers_of_two(
    row: Rows, write_run: Rows, after: tuple[int, ...], verdict: Verdict
) -> None:
    rows = as_claimed(row)
    for r in rows:
        steps = sum(n < r["lost_segments"] for n in after)
        r["t_total_s"] = 1.0 + 0.6 * steps * ROUND_TRIP[r["network"]]
    assert told(write_run(rows))["steps"].verdict is verdict


def test_a_step_that_chance_may_have_made_is_undecided(row: Rows, write_run: Rows) -> None:
    rows = as_claimed(row)
    for r in rows:
        if (r["network"], r["config"], r["lost_segments"]) == ("mobile", "er", 7):
            r["t_total_s"] += 0.05 if r["repetition"] else -0.05
    steps = told(write_run(rows))["steps"]
    assert steps.verdict is Verdict.UNDECIDED
    assert "mobile er after 1, 2, 4, 6?, 7?, 8, 16" in steps.measured


def test_the_first_step_of_the_probe_may_hide(row: Rows, write_run: Rows) -> None:
    def without_first(config: str) -> Path:
        rows = as_claimed(row)
        for r in rows:
            if r["config"] == config and r["lost_segments"] == 1:
                r["t_total_s"] += 0.6 * ROUND_TRIP[r["network"]]
        path: Path = write_run(rows)
        return path

    found = told(without_first("tlp"))["steps"]
    assert "mobile tlp after 2, 4, 8, 16" in found.measured
    assert found.verdict is Verdict.HOLDS
    assert told(without_first("er"))["steps"].verdict is Verdict.DOES_NOT


def test_on_the_screen_and_as_json(row: Rows, write_run: Rows) -> None:
    path = write_run(as_claimed(row))
    text = CliRunner().invoke(app, ["paper", "tlp-2013", str(path), "--claims"]).output
    lines = [" ".join(line.split()) for line in text.splitlines()]
    line = "holds The probe's first retransmission is faster by a factor of about 4.5 (Figure 4)"
    assert f"{line} factor 4.50: t_recover 0.2365 s against 0.0525 s" in lines
    assert any(line.endswith("are expected to be wrong by chance") for line in lines)
    assert "Table 4" not in text
    data = json.loads(
        CliRunner().invoke(app, ["paper", "tlp-2013", str(path), "--claims", "--json"]).output
    )
    assert [claim["key"] for claim in data["claims"]][:2] == ["no-loss", "single"]
    assert "table4" not in data

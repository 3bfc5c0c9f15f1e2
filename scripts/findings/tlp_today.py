"""Tail losses with servers of today: super-segments, BBR and fq, TLS and HTTP/2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl
from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.stamps import KERNELS, MODEL

import rexmit
from rexmit.statistics.estimate import relative
from rexmit.statistics.verdict import LESS, MORE
from rexmit_papers.claim import Claim, claim, of_estimate

CODE: Final = (
    *MODEL,
    *KERNELS,
    "scenarios/tlp-today.toml",
    "scripts/findings/tlp_today.py",
)
NETWORKS: Final[dict[str, dict[str, str]]] = {
    "high-speed": {},
    "mobile": {},
    "satellite": {},
    "data-centre": {"route.rto_min": "5ms"},
}
SENDER: Final = ["congestion_control", "sender"]
GAIN, COST, OPEN = "gains", "costs", "undecided"


def measure(work: Work) -> Data:
    """All senders on Linux 6.12, network by network."""
    judged: list[Claim] = []
    rows: list[dict[str, Value]] = []
    transfers = 0
    for network, besides in NETWORKS.items():
        run = lab.on_kernel(work, network, "tlp-today", "6.12", {"network": network, **besides})
        transfers += run.transfers.height
        rows += _gains(run, judged)
    return Data(
        {
            "transfers": transfers,
            "repeat": int(rows[0]["transfers"] or 0),
            "inexact": sum(int(row["inexact"] or 0) for row in rows),
            **lab.by_chance(judged),
        },
        {"gains": rows},
    )


def sample(work: Work) -> dict[str, str]:
    """A sender of each kind where the data are few."""
    some = {
        "network": "mobile",
        "loss.segments": "5",
        "repeat": "1",
        "config": "tlp-h1,tlp-tls-gso,tlp-h2",
        "tcp.congestion_control": "bbr",
    }
    run = lab.on_kernel(work, "6.12", "tlp-today", "6.12", some)
    return lab.digest({"6.12": run}, ("t_total_s", "t_recover_s", "mechanism"))


def _gains(run: rexmit.Run, judged: list[Claim]) -> Iterator[dict[str, Value]]:
    """By sender and lost segments, both configurations and what the probe changes, with half of the
    interval, and whether that is known to gain or to cost.
    """
    frame = run.transfers.with_columns(
        probe=pl.col("config").str.extract("^(er|tlp)-"),
        sender=pl.col("config").str.replace("^(er|tlp)-", ""),
    )
    keys = [*SENDER, "lost_segments"]
    for part in frame.filter("complete").partition_by(keys, maintain_order=True):
        er, tlp = (part.filter(probe=probe) for probe in ("er", "tlp"))
        means = [lab.estimate(run, rows, "t_total_s") for rows in (er, tlp)]
        change = relative(means[1], means[0])
        assert change is not None  # noqa: S101 - a transfer takes time
        words = {GAIN: LESS, COST: MORE}
        found = {
            word: claim(word, word, [of_estimate("", change, band, lambda one: f"{one:+.1%}")])
            for word, band in words.items()
        }
        judged += [one for one in found.values() if one.decided][:1]
        yield {
            "network": part["network"][0],
            **{key: part[key][0] for key in keys},
            "transfers": tlp.height,
            "inexact": part.filter(~pl.col("exact")).height,
            "er_s": means[0].value,
            "tlp_s": means[1].value,
            "percent": 100 * change.value,
            "half": 100 * (change.half or 0),
            "change": next((word for word, one in found.items() if one.word == "holds"), OPEN),
            "er_recover_s": lab.mean(er, "t_recover_s"),
            "tlp_recover_s": lab.mean(tlp, "t_recover_s"),
            "probed": tlp.filter(mechanism="tlp").height,
        }

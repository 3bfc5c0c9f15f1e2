"""The campaign of Ryll 2013 on kernels of today."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl
from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.stamps import KERNELS, MODEL
from scripts.findings.tlp_2013 import table_1, table_4

import rexmit

CODE: Final = (
    *MODEL,
    *KERNELS,
    "scenarios/tlp-2013.toml",
    "python/rexmit_papers/ryll_2013/[bcpt]*.py",
    "scripts/findings/tlp_2013.py",
    "scripts/findings/tlp_2013_today.py",
)
SERIES: Final = ("6.12", "6.1")
NO_RACK: Final = {
    "network": "mobile",
    "config": "tlp",
    "loss.segments": "2..6",
    "repeat": "5",
    "configs.tlp.sysctl": '{"net.ipv4.tcp_recovery"=0,"net.ipv4.tcp_early_retrans"=3}',
}
TIMES: Final = ("t_total_s", "t_recover_s", "mechanism", "retransmissions")


def measure(work: Work) -> Data:
    """13,860 transfers on each kernel, and some without RACK."""
    runs = {name: lab.on_kernel(work, name, "tlp-2013", name) for name in SERIES}
    without = lab.on_kernel(work, "no-rack", "tlp-2013", "6.12", NO_RACK)
    new = runs["6.12"]
    judged = {name: rexmit.claims(run) for name, run in runs.items()}
    for name in ("figure-4", "figure-5b"):
        work.draw(f"tlp-2013-today-{name}", rexmit.paper_figures(new)[name])
    return Data(
        {
            "transfers": new.transfers.height,
            "spurious": int(new.transfers["spurious_retransmissions"].sum()),
            "no_rack.timeouts": without.transfers.filter(pl.col("timeouts") > 0).height,
            "no_rack.transfers": without.transfers.height,
            "plain_er_apart_us": _apart(new) * 1e6,
            **lab.by_chance(one for those in judged.values() for one in those),
            "mobile.mean_percent": _mean_gain(new, "mobile", range(1, 21)),
            **_lossless(new),
            **_between(runs),
        },
        {
            "table-4": list(table_4(runs)),
            "table-1": [{"run": name, **row} for name, run in runs.items() for row in table_1(run)],
            "claims": [
                {"run": name, "key": one.key, "words": one.words}
                | {"holds": one.word, "measured": one.measured}
                for name, those in judged.items()
                for one in those
            ],
            "gains": list(_gains(new)),
        },
    )


def sample(work: Work) -> dict[str, str]:
    """A cell of each network on each kernel."""
    some = {"loss.segments": "5", "config": "tlp", "repeat": "2"}
    runs = {name: lab.on_kernel(work, name, "tlp-2013", name, some) for name in SERIES}
    return lab.digest(runs, TIMES)


def _means(run: rexmit.Run) -> pl.DataFrame:
    keys = ["network", "config", "lost_segments"]
    return run.transfers.group_by(keys).agg(pl.col("t_total_s").mean()).sort(keys)


def _gains(run: rexmit.Run) -> Iterator[dict[str, Value]]:
    """By how much the transfer ends later with the probe, by network and lost segments."""
    means = _means(run)
    er, tlp = (means.filter(config=config).drop("config") for config in ("er", "tlp"))
    for row in er.join(tlp, on=["network", "lost_segments"], suffix="_tlp").iter_rows(named=True):
        yield {
            "network": row["network"],
            "lost": row["lost_segments"],
            "percent": 100 * (row["t_total_s_tlp"] / row["t_total_s"] - 1),
        }


def _mean_gain(run: rexmit.Run, network: str, losses: range) -> float:
    """Of the sum over all these losses."""
    means = _means(run).filter(network=network).filter(pl.col("lost_segments").is_in(list(losses)))
    er, tlp = (float(means.filter(config=one)["t_total_s"].sum()) for one in ("er", "tlp"))
    return 100 * (tlp / er - 1)


def _apart(run: rexmit.Run) -> float:
    """Between `plain` and `er`, transfer by transfer, at most."""
    keys = ["network", "lost_segments", "repetition"]
    times = run.transfers.select(*keys, "config", "t_total_s")
    plain, er = (times.filter(config=config) for config in ("plain", "er"))
    both = plain.join(er, on=keys, suffix="_er")
    return float((both["t_total_s"] - both["t_total_s_er"]).abs().max())  # type: ignore[arg-type]


def _lossless(run: rexmit.Run) -> dict[str, Value]:
    means = _means(run).filter(config="er", lost_segments=0)
    return {f"no_loss.{row['network']}_s": row["t_total_s"] for row in means.iter_rows(named=True)}


def _between(runs: dict[str, rexmit.Run]) -> dict[str, Value]:
    """Whether two kernels retransmit alike, transfer by transfer, and how their SRTT differs."""
    keys = ["network", "config", "lost_segments", "repetition"]
    columns = (*keys, "mechanism", "retransmissions", "timeouts", "probes", "srtt_s")
    new, old = (run.transfers.select(*columns) for run in runs.values())
    both = new.join(old, on=keys, suffix="_old")
    same = [pl.col(name).eq_missing(pl.col(f"{name}_old")) for name in columns[4:8]]
    slow = both.filter(pl.col("network") != "high-speed")
    new_srtt, old_srtt = (lab.mean(slow, name) or 1 for name in ("srtt_s", "srtt_s_old"))
    return {
        "alike.transfers": both.filter(*same).height,
        "alike.of": both.height,
        "alike.srtt_percent": 100 * (old_srtt / new_srtt - 1),
    }

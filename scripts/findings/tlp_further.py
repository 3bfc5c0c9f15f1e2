"""What Ryll 2013 left for later: page size, window, a lossy line, congestion control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl
from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.stamps import KERNELS, MODEL

import rexmit

CODE: Final = (
    *MODEL,
    *KERNELS,
    "scenarios/tlp-further.toml",
    "python/rexmit_papers/ryll_2013/[cpt]*.py",
    "scripts/findings/tlp_further.py",
)
REPEAT: Final = 10
FIGURES: Final = ("t-recover-mobile-by-page-segments", "t-total-satellite-by-receive-window")


def measure(work: Work) -> Data:
    """All options on Linux 6.12, and on the model of 3.10."""
    new = lab.on_kernel(work, "6.12", "tlp-further", "6.12", {"repeat": REPEAT})
    old = lab.on_model(
        work, "3.10", "tlp-further", "linux-3.10", {"vary.3.congestion_control": "reno"}
    )
    for name, figure in rexmit.paper_figures(new, losses=5).items():
        if name in FIGURES:
            work.draw(f"tlp-further-{name}", figure)
    return Data(
        {"transfers": new.transfers.height, "old.transfers": old.transfers.height},
        {
            "options": list(_options(new, "6.12")) + list(_options(old, "3.10")),
            "lossy": list(_lossy(new)),
        },
    )


def sample(work: Work) -> dict[str, str]:
    """Two cells."""
    some = {"loss.segments": "5", "network": "mobile", "repeat": "1", "config": "tlp"}
    run = lab.on_kernel(work, "6.12", "tlp-further", "6.12", some)
    return lab.digest({"6.12": run}, ("t_total_s", "t_recover_s", "mechanism"))


def _options(run: rexmit.Run, name: str) -> Iterator[dict[str, Value]]:
    """Means with five lost segments, with the probe and without, on lines that lose nothing."""
    for block in rexmit.table4(run, losses=5).blocks:
        if block.group.value("line_loss"):
            continue
        row: dict[str, Value] = {
            "run": name,
            "option": "as the paper" if block.group.is_base else block.group.words,
            "network": block.network,
        }
        for time in ("t_total", "t_recover"):
            for entry in getattr(block, time):
                row[f"{entry.config}.{time}_s"] = entry.spread.mean_s
                row[f"{entry.config}.transfers"] = entry.spread.n
                if entry.percent is not None:
                    row[f"{time}_percent"] = entry.percent
        yield row


def _lossy(run: rexmit.Run) -> Iterator[dict[str, Value]]:
    """Means over all lost segments on lines that lose packets, with their standard errors."""
    frame = run.transfers.filter("complete", pl.col("line_loss") > 0)
    keys = ["line_loss", "network", "config"]
    time = pl.col("t_total_s")
    sums = frame.group_by(keys, maintain_order=True).agg(
        time.mean().alias("mean_s"),
        (time.std() / time.count().sqrt()).alias("error_s"),
        time.count().alias("transfers"),
    )
    yield from sums.iter_rows(named=True)

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
from rexmit.analysis.axes import with_axes
from rexmit.statistics.estimate import relative
from rexmit.statistics.verdict import LESS, Band
from rexmit_papers.claim import Claim, claim, of_estimate

CODE: Final = (
    *MODEL,
    *KERNELS,
    "scenarios/tlp-further.toml",
    "python/rexmit_papers/ryll_2013/[cpt]*.py",
    "scripts/findings/tlp_further.py",
)
REPEAT: Final = 10
SAME: Final = 0.05
"""No effect: within so much."""
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
    judged = [size := _size(new)]
    lossy = list(_lossy(new, judged))
    return Data(
        {
            "transfers": new.transfers.height,
            "old.transfers": old.transfers.height,
            "repeat": REPEAT,
            "size.holds": size.word,
            "size.measured": size.parts[0].words,
            **lab.by_chance(judged),
        },
        {
            "options": list(_options(new, "6.12")) + list(_options(old, "3.10")),
            "lossy": lossy,
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
                if entry.gain is not None:
                    row[f"{time}_percent"] = entry.percent
                    row[f"{time}_half"] = 100 * (entry.gain.half or 0)
        yield row


def _lossy(run: rexmit.Run, judged: list[Claim]) -> Iterator[dict[str, Value]]:
    """Means over all lost segments on lines that lose packets, and whether the probe shortens, with
    half of their intervals: a repetition's transfers start from the same draws.
    """
    frame = run.transfers.filter("complete", pl.col("line_loss") > 0)
    keys = ["line_loss", "network"]
    for part in frame.partition_by(keys, maintain_order=True):
        er, tlp = (
            lab.estimate(run, part.filter(config=config), "t_total_s") for config in ("er", "tlp")
        )
        gain = tlp - er
        shortens = of_estimate("", gain, LESS, lambda change: f"{change:+.2f} s")
        judged.append(claim("lossy", "the probe shortens", [shortens]))
        yield {
            **{key: part[key][0] for key in keys},
            "er_s": er.value,
            "er_half_s": er.half,
            "tlp_s": tlp.value,
            "tlp_half_s": tlp.half,
            "gain_s": gain.value,
            "gain_half_s": gain.half,
            "smallest_s": gain.smallest,
            "shortens": judged[-1].word,
        }


def _size(run: rexmit.Run) -> Claim:
    """Whether the page's length changes what the probe saves: at 10 ms, five lost."""
    rows = with_axes(run.transfers).filter("complete", network="high-speed", lost_segments=5)
    pages = rows.filter(pl.col("page_segments").is_in([10, 1000]))
    saved = {
        page: lab.estimate(run, part.filter(config="er"), "t_total_s")
        - lab.estimate(run, part.filter(config="tlp"), "t_total_s")
        for (page,), part in pages.partition_by("page_segments", as_dict=True).items()
    }
    off = relative(saved[1000], saved[10])
    assert off is not None  # noqa: S101 - the probe saves something of a short page
    part = of_estimate("", off, Band(-SAME, SAME), lambda share: f"{share:+.1%}")
    return claim("size", "no effect", [part])

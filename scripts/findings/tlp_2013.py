"""Ryll 2013 on the model of its kernel: Table 4, claims, Table 1, and what each unknown moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import polars as pl
from scripts.findings import lab, of_bench, stamps
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.stamps import MODEL

import rexmit
from rexmit.statistics.spread import spread
from rexmit_papers.ryll_2013.paper import TABLE_4
from rexmit_validate.sensitivity.departures import CELLS, BenchRow, Pair, Sensitivity

CODE: Final = (
    *MODEL,
    "scenarios/tlp-2013*.toml",
    "scenarios/unknowns/*",
    "python/rexmit_validate/sensitivity/*.py",
    "python/rexmit_papers/ryll_2013/[bcpt]*.py",
    "scenarios/talk-2013-*.toml",
    "scripts/findings/of_bench.py",
    "scripts/findings/tlp_2013.py",
)
BENCH: Final = "tlp-2013-bench"
ON_BENCH: Final = (
    *("anomaly", "factor", "low-delay", "never-worse", "no-loss", "not-always", "percentages"),
    *("plain-er", "satellite", "single", "single-twice", "steps", "timer"),
)
ON_WIRES: Final = ("never-worse", "not-always")


def measure(work: Work) -> Data:
    """The whole campaign on the bench as documented and on the lab's wires; each unknown."""
    bench = lab.on_model(work, "bench", BENCH, None)
    wires = lab.on_model(work, "lab", "tlp-2013", "linux-3.10")
    means = list(table_4({"bench": bench, "lab": wires}))
    for name in ("figure-4", "figure-5b"):
        work.draw(f"tlp-2013-{name}", rexmit.paper_figures(bench)[name])
    work.say("each unknown of the bench")
    moved = rexmit.sensitivity(BENCH, out=work.folder / "sensitivity")
    return Data(
        {
            "distance": moved.rows[0].distance,
            "unknowns": len(moved.rows) - 1,
            "transfers": bench.transfers.height,
            "near": sum(moved.rows[0].near(CELLS, time) for time in ("t_recover", "t_total")),
            "hold_points": max(abs(one or 0) for one in moved.moved(_named(moved, "filter holds"))),
            "table_4.half_percent": widest(means),
            **_errors(moved.recorded),
            "recorded.half_percent": _half_recorded(),
            **lab.by_chance([*rexmit.claims(bench), *rexmit.claims(wires)]),
            **_verdicts("bench", bench, ON_BENCH),
            **_verdicts("lab", wires, ON_WIRES),
            **of_bench.values(work, bench, wires),
        },
        {
            "table-4": means,
            "recorded": [row for one in moved.recorded for row in _recorded(one)],
            "unknowns": [_moved(row) for row in moved.rows],
            "claims": list(_claims(bench, wires)),
            "table-1": list(table_1(bench)),
        },
    )


def table_4(runs: dict[str, rexmit.Run]) -> Iterator[dict[str, Value]]:
    """The means of each run with five lost segments, and the paper's."""
    for name, run in runs.items():
        for block in rexmit.table4(run, losses=5).blocks:
            for time in ("t_recover", "t_total"):
                for entry in getattr(block, time):
                    printed = getattr(TABLE_4[block.network, entry.config], f"{time}_s")
                    mean, estimate = entry.spread.mean_s, entry.spread.estimate
                    yield {
                        "run": name,
                        "time": time,
                        "network": block.network,
                        "config": entry.config,
                        "mean_s": mean,
                        "half_s": estimate.half if estimate else None,
                        "transfers": entry.spread.n,
                        "against_er_percent": entry.percent,
                        "off_paper_percent": None if mean is None else 100 * (mean / printed - 1),
                    }


def widest(means: Sequence[Mapping[str, Value]]) -> float:
    """The widest half of an interval of these means, percent of the mean."""
    known = [(float(row["half_s"] or 0), float(row["mean_s"] or 0)) for row in means]
    return max(100 * half / mean for half, mean in known if mean)


def table_1(run: rexmit.Run) -> Iterator[dict[str, Value]]:
    """What repaired the tail after the probe, and in how many transfers."""
    for row in rexmit.table1(run).rows:
        then, alike = next(iter(row.after_probe.items()), ((), 0))
        yield {
            "network": row.network,
            "lost": row.repair.lost_segments,
            "transfers": row.transfers,
            "probed": row.probed,
            "then": " ".join(then),
            "alike": alike,
        }


def _recorded(one: Pair) -> Iterator[dict[str, Value]]:
    """What a real kernel left, and what the model says of the same bench, off the paper."""
    for who, row in (("kernel", one.kernel), ("model", one.model)):
        for cell, off in zip(CELLS, row.off_paper, strict=True):
            yield {
                "bench": one.name,
                "who": who,
                "time": cell.measure,
                "network": cell.network,
                "config": cell.config,
                "off_paper_percent": off,
            }


def _half_recorded() -> float:
    """Of the real kernel's rows: half of the widest interval of a mean, percent of the paper's."""
    rows = pl.read_csv(stamps.ROOT / "scenarios" / "unknowns" / "linux-3.10.4.csv")
    rows = rows.filter("complete", "exact", ~pl.col("stalled"))
    # The paper counts no transfer that was not probed.
    rows = rows.filter((pl.col("config") != "tlp") | pl.col("is_tlp").fill_null(True))
    halves = [0.0]
    for (_, *place), mine in rows.group_by("bench", "network", "config", maintain_order=True):
        for time in ("t_total_s", "t_recover_s"):
            estimate = spread(mine[time]).estimate
            if estimate is not None and estimate.half is not None:
                network, config = map(str, place)
                halves.append(100 * estimate.half / getattr(TABLE_4[network, config], time))
    return max(halves)


def _errors(recorded: tuple[Pair, ...]) -> dict[str, Value]:
    """Points of the paper's means between model and kernel at most; distances of kernels from the
    paper, of all means or of the twelve of `plain` and `er`.
    """
    pairs = {one.name.removeprefix("a 3.10.4, "): one for one in recorded}
    apart = {
        name: max(
            abs(ours - theirs)
            for ours, theirs in zip(one.model.off_paper, one.kernel.off_paper, strict=True)
            if ours is not None and theirs is not None
        )
        for name, one in pairs.items()
    }
    return {
        "model_off_points": max(apart.values()),
        "segmentation.model_off_points": apart["segmentation"],
        "segmentation.distance": _distance(pairs["segmentation"].kernel, "plain", "er", "tlp"),
        "no_gathering.distance": _distance(pairs["no gathering"].kernel, "plain", "er"),
    }


def _distance(row: BenchRow, *configs: str) -> float:
    """Root mean square of percent off the paper, of the means that are there."""
    cells = zip(CELLS, row.off_paper, strict=True)
    there = [off for cell, off in cells if off is not None and cell.config in configs]
    return float((sum(off**2 for off in there) / len(there)) ** 0.5)


def _verdicts(name: str, run: rexmit.Run, keys: Sequence[str]) -> dict[str, Value]:
    """Of each of these claims a word, for tables that are written by hand."""
    found = {
        claim.key: claim.word if claim.verdict else "cannot be told" for claim in rexmit.claims(run)
    }
    return {f"{name}.{key}": found[key] for key in keys}


def _named(moved: Sensitivity, name: str) -> BenchRow:
    (found,) = (row for row in moved.rows if row.name == name)
    return found


def _moved(row: BenchRow) -> dict[str, Value]:
    return {
        "name": row.name,
        "t_recover_near": row.near(CELLS, "t_recover"),
        "t_total_near": row.near(CELLS, "t_total"),
        "distance": row.distance,
    }


def _claims(bench: rexmit.Run, wires: rexmit.Run) -> Iterator[dict[str, Value]]:
    for one, other in zip(rexmit.claims(bench), rexmit.claims(wires), strict=True):
        yield {
            "key": one.key,
            "words": one.words,
            "bench": one.word,
            "bench_measured": one.measured,
            "lab": other.word,
            "lab_measured": other.measured,
        }

"""UNC 2007 on corpora of its stacks: its claims, its Table IV beside the truth, what each setting
really does, and figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl
from scripts.findings import corpora, lab, unc_rerun, unc_rerun_claims
from scripts.findings.corpora import KINDS, MIXES, corpus, studied
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value

import rexmit
from rexmit.progress import Silent
from rexmit_papers.claim import Claim
from rexmit_papers.library.study import UncStudy
from rexmit_papers.unc_2007.evidence import Evidence, of_column
from rexmit_papers.unc_2007.systems import FR, RTO
from rexmit_validate.whatif.calibrate import calibrate
from rexmit_validate.whatif.transfers import usual

CODE: Final = (
    *corpora.CODE,
    "python/rexmit_validate/whatif/*.py",
    "python/rexmit/whatif/*.py",
    "scripts/findings/unc_2007.py",
    "scripts/findings/unc_rerun.py",
    "scripts/findings/unc_rerun_claims.py",
)
FIGURES: Final = ("2", "3", "4-linux", "6", "7")
"""Those of campus, with the stacks as printed, that the document shows."""

GRID: Final = ("linux-2.4", "solaris-10-unc2007", "windows-xp-unc2007")
"""Senders whose predictions are checked with all of the study's 720 settings."""


def measure(work: Work) -> Data:
    """Six studies, every setting really run, and what-if predictions held against transfers."""
    studies = {(kind, mix): studied(work, kind, mix) for kind in KINDS for mix in MIXES}
    campus = studies["printed", "campus"]
    figures = rexmit.paper_figures(campus)
    for name in FIGURES:
        work.draw(f"unc-2007-figure-{name}", figures[f"figure-{name}"])
    rerun = unc_rerun.every(work)
    work.table("unc-2007-rerun", rerun)
    judged = {place: study.claims for place, study in studies.items()}
    really_run = {place: tuple(unc_rerun_claims.claims(rerun, *place)) for place in studies}
    every = (one for verdicts in (judged, really_run) for mine in verdicts.values() for one in mine)
    return Data(
        {
            "seed": corpora.SEED,
            "connections": corpora.CONNECTIONS,
            "rerun.connections": unc_rerun.CONNECTIONS,
            **lab.by_chance(every),
            **_explained("explained", studies.values()),
            **_explained("explained_by_all", [corpora.studied_by_all(work, mix) for mix in MIXES]),
        },
        {
            "claims": [
                _claim(kind, mix, one) for (kind, mix), mine in judged.items() for one in mine
            ],
            "rerun-claims": [
                _claim(kind, mix, one) for (kind, mix), mine in really_run.items() for one in mine
            ],
            "sizes": [
                row for (kind, mix), study in studies.items() for row in _sizes(kind, mix, study)
            ],
            "parameters": [
                {"kind": kind, **vars(one), "assumed": " ".join(f"{x:g}" for x in one.assumed)}
                for kind in KINDS
                for one in studies[kind, "campus"].tables.parameters
            ],
            "table-iv": [
                row
                for (kind, mix), study in studies.items()
                for row in (*_analysed(kind, mix, study), *_truth(work, kind, mix))
            ],
            "false-alarms": [
                {"system": one.system, "connections": one.with_retransmissions}
                for one in campus.tables.false_alarms
            ],
            **_checked(work),
        },
    )


def sample(work: Work) -> dict[str, str]:
    """Corpora of 100 connections, what is said of them, and how long they take with a setting; how
    far the usual predictions are off.
    """
    found: dict[str, object] = {stack: rexmit.check_whatif(stack=stack).rows for stack in GRID}
    for stack in dict.fromkeys((*corpora.PRINTED, *corpora.REAL)):
        for mix in MIXES:
            folder = work.folder / f"{stack}-{mix}"
            made = corpora.made(folder, stack, mix, 100)
            durations = pl.read_parquet(folder / "connections.parquet")["duration_s"]
            trace = rexmit.trace(made, stacks=["unc-2007"])
            rows = trace.scan("retransmissions").select("time_s", "mechanism", "need").collect()
            changes = trace.scan("whatif").select("setting", "change_s").collect()
            found[f"{stack}, {mix}"] = (durations.to_list(), rows.rows(), changes.rows())
    return lab.digests(found)


def _claim(kind: str, mix: str, one: Claim) -> dict[str, Value]:
    head: dict[str, Value] = {"kind": kind, "mix": mix, "key": one.key, "words": one.words}
    return head | {"holds": one.word, "measured": one.measured}


def _sizes(kind: str, mix: str, study: UncStudy) -> Iterator[dict[str, Value]]:
    """Of each system how many connections are lossy and explained, and what the Best-Case, which
    no way to detect losses can be better than, saves of their time.
    """
    seen = Evidence(study.study, study.tables)
    for system, frame in seen.frames("k=2"):
        best = of_column(frame, "best")
        interval = best.interval
        yield {
            "kind": kind,
            "mix": mix,
            "system": system,
            "connections": frame.height,
            "best_rtts": best.value,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
        }


def _explained(name: str, studies: Iterable[UncStudy]) -> dict[str, Value]:
    """Percent of lossy connections that are explained: of stacks in mixes the least, the most."""
    shares = [
        100 * row.explained[0] / row.lossy[0] for study in studies for row in study.tables.lossy
    ]
    return {f"{name}.least_percent": min(shares), f"{name}.most_percent": max(shares)}


def _analysed(kind: str, mix: str, study: UncStudy) -> Iterator[dict[str, Value]]:
    for row in study.tables.classes:
        counts = (row.needed_rto, row.needed_fr, row.spurious_rto, row.spurious_fr)
        yield _shares(kind, mix, row.system, "analysed", counts)


def _truth(work: Work, kind: str, mix: str) -> Iterator[dict[str, Value]]:
    """The same classes as the corpora know them, of all lossy connections."""
    names = unc_rerun.names(KINDS[kind])
    spurious = pl.col("need") == "spurious"
    rto, fr = (pl.col("mechanism").is_in(which) for which in (RTO, FR))
    for stack in KINDS[kind]:
        folder = corpus(work, stack, mix)
        lossy = pl.read_parquet(folder / "connections.parquet").filter(
            pl.col("retransmissions") > pl.col("spurious_retransmissions")
        )
        mine = pl.read_parquet(folder / "retransmissions.parquet").join(
            lossy.select("flow"), on="flow", how="semi"
        )
        counts = mine.select(
            (rto & ~spurious).sum().alias("rto"),
            (fr & ~spurious).sum().alias("fr"),
            (rto & spurious).sum().alias("spurious_rto"),
            (fr & spurious).sum().alias("spurious_fr"),
        ).row(0)
        yield _shares(kind, mix, names[stack], "truth", counts)


def _shares(
    kind: str, mix: str, system: str, who: str, counts: tuple[int, ...]
) -> dict[str, Value]:
    names = ("rto_percent", "fr_percent", "spurious_rto_percent", "spurious_fr_percent")
    shares = (100 * count / sum(counts) for count in counts)
    head: dict[str, Value] = {
        "kind": kind,
        "mix": mix,
        "system": system,
        "who": who,
        "total": sum(counts),
    }
    return {**head, **dict(zip(names, shares, strict=True))}


def _checked(work: Work) -> dict[str, list[dict[str, Value]]]:
    """Predictions of every usual setting on every stack, and of the study's grid."""
    work.say("predictions beside transfers, every usual setting on every stack")
    # As rexmit.check_whatif does, but for the copy that it keeps for later pages.
    check = calibrate(
        usual(None),
        seed=1,
        jobs=None,
        out=work.folder / "check",
        kernel=None,
        keep=False,
        progress=Silent(),
    )
    every = pl.DataFrame(list(check.rows), infer_schema_length=None)
    work.table("unc-2007-whatif", every)
    grid = []
    for stack in GRID:
        work.say(f"predictions beside transfers, {stack}, the study's grid")
        rows = rexmit.check_whatif(
            stack=stack, settings=["grid"], out=work.folder / f"grid-{stack}"
        ).rows
        medians = sorted(row["median"] for row in rows)
        grid.append(
            {
                "stack": stack,
                "settings": len(rows),
                "within_2_percent": sum(median <= 0.02 for median in medians),
                "worst_percent": 100 * medians[-1],
            }
        )
    return {"grid": grid}

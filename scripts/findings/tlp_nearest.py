"""The benches nearest to Ryll 2013 among combinations of what nobody wrote down."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.tlp_2013 import BENCH
from scripts.findings.tlp_2013 import CODE as OF_BENCH

import rexmit

CODE: Final = (*OF_BENCH, "scripts/findings/tlp_nearest.py")

STARTS: Final = {
    "segmentation": "a 3.10.4, segmentation",
    "gathering": "a 3.10.4, gathering",
    "no-gathering": "a 3.10.4, no gathering",
}
"""Benches with rows of a real kernel, to which the model adds what departures change."""

HELD_OUT: Final = ("t_total", "high-speed", "mobile", "satellite")
"""What a search chooses its benches without, to be judged by it."""


def measure(work: Work) -> Data:
    """Four searches, and the bench of least distance over all numbers of lost segments."""
    work.say("thousands of benches")
    found = _search(work, "nearest", 5, None)
    rows = list(_benches("as written down", found))
    for name, start in STARTS.items():
        work.say(f"thousands of benches from {start}")
        rows += _benches(name, _search(work, name, 4, start))
    held = [one for hold_out in HELD_OUT for one in _held_out(work, hold_out)]
    least = min(found.nearest, key=lambda one: one.distance)
    departing = {one.name: one for one in found.shares}
    run = lab.on_model(work, "least", BENCH, None, _over_all(least.command))
    judged = rexmit.claims(run, departing=True)
    work.draw("tlp-2013-nearest-high-speed", rexmit.paper_figures(run)["t-total-high-speed"])
    return Data(
        {
            "benches": found.benches,
            "least_distance": least.distance,
            "least_near": sum(least.near.values()),
            "least_command": least.command,
            **_not_fitted(run),
            "best_distance": found.nearest[0].distance,
            "best_near": sum(found.nearest[0].near.values()),
            "on_time_score": departing["timers 1 ms late"].best_without,
            **{f"least.{name}": value for name, value in lab.by_chance(judged).items()},
        },
        {
            "benches": rows,
            "held-out": held,
            "claims": [
                {"words": one.words, "holds": one.word, "measured": one.measured} for one in judged
            ],
            "shares": [
                {"name": one.name, "of_nearest": one.nearest} for one in found.shares if one.nearest
            ],
            "least": [
                {
                    "time": cell.measure,
                    "network": cell.network,
                    "config": cell.config,
                    "off_paper_percent": off,
                }
                for cell, off in zip(found.cells, least.off_paper, strict=True)
            ],
        },
    )


def _over_all(command: str) -> dict[str, object]:
    """The settings of a bench's command, for 1 to 20 lost segments."""
    words = shlex.split(command)
    told = [word.split("=", 1) for flag, word in pairwise(words) if flag == "--set"]
    return {**dict(told), "loss.segments": "0..20", "repeat": "10"}


def _not_fitted(run: rexmit.Run) -> dict[str, Value]:
    """What the search, which saw five lost segments only, did not see. At 10 ms: a single lost
    segment beside two with the probe, and the first retransmission without the probe and with it,
    means over 2 to 20 lost segments.
    """
    one, two = (_fast(run, lost)["tlp", "t_total"] for lost in (1, 2))
    pairs = []
    for lost in range(2, 21):
        found = _fast(run, lost)
        er, tlp = (found.get((config, "t_recover")) for config in ("er", "tlp"))
        # Where no transfer was probed the paper counts none.
        if er is not None and tlp is not None:
            pairs.append((er, tlp))
    return {
        "least.one_lost_s": one,
        "least.two_lost_s": two,
        "least.one_over_two": one / two,
        "least.factor": sum(er for er, _ in pairs) / sum(tlp for _, tlp in pairs),
    }


def _fast(run: rexmit.Run, lost: int) -> dict[tuple[str, str], float]:
    """Means at 10 ms by configuration and time."""
    block = rexmit.table4(run, losses=lost).blocks[0]
    return {
        (entry.config, time): entry.spread.mean_s
        for time in ("t_recover", "t_total")
        for entry in getattr(block, time)
        if entry.spread.mean_s is not None
    }


def sample(work: Work) -> dict[str, str]:
    """A search of pairs alone."""
    found = rexmit.nearest_benches(
        BENCH,
        together=1,
        repeat=2,
        settings={"workload.warm_up": "5", "network": "high-speed"},
        out=work.folder / "search",
    )
    return lab.digests({"search": [(one.departures, one.means_s) for one in found.nearest]})


def _search(work: Work, name: str, together: int, start: str | None) -> Any:  # noqa: ANN401
    return rexmit.nearest_benches(
        BENCH,
        together=together,
        start=start,
        repeat=20,
        settings={} if start else {"workload.warm_up": "20"},
        out=work.folder / name,
    )


def _held_out(work: Work, hold_out: str) -> Iterator[dict[str, Value]]:
    """The bench as documented and the first that a search of up to three departures names without
    some means: how far both are off those it saw, and those it did not.
    """
    work.say(f"benches chosen without {hold_out}")
    found = rexmit.nearest_benches(
        BENCH,
        together=3,
        repeat=20,
        settings={"workload.warm_up": "20"},
        hold_out=hold_out,
        out=work.folder / "nearest",
    )
    for one in (found.base, found.nearest[0]):
        yield {
            "held_out": hold_out,
            "departures": ", ".join(one.departures),
            "fitted": one.distance,
            "other": one.held_out,
        }


def _benches(start: str, found: Any) -> Iterator[dict[str, Value]]:  # noqa: ANN401
    for place, one in enumerate((found.base, *found.nearest)):
        yield {
            "start": start,
            "place": place,
            "score": one.score,
            "distance": one.distance,
            "t_recover_near": one.near["t_recover"],
            "t_total_near": one.near["t_total"],
            "departures": ", ".join(one.departures),
        }

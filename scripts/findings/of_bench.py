"""What sentences about Ryll 2013 say: single times and counts of the bench, the lab, the talk."""

from __future__ import annotations

from typing import Final

import polars as pl
from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Value

import rexmit
from rexmit.statistics.interval import Interval
from rexmit.statistics.verdict import about
from rexmit_papers.ryll_2013.claims import ABOUT

BENCH: Final = "tlp-2013-bench"
STACK: Final = "linux-3.10"
TALK: Final = ("dupack", "rto", "tlp")


def values(work: Work, bench: rexmit.Run, wires: rexmit.Run) -> dict[str, Value]:
    """All of them."""
    return {
        **_five_lost(bench),
        **_fast(bench),
        **_probe_timer(bench),
        **_own_fins(wires),
        **_talk(work),
        **_middle(work),
        **_satellite(bench),
    }


def _five_lost(run: rexmit.Run) -> dict[str, Value]:
    """What the probe gains over `er`, and when the probed transfer ends: ours, and to the letter,
    when the FIN is sent again.
    """
    found: dict[str, Value] = {}
    for block in rexmit.table4(run, losses=5).blocks:
        name = block.network
        for time in ("t_recover", "t_total"):
            (entry,) = (one for one in getattr(block, time) if one.config == "tlp")
            if name != "satellite":
                found[f"{name}.{time}_percent"] = entry.percent
        found[f"ours.{name}_s"] = entry.spread.mean_s
        found[f"letter.{name}_s"] = entry.to_the_letter.mean_s
    return found


def _mean(run: rexmit.Run, time: str, config: str, lost: int, network: str) -> float:
    mine = run.transfers.filter("complete", config=config, lost_segments=lost, network=network)
    mean = lab.mean(mine, time)
    if mean is None:
        raise ValueError(f"{run.path}: no {time} of {config}, {network}, {lost} lost")
    return mean


def _fast(run: rexmit.Run) -> dict[str, Value]:
    """At 10 ms: one lost segment beside two with the probe; without it an even number lost and an
    odd one; the first retransmission without the probe and with it, means of 2 to 20 lost.
    """
    place = "high-speed"
    one, two = (_mean(run, "t_total_s", "tlp", lost, place) for lost in (1, 2))
    er, tlp = (
        sum(_mean(run, "t_recover_s", config, lost, place) for lost in range(2, 21))
        for config in ("er", "tlp")
    )
    of_five = run.transfers.filter(network=place, config="tlp", lost_segments=5)
    return {
        "one_over_two": one / two,
        "two_lost_s": two,
        "factor": er / tlp,
        "odd_s": _mean(run, "t_recover_s", "er", 5, place),
        "even_s": _mean(run, "t_recover_s", "er", 6, place),
        "srtt_ms": 1000 * (lab.mean(of_five, "srtt_s") or 0),
    }


def _probe_timer(run: rexmit.Run) -> dict[str, Value]:
    """At 100 ms, five lost: when the probe comes after the drop, and the smoothed round trip."""
    mine = run.transfers.filter(network="mobile", config="tlp", lost_segments=5)
    return {
        "probe.after_s": lab.mean(mine, "t_recover_s"),
        "probe.srtt_ms": 1000 * (lab.mean(mine, "srtt_s") or 0),
    }


def _own_fins(run: rexmit.Run) -> dict[str, Value]:
    """On the lab's wires: transfers with five lost whose FIN is a packet of its own."""
    found: dict[str, Value] = {}
    for network in ("mobile", "satellite"):
        mine = run.transfers.filter(network=network, config="tlp", lost_segments=5)
        found[f"own_fin.{network}"] = mine.filter(~pl.col("fin_on_data")).height
        found[f"own_fin.{network}_of"] = mine.height
    return found


def _talk(work: Work) -> dict[str, Value]:
    """The talk's slides: the first retransmission after the drop, and by how much the probe ends
    earlier than the timeout.
    """
    runs = {
        name: lab.on_model(work, f"talk-{name}", f"talk-2013-{name}", STACK).transfers
        for name in TALK
    }
    found: dict[str, Value] = {
        f"talk.{name}_s": lab.mean(transfers, "t_recover_s") for name, transfers in runs.items()
    }
    rto, tlp = (lab.mean(runs[name], "t_total_s") or 0 for name in ("rto", "tlp"))
    return {**found, "talk.earlier_s": rto - tlp}


def _middle(work: Work) -> dict[str, Value]:
    """The last segment but one lost, and the last but two: early retransmit."""
    run = lab.on_model(
        work,
        "middle",
        BENCH,
        None,
        {
            "network": "high-speed",
            "config": "er",
            "repeat": 1,
            "loss.rule": "pattern",
            "loss.pattern": "data -2,data -3",
        },
    )
    early = run.transfers.filter(mechanism="early-retransmit")
    return {"early_ms": 1000 * (lab.mean(early, "t_recover_s") or 0), "early.of_two": early.height}


def _satellite(run: rexmit.Run) -> dict[str, Value]:
    """A transfer by satellite, and 420 of them."""
    seconds = lab.mean(run.transfers.filter(network="satellite"), "t_total_s") or 0
    minutes = 420 * seconds / 60
    hour = about(60, ABOUT).judge(Interval(minutes, minutes))
    return {
        "satellite.transfer_s": seconds,
        "satellite.minutes": minutes,
        "satellite.hour": hour.value,
    }

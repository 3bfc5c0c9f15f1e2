"""Probe or Wait 2017 on models of its kernel and of today's, on real kernels with its proposal as a
patch, and what it leaves for later.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

import polars as pl
from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.stamps import KERNELS, MODEL

import rexmit
from rexmit.analysis.bursts import bursts_of
from rexmit.statistics.spread import Spread
from rexmit.statistics.verdict import LESS, MORE, Band
from rexmit_papers.claim import Claim, claim, of_estimate
from rexmit_papers.probe_or_wait_2017.paper import LOSSES, TWO

CODE: Final = (
    *MODEL,
    *KERNELS,
    "scenarios/mptcp-*.toml",
    "python/rexmit_papers/probe_or_wait_2017/[cdp]*.py",
    "scripts/findings/mptcp_2017.py",
)
OLD: Final = "linux-4.1"
NEW: Final = f"6.12+{lab.PATCHED}"
PAPER: Final = "mptcp-2017"
_LOSSY: Final = pl.col("line_loss") > 0
SEEDS: Final = {"seeds": "1..20"}
"""Streams of messages are drawn so often anew, each seed a unit."""

TIMES: Final = ("t_total_s", "t_recover_s", "mechanism", "reinjections")


def measure(work: Work) -> Data:
    """The study on two models and two kernels, then other traffic, triggers and schedulers."""
    runs = {
        "model of 4.1": lab.on_model(work, "model-4.1", PAPER, OLD),
        "model of 6.12": lab.on_model(work, "model-6.12", PAPER, "linux-6.12"),
        "Linux 6.1": lab.on_kernel(work, "6.1", PAPER, f"6.1+{lab.PATCHED}"),
        "Linux 6.12": lab.on_kernel(work, "6.12", PAPER, NEW),
    }
    old, new = runs["model of 4.1"], runs["Linux 6.12"]
    for name, figure in rexmit.paper_figures(old).items():
        work.draw(f"mptcp-2017-{name}", figure)
    head = lab.on_model(
        work,
        "head",
        PAPER,
        OLD,
        {"configs.mptcp-new.stack.mptcp_reinject_on_probe": "head", "config": "mptcp-new"},
    )
    judged = {name: rexmit.claims(run) for name, run in runs.items()}
    further, compared = _further(work)
    return Data(
        {
            "connections": old.transfers.height,
            **lab.by_chance([*(one for those in judged.values() for one in those), *compared]),
            "model_off_kernel_us": _apart(runs["model of 6.12"], new),
            **_met(old),
            **_late(new),
            **_slower(new),
            **_without_loss(work),
        },
        {
            "times": [row for name, run in runs.items() for row in _cases(name, run)]
            + list(_cases("head", head)),
            "claims": [
                {"run": name, "key": one.key, "words": one.words}
                | {"holds": one.word, "measured": one.measured}
                for name, those in judged.items()
                for one in those
            ],
            **further,
        },
    )


def sample(work: Work) -> dict[str, str]:
    """Some cells of each."""
    some: Mapping[str, object] = {"network": "20-120", "repeat": "1"}
    runs = {
        "model of 4.1": lab.on_model(work, "model-4.1", PAPER, OLD, some),
        "model of 6.12": lab.on_model(work, "model-6.12", PAPER, "linux-6.12", some),
        "Linux 6.12": lab.on_kernel(work, "6.12", PAPER, NEW, {**some, "config": "mptcp-new"}),
        **{
            name: lab.on_model(work, name, f"mptcp-{name}", OLD, some)
            for name in ("triggers", "schedulers", "messages", "page")
        },
    }
    return lab.digest(runs, TIMES)


def _further(work: Work) -> tuple[dict[str, list[dict[str, Value]]], list[Claim]]:
    """What the paper leaves for later, and what it does not ask; and the verdicts on it."""
    on = {
        name: lab.on_model(work, name, f"mptcp-{name}", OLD, settings)
        for name, settings in (
            *((name, None) for name in ("triggers", "page", "bulk")),
            *((name, SEEDS) for name in ("messages", "schedulers")),
        )
    }
    new = {
        "messages": lab.on_kernel(work, "messages-6.12", "mptcp-messages", NEW, SEEDS),
        "page": lab.on_kernel(work, "page-6.12", "mptcp-page", NEW, {"repeat": "20"}),
    }
    compared: list[Claim] = []
    old, later = "model of 4.1", "Linux 6.12"
    tables = {
        "triggers": list(_cases(old, on["triggers"])),
        "schedulers": list(_bursts(old, on["schedulers"], "lowest-rtt", compared)),
        "bulk": list(_bulk(on["bulk"])),
        "bulk-claims": list(_bulk_claims(on["bulk"], compared)),
        "messages": [
            *_bursts(old, on["messages"], "mptcp-tlp", compared),
            *_bursts(later, new["messages"], "mptcp-tlp", compared),
        ],
        "pages": [
            *_pages(old, on["page"], compared),
            *_pages(later, new["page"], compared),
        ],
    }
    return tables, compared


def _cases(name: str, run: rexmit.Run) -> Iterator[dict[str, Value]]:
    """Completion of the last burst of each case, and what was re-injected after the loss."""
    for (network, config, loss), case in rexmit.bursts(run).cases.items():
        yield {
            "run": name,
            "network": network,
            "config": config,
            "loss": loss,
            "ms": _ms(case.completion.mean_s),
            "connections": case.completion.n,
            "reinjected": case.reinjected,
            "in_vain": case.reinjected_spuriously,
        }


def _bursts(
    name: str, run: rexmit.Run, usual: str, compared: list[Claim]
) -> Iterator[dict[str, Value]]:
    """All bursts of connections with 1 % of random loss, beside those of the `usual` one."""
    every = {}
    for place, mine in _by_config(run.transfers.filter(_LOSSY)):
        ended = mine.filter("complete")
        rows, endless = bursts_of(run, ended, mine.filter(~pl.col("complete")))
        began = lab.spread_of(run, rows, "completion_s")
        every[place] = began, endless, mine.height, mine.height - ended.height
    yield from _spread(name, every, usual, compared)


def _by_config(frame: pl.DataFrame) -> Iterator[tuple[tuple[str, str], pl.DataFrame]]:
    for (network, config), mine in frame.group_by("network", "config", maintain_order=True):
        yield (str(network), str(config)), mine


def _pages(name: str, run: rexmit.Run, compared: list[Claim]) -> Iterator[dict[str, Value]]:
    """Pages with 1 % of random loss."""
    every = {}
    for place, mine in _by_config(run.transfers.filter(_LOSSY)):
        ended = mine.filter("complete")
        never = mine.height - ended.height
        every[place] = lab.spread_of(run, ended, "t_total_s"), never, mine.height, never
    yield from _spread(name, every, "mptcp-tlp", compared)


_Sample: TypeAlias = tuple[Spread, int, int, int]
"""Times, how many never ended, of how many connections, how many of these did not end."""


def _spread(
    name: str, every: Mapping[tuple[str, str], _Sample], usual: str, compared: list[Claim]
) -> Iterator[dict[str, Value]]:
    """By network and configuration, and whether it is earlier than the usual one: by seeds, or
    by repetitions where there is one. What never ended is in no mean; in percentiles it is larger
    than all others.
    """
    for (network, config), (times, endless, connections, never) in every.items():
        mean, base = times.estimate, every[network, usual][0].estimate
        if mean is None or base is None:
            raise ValueError(f"{name}: nothing ended of {network} {config}")
        less = mean - base
        part = of_estimate("", less, LESS, lambda x: f"{1000 * x:+.1f} ms")
        if config != usual:
            compared.append(claim(f"{network} {config}", "earlier", [part]))
        yield {
            "run": name,
            "network": network,
            "config": config,
            "n": times.n,
            "never": endless,
            "connections": connections,
            "connections_never": never,
            "mean_ms": 1000 * mean.value,
            "half_ms": _ms(mean.half),
            **_ends("p99", replace(times, endless=endless), 0.99),
            **_ends("p99_ended", times, 0.99),
            "most_ms": _ms(max(times.values)),
            "holds": part.verdict,
            "measured": part.words,
            "smallest_ms": _ms(less.smallest),
        }


def _ends(name: str, times: Spread, share: float) -> dict[str, Value]:
    """A percentile in ms and its interval; null of what never ended."""
    interval = times.percentile_interval(share)
    return {
        f"{name}_ms": _finite(times.percentile(share)),
        f"{name}_low_ms": None if interval is None else _finite(interval.low),
        f"{name}_high_ms": None if interval is None else _finite(interval.high),
    }


def _finite(seconds: float | None) -> float | None:
    return None if seconds is None or not math.isfinite(seconds) else 1000 * seconds


_BULK: Final = ("network", "line_loss", "config", "congestion_control")


def _bulk(run: rexmit.Run) -> Iterator[dict[str, Value]]:
    """Medians by network, loss, protocol and congestion control."""
    for place, mine in run.transfers.group_by(*_BULK, maintain_order=True):
        ended = mine.filter("complete")
        never = mine.height - ended.height
        times = replace(lab.spread_of(run, ended, "t_total_s"), endless=never)
        yield {
            **dict(zip(_BULK, map(str, place), strict=True)),
            "line_loss": mine["line_loss"][0],
            "n": times.n,
            "never": never,
            **_ends("median", times, 0.5),
        }


def _bulk_claims(run: rexmit.Run, compared: list[Claim]) -> Iterator[dict[str, Value]]:
    """What is said of them: with loss LIA on two equal paths takes no longer than one TCP
    (RFC 6356's first goal); without it two unlike paths take longer than the fast one alone.
    """
    cases = [
        ("lia", "20-20", loss, Band(high=0.0), ("mptcp", "lia"), ("tcp", "reno"))
        for loss in (0.001, 0.01)
    ]
    cases.append(("unlike", "20-120", 0.0, MORE, ("mptcp", "cubic"), ("tcp", "cubic")))
    for key, network, loss, band, *both in cases:
        one, other = (
            lab.estimate(
                run,
                run.transfers.filter(
                    "complete",
                    network=network,
                    config=config,
                    congestion_control=control,
                    line_loss=loss,
                ),
                "t_total_s",
            )
            for config, control in both
        )
        part = of_estimate("", one - other, band, lambda x: f"{x:+.1f} s")
        compared.append(claim(key, key, [part]))
        yield {
            "key": key,
            "network": network,
            "line_loss": loss,
            "holds": part.verdict,
            "measured": part.words,
        }


def _apart(model: rexmit.Run, kernel: rexmit.Run) -> float:
    """Between mean completions of Multipath TCP on model and kernel, microseconds, at most."""
    theirs = rexmit.bursts(kernel).cases
    return max(
        1e6 * abs((case.completion.mean_s or 0) - (theirs[key].completion.mean_s or 0))
        for key, case in rexmit.bursts(model).cases.items()
        if key[1].startswith("mptcp")
    )


def _met(run: rexmit.Run) -> dict[str, Value]:
    """Bars of the authors' figures that are met within two ticks, and those off by a delayed
    acknowledgement.
    """
    claims = {one.key: one.measured for one in rexmit.claims(run)}
    found: dict[str, Value] = {}
    for key, figure in (("h2", 2), ("h4", 4), ("h6", 6)):
        numbers = re.match(r"(\d+) of (\d+) within 2 ticks, (\d+) more", claims[key])
        if numbers is None:
            raise ValueError(f"claim {key} says {claims[key]!r}")
        met, bars, more = map(int, numbers.groups())
        found |= {f"figure_{figure}.met": met, f"figure_{figure}.bars": bars}
        found[f"figure_{figure}.delayed"] = more
    for name in ("met", "bars", "delayed"):
        found[name] = sum(int(found[f"figure_{figure}.{name}"] or 0) for figure in (2, 4, 6))
    return found


def _slower(run: rexmit.Run) -> dict[str, Value]:
    """At 20-120 with two lost and the probe: TCP on the fast path, and Multipath TCP on both."""
    cases = rexmit.bursts(run).cases
    return {
        f"two_lost.{config}_ms": _ms(cases["20-120", config, TWO].completion.mean_s)
        for config in ("tcp-tlp", "mptcp-tlp")
    }


def _late(run: rexmit.Run) -> dict[str, Value]:
    """At 120-20 with the probe upstream shares bursts out by phase: how many of each kind."""
    some = run.transfers.filter(
        network="120-20", config="mptcp-tlp", loss_pattern=next(iter(LOSSES))
    )
    times = some["t_total_s"].sort()
    middle = (times[0] + times[-1]) / 2
    soon, late = times.filter(times < middle), times.filter(times >= middle)
    return {
        "phases.soon": soon.len(),
        "phases.soon_ms": _ms(soon.mean()),
        "phases.late": late.len(),
        "phases.late_ms": _ms(late.mean()),
    }


def _without_loss(work: Work) -> dict[str, Value]:
    """Pages without loss: medians of TCP and of Multipath TCP, with their intervals in words."""
    runs = {
        "old": lab.on_model(work, "page", "mptcp-page", OLD),
        "new": lab.on_kernel(work, "page-6.12", "mptcp-page", NEW, {"repeat": "20"}),
    }
    found: dict[str, Value] = {}
    for name, run in runs.items():
        clean = run.transfers.filter("complete", ~_LOSSY, network="20-20")
        for config in ("tcp-tlp", "mptcp-tlp"):
            times = lab.spread_of(run, clean.filter(config=config), "t_total_s")
            row = _ends("median", times, 0.5)
            low, high = (format(row[f"median_{end}_ms"] or 0, ".0f") for end in ("low", "high"))
            found[f"clean.{name}.{config}_ms"] = row["median_ms"]
            words = f"{low} to {high} ms" if low != high else "within a millisecond"
            found[f"clean.{name}.{config}_between"] = words
    return found


def _ms(seconds: object) -> float | None:
    return 1000 * seconds if isinstance(seconds, int | float) else None

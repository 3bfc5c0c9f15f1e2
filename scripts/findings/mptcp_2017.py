"""Probe or Wait 2017 on models of its kernel and of today's, on real kernels with its proposal as a
patch, and what it leaves for later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl
from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.stamps import KERNELS, MODEL

import rexmit
from rexmit.statistics.verdict import LESS
from rexmit_papers.claim import of_estimate
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
    return Data(
        {
            "connections": old.transfers.height,
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
                for name, run in runs.items()
                for one in rexmit.claims(run)
            ],
            **_further(work),
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


def _further(work: Work) -> dict[str, list[dict[str, Value]]]:
    """What the paper leaves for later, and what it does not ask."""
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
    return {
        "triggers": list(_cases("model of 4.1", on["triggers"])),
        "schedulers": list(_bursts("model of 4.1", on["schedulers"], "lowest-rtt")),
        "bulk": list(_bulk(on["bulk"])),
        "messages": [
            *_bursts("model of 4.1", on["messages"], "mptcp-tlp"),
            *_bursts("Linux 6.12", new["messages"], "mptcp-tlp"),
        ],
        "pages": [*_pages("model of 4.1", on["page"]), *_pages("Linux 6.12", new["page"])],
    }


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


def _bursts(name: str, run: rexmit.Run, usual: str) -> Iterator[dict[str, Value]]:
    """All bursts of connections with 1 % of random loss, beside those of the `usual` one."""
    every = run.bursts().join(
        run.transfers.filter(_LOSSY).select("cell", "repetition"), on=["cell", "repetition"]
    )
    yield from _spread(name, run, every, "completion_s", usual)


def _pages(name: str, run: rexmit.Run) -> Iterator[dict[str, Value]]:
    """Pages with 1 % of random loss."""
    yield from _spread(
        name, run, run.transfers.filter("complete", _LOSSY), "t_total_s", "mptcp-tlp"
    )


def _spread(
    name: str, run: rexmit.Run, frame: pl.DataFrame, time: str, usual: str
) -> Iterator[dict[str, Value]]:
    """By network and configuration, and whether it is earlier than the usual one: by seeds, or
    by repetitions where there is one.
    """
    means = {
        (network, config): lab.estimate(run, mine, time)
        for (network, config), mine in frame.group_by("network", "config", maintain_order=True)
    }
    for (network, config), mean in means.items():
        times = frame.filter(network=network, config=config)[time]
        less = mean - means[network, usual]
        part = of_estimate("", less, LESS, lambda x: f"{1000 * x:+.1f} ms")
        yield {
            "run": name,
            "network": network,
            "config": config,
            "n": times.len(),
            "mean_ms": 1000 * mean.value,
            "half_ms": _ms(mean.half),
            "p99_ms": _ms(times.quantile(0.99, "lower")),
            "most_ms": _ms(times.max()),
            "holds": part.verdict,
            "measured": part.words,
            "smallest_ms": _ms(less.smallest),
        }


def _bulk(run: rexmit.Run) -> Iterator[dict[str, Value]]:
    """Medians by network, loss, protocol and congestion control."""
    keys = ["network", "line_loss", "config", "congestion_control"]
    sums = run.transfers.filter("complete").group_by(keys, maintain_order=True)
    yield from sums.agg(pl.col("t_total_s").median().alias("median_s")).iter_rows(named=True)


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
    """Pages without loss: medians of TCP and of Multipath TCP."""
    runs = {
        "old": lab.on_model(work, "page", "mptcp-page", OLD),
        "new": lab.on_kernel(work, "page-6.12", "mptcp-page", NEW, {"repeat": "20"}),
    }
    found: dict[str, Value] = {}
    for name, run in runs.items():
        clean = run.transfers.filter("complete", ~_LOSSY).filter(network="20-20")
        for config in ("tcp-tlp", "mptcp-tlp"):
            mine = clean.filter(config=config)["t_total_s"]
            found[f"clean.{name}.{config}_ms"] = _ms(mine.median())
    return found


def _ms(seconds: object) -> float | None:
    return 1000 * seconds if isinstance(seconds, int | float) else None

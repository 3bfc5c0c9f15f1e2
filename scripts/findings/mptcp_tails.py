"""What Probe or Wait 2017 leaves for later of losses, on models: bursts of losses, a path that
breaks, what New costs, and what copies of the tail could save.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import add
from typing import Final

import polars as pl
from scripts.findings import lab
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value
from scripts.findings.stamps import MODEL

import rexmit
from rexmit.analysis.bursts import Case
from rexmit.statistics.estimate import Estimate, average
from rexmit.statistics.verdict import LESS, Band
from rexmit_papers.claim import Claim, claim, of_estimate

STACKS: Final = {"model of 4.1": "linux-4.1", "model of 6.12": "linux-6.12"}
CONFIGS: Final = ("mptcp-tlp", "mptcp-new")
CODE: Final = (*MODEL, "scenarios/mptcp-2017.toml", "scripts/findings/mptcp_tails.py")

SMALL: Final = 0.05
"""Small traffic: less than this share of the burst."""

MOST: Final = 8
"""So many packets of the end are lost at most; bursts that are longer count as this one."""

AGAIN: Final = 2
"""So many of the packets that the path carries next, likewise: the probe, and the timeout's."""

LENGTHS: Final = (2, 4)
"""Mean packets of a burst of losses."""

PHASES: Final = 5

BROKEN: Final = "#1..9"
"""Sent so often on the first path a packet is lost each time, which is longer than any waits."""


def tail(lost: int, again: int) -> str:
    """The pattern of so many last packets, and of so many of what follows on their path: the last
    one as a probe, then the first lost one by the timeout.
    """
    if not lost:
        return "none"
    parts = [f"-{place}" for place in range(lost, 0, -1)]
    if again:
        parts[-1] += "#1..2"
    if again > 1:
        parts[0] = f"-{lost}#1..{2 if lost > 1 else 3}"
    return f"path 1 burst 2 data {' '.join(parts)}"


def broken(lost: int) -> str:
    """The pattern of a first path that breaks before so many last packets."""
    every = " ".join(f"-{place}{BROKEN}" for place in range(lost, 0, -1))
    return f"path 1 burst 2 data {every}"


BREAKS: Final = (1, MOST)
PATTERNS: Final = (
    tail(0, 0),
    *(tail(lost, again) for lost in range(1, MOST + 1) for again in range(AGAIN + 1)),
    *map(broken, BREAKS),
)


def shares(length: float) -> dict[tuple[int, int], float]:
    """How likely the end of a burst meets so many losses, and so many follow it, if it meets any:
    by the model of Gilbert (1960), in which a packet behind a lost one is lost as well with the
    same probability each time, forwards as backwards.
    """
    stays = 1 - 1 / length
    found = {}
    for lost in range(1, MOST + 1):
        for again in range(AGAIN + 1):
            share = stays ** (lost - 1) * (1 - stays if lost < MOST else 1)
            found[lost, again] = share * stays**again * (1 - stays if again < AGAIN else 1)
    return found


def measure(work: Work) -> Data:
    """The probe alone and New, on the model of the paper's kernel and on that of today's."""
    runs = {name: _run(work, stack) for name, stack in STACKS.items()}
    judged: list[Claim] = []
    tables = {
        "tails": [row for name, run in runs.items() for row in _rows(name, run, judged)],
        "bytes": [row for name, run in runs.items() for row in _bytes(name, run, judged)],
    }
    return Data({"phases": PHASES, **lab.by_chance(judged)}, tables)


def _run(work: Work, stack: str) -> rexmit.Run:
    settings = {"config": ",".join(CONFIGS), "loss.pattern": list(PATTERNS), "repeat": PHASES}
    return lab.on_model(work, stack, "mptcp-2017", stack, settings)


def _rows(name: str, run: rexmit.Run, judged: list[Claim]) -> Iterator[dict[str, Value]]:
    """By network and kind of loss, completion of the burst."""
    # A path that breaks is sent less often on than the pattern has it.
    cases = rexmit.bursts(run, inexact=True)
    as_run = dict(zip(PATTERNS, cases.losses, strict=True))
    for network in cases.networks:
        probe, new = (
            {
                pattern: _completion(run, cases.case(network, config, loss))
                for pattern, loss in as_run.items()
            }
            for config in CONFIGS
        )
        kinds = {
            f"losses in bursts of {length}": (_weighed(probe, length), _weighed(new, length))
            for length in LENGTHS
        }
        for lost in BREAKS:
            words = f"the path breaks before the last {lost if lost > 1 else 'packet'}"
            kinds[words] = (probe[broken(lost)], new[broken(lost)])
        for words, (alone, with_new) in kinds.items():
            part = of_estimate("", with_new - alone, LESS, lambda x: f"{1000 * x:+.0f} ms")
            judged.append(claim("earlier", words, [part]))
            yield {
                "run": name,
                "network": network,
                "lost": words,
                "tlp_ms": 1000 * alone.value,
                "new_ms": 1000 * with_new.value,
                "holds": part.verdict,
                "measured": part.words,
            }
        for lost in (0, 1, 2):
            yield {
                "run": name,
                "network": network,
                "lost": str(lost),
                "new_ms": 1000 * new[tail(lost, 0)].value,
            }


def _completion(run: rexmit.Run, case: Case | None) -> Estimate:
    if case is None or case.completion.estimate is None:
        raise ValueError(f"{run.path}: a case without completion")
    return case.completion.estimate


def _weighed(times: Mapping[str, Estimate], length: int) -> Estimate:
    """The mean over ends of bursts that meet losses."""
    parts = [times[tail(*at)].times(share) for at, share in shares(length).items()]
    return reduce(add, parts)


def _bytes(name: str, run: rexmit.Run, judged: list[Claim]) -> Iterator[dict[str, Value]]:
    """What New re-injects more than the probe alone, as a share of the burst, mean over networks,
    and whether that is small.
    """
    rows = run.transfers.filter("complete").with_columns(
        (pl.col("reinjected_bytes") / pl.col("transfer_size_bytes")).alias("share")
    )
    networks = list(rows["network"].unique(maintain_order=True))
    patterns = list(rows["loss_pattern"].unique(maintain_order=True))
    for lost, words in ((0, "nothing"), (1, "the last"), (2, "the last two"), (MOST, "the last 8")):
        pattern = patterns[PATTERNS.index(tail(lost, 0))]
        mine = rows.filter(loss_pattern=pattern)
        more = []
        for network in networks:
            probe, new = (
                lab.estimate(run, mine.filter(network=network, config=config), "share")
                for config in CONFIGS
            )
            more.append(new - probe)
        mean = average(more)
        assert mean is not None  # noqa: S101 - there are networks
        part = of_estimate("", mean, Band(high=SMALL), lambda share: f"{share:+.1%}")
        judged.append(claim("small", words, [part]))
        yield {"run": name, "lost": words, "holds": part.verdict, "measured": part.words}

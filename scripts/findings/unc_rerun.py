"""The settings of UNC 2007 tried out.

The study's corpora are made again with each of them, and the durations of the same connections
stand beside those with the stack's own: what the study could only estimate from traces. What
`rexmit.trace` predicted of its connections stands beside what became of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl
from scripts.findings import stamps
from scripts.findings.corpora import KINDS, MIXES, RECEIVERS, SEED, studied
from scripts.findings.finding import Work

from rexmit.progress import Silent
from rexmit.stacks import stack as stack_of
from rexmit.statistics.interval import LEVEL, student
from rexmit.whatif.settings import applicable, as_stack
from rexmit_papers.unc_2007 import curves
from rexmit_papers.unc_2007.senders import Study
from rexmit_validate.library.synth import Synthetic, prepare

CONNECTIONS: Final = 3_000
"""Of each stack and mix: half of the study's; the intervals are beside the means."""

SETTINGS: Final = (
    *("k=2", "k=3", "k=6", "min_rto=100ms", "min_rto=400ms", "min_rto=1000ms"),
    *("a=1/2", "a=1/32", "b=1/2", "b=1/32", "d=2", "d=3", "d=4", "smart", "d=smart"),
    # What the study does not show, and what it left for later.
    *("m=1", "m=1.25", "no-undo", "undo", "frto"),
)
TICKS: Final = {"tick=10ms": "100", "tick=100ms": "10"}
"""The two granularities of Table I, as how many ticks a second has."""

OUTER: Final = 0.01
"""Of connections, on either side, left out of means: a few wait for minutes in either run, and
would say all.
"""

_SCRIPTS: Final = ("scripts/findings/corpora.py", "scripts/findings/unc_rerun.py")
"""What makes the rows, beside the program."""


def settings(stack: str) -> dict[str, dict[str, str]]:
    """What is tried, by the study's names: all that makes the stack another."""
    tried = {}
    for name in applicable(SETTINGS, stack, {}):
        changes = as_stack(name, stack)
        tried[name] = {
            key: str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in changes.items()
        }
    own = stack_of(stack, {}).settings["hz"]
    return tried | {name: {"hz": hz} for name, hz in TICKS.items() if hz != own}


def changed(work: Work, kind: str, mix: str, stack: str) -> pl.DataFrame:
    """A row for each setting, kept in a file of its own."""
    by = "-".join(stamps.stamps(_SCRIPTS).values())
    kept = work.folder / f"rerun-{by}" / f"{kind}-{mix}-{stack}.csv"
    if kept.exists():
        return pl.read_csv(kept, infer_schema_length=None)
    seen = studied(work, kind, mix).study
    number = KINDS[kind].index(stack)
    work.say(f"{CONNECTIONS:,} connections of {stack} with each setting, {mix}")
    own = connections(mix, stack, {})
    rows = []
    for name, changes in settings(stack).items():
        found = beside(own, connections(mix, stack, changes), predicted(seen, number, name))
        rows.append({"mix": mix, "stack": stack, "setting": name, **found})
    table = pl.DataFrame(rows, infer_schema_length=None)
    kept.parent.mkdir(exist_ok=True)
    table.write_csv(kept, float_precision=4)
    return pl.read_csv(kept, infer_schema_length=None)


def every(work: Work) -> pl.DataFrame:
    """All of them: Linux once, which is the same as printed and as it is."""
    parts: list[pl.DataFrame] = []
    for kind, stacks in KINDS.items():
        for mix in MIXES:
            mine = [one for one in stacks if kind == "printed" or one not in KINDS["printed"]]
            parts += [changed(work, kind, mix, stack) for stack in mine]
    return pl.concat(parts, how="vertical_relaxed")


def connections(mix: str, stack: str, changes: dict[str, str]) -> pl.DataFrame:
    """Makes a corpus and gives its connections."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "corpus"
        asked = Synthetic(
            connections=CONNECTIONS,
            mix=mix,
            stacks=[stack],
            receivers=RECEIVERS,
            settings=changes,
            seed=SEED,
            perturb=0.0,
            # Only the study needs captures.
            points=(),
        )
        prepare(asked, folder).make(Silent())
        table = pl.read_parquet(folder / "connections.parquet")
    # Those that took over ports have the flow of another: the first counts.
    rtt = pl.col("network").str.json_path_match("$.rtt_s").cast(pl.Float64).alias("rtt_s")
    return table.unique("flow", keep="first", maintain_order=True).with_columns(rtt)


def predicted(of: Study, number: int, setting: str) -> pl.DataFrame | None:
    """The changes of durations that a replay predicts, by flow of the data."""
    changes = curves.changes(of, setting)
    if changes is None:
        return None
    ends = pl.col("flow").str.split(" > ")
    reversed_flow = pl.concat_str(ends.list.get(1), pl.lit(" > "), ends.list.get(0))
    flows = of.traces[number].scan("connections").select("connection", "flow").collect()
    mine = changes.filter(pl.col("trace") == number).join(flows, on="connection")
    flow = pl.when(pl.col("direction") == "forward").then("flow").otherwise(reversed_flow)
    mine = mine.select(flow.alias("flow"), pl.col("change_s").alias("predicted_s"))
    return mine.unique("flow", keep="first", maintain_order=True)


def against(both: pl.DataFrame, predictions: pl.DataFrame | None) -> dict[str, float | None]:
    """What was predicted of the explained connections, and what became of them, in RTTs."""
    names = ("explained", "predicted_rtts", "became_rtts", "became_half_rtts")
    if predictions is None:
        return dict.fromkeys(names)
    rtts = both.join(predictions, on="flow").select(
        (pl.col("predicted_s") / pl.col("rtt_s")).alias("predicted"),
        (pl.col("change_s") / pl.col("rtt_s")).alias("became"),
    )
    low, high = (pl.col("became").quantile(end) for end in (OUTER, 1 - OUTER))
    inner = rtts.filter(pl.col("became").is_between(low, high))
    values = (rtts.height, _mean(inner["predicted"]), *trimmed(rtts["became"]))
    return dict(zip(names, values, strict=True))


def beside(
    own: pl.DataFrame, other: pl.DataFrame, predictions: pl.DataFrame | None
) -> dict[str, float | None]:
    """The lossy connections' durations with another setting."""
    lossy = own.filter(pl.col("retransmissions") > pl.col("spurious_retransmissions"))
    both = (
        lossy.join(other, on="flow", suffix="_new")
        .with_columns((pl.col("duration_s_new") - pl.col("duration_s")).alias("change_s"))
        .with_columns((pl.col("change_s") / pl.col("rtt_s")).alias("rtts"))
    )
    relative = both["change_s"] / both["duration_s"]
    (inner, half), (share, half_share) = trimmed(both["rtts"]), trimmed(100 * relative)
    return {
        "connections": both.height,
        "total_change_percent": 100 * _sum(both, "change_s") / _sum(both, "duration_s"),
        "mean_change_rtts": _mean(both["rtts"]),
        "inner_change_rtts": inner,
        "inner_half_rtts": half,
        "inner_change_percent": share,
        "inner_half_percent": half_share,
        "shorter_10_percent": _percent(relative <= -0.1),
        "longer_10_percent": _percent(relative >= 0.1),
        "retransmissions": _sum(both, "retransmissions"),
        "retransmissions_new": _sum(both, "retransmissions_new"),
        "spurious": _sum(both, "spurious_retransmissions"),
        "spurious_new": _sum(both, "spurious_retransmissions_new"),
        **against(both, predictions),
    }


def trimmed(values: pl.Series) -> tuple[float | None, float | None]:
    """The mean without the outer hundredths, and half the width of its 95 % interval (Tukey and
    McLaughlin 1963); of so few that none is left out the usual ones.
    """
    from scipy.stats import mstats

    if values.len() < 2:
        return _mean(values), None
    limits, array = (OUTER, OUTER), values.to_numpy()
    left = values.len() - 2 * int(OUTER * values.len())
    half = student((1 + LEVEL) / 2, left - 1) * float(mstats.trimmed_stde(array, limits))
    return float(mstats.trimmed_mean(array, limits)), half


def _sum(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].sum())


def _mean(values: pl.Series) -> float | None:
    mean = values.mean()
    return mean if isinstance(mean, int | float) else None


def _percent(which: pl.Series) -> float | None:
    mean = _mean(which)
    return None if mean is None else 100 * mean


def names(stacks: Sequence[str]) -> dict[str, str]:
    """What the study calls the systems of these stacks."""
    known = {"linux": "Linux", "windows": "Windows", "freebsd": "FreeBSD", "solaris": "Solaris"}
    return {stack: known[stack.partition("-")[0]] for stack in stacks}

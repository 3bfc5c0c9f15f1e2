"""What the transfers of a run were drawn with: that of which a sample has so many."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import polars as pl

from rexmit.store.open_run import Run


@dataclass(frozen=True)
class Units:
    """The units of a run's transfers: repetitions, or where it pooled several seeds the seeds,
    whose repetitions share a boot and divide the timers' period among them. Units of one number
    started from the same draws in all cells of a network.
    """

    seed: str
    """As run.json has it: units of runs with the same are the same."""
    repeats: tuple[tuple[str, int], ...]
    """Of each network, how many repetitions a seed has."""
    seeds: int

    def column(self, frame: pl.DataFrame) -> pl.Series:
        """The unit of each transfer, or of each row that has its network and repetition."""
        if self.seeds < 2:
            return frame["repetition"]
        repeats = pl.col("network").replace_strict(dict(self.repeats), return_dtype=pl.Int64)
        return frame.select(pl.col("repetition").cast(pl.Int64) // repeats)["repetition"]

    def source(self, network: str) -> Hashable:
        """Whose units a network has: phases follow from the seed and from how many there are."""
        return self.seed, dict(self.repeats).get(network)


def units_of(run: Run) -> Units:
    """Of a run's transfers."""
    scenario = run.scenario
    networks: dict[str, dict[str, Any]] = scenario.get("networks") or {}
    repeats: dict[str, int] = {
        name: int(network.get("repeat") or scenario.get("repeat") or 0)
        for name, network in networks.items()
    }
    seeds = 1
    if (scenario.get("seeds") or scenario.get("until")) and all(repeats.values()):
        last = run.transfers.group_by("network").agg(pl.col("repetition").max())
        seeds = max(int(most) // repeats[network] + 1 for network, most in last.iter_rows())
    return Units(str(run.meta.get("seed")), tuple(sorted(repeats.items())), seeds)


def seed_words(run: Run) -> str | None:
    """What a run's transfers were drawn from: `seed 1`, `10 seeds pooled (1..10), intervals by
    seed`; None where it does not say.
    """
    seed = run.meta.get("seed")
    if seed is None:
        return None
    text = ", ".join(map(str, seed)) if isinstance(seed, list) else str(seed)
    seeds = units_of(run).seeds
    return f"{seeds} seeds pooled ({text}), intervals by seed" if seeds > 1 else f"seed {text}"

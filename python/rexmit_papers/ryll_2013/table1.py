"""Table 1 of the paper from a run: what repairs the rest of a lost tail once the probe is out."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import polars as pl

from rexmit.analysis.repairs import (
    Mechanisms,
    Repair,
    most_first,
    repair_data,
    repairs,
    sequences_data,
    together,
)
from rexmit.errors import UserError, by_caller
from rexmit.store.open_run import Run
from rexmit_papers.ryll_2013 import paper

PROBE = "tlp"

#: What only goes on with a recovery that another mechanism has begun.
CONTINUES = "sack-recovery"


@dataclass(frozen=True)
class Table1Row(Repair):
    """All transfers of configuration `tlp` with this tail lost, in one network and group, and what
    the paper expects to repair it.
    """

    repair: paper.Repair

    @property
    def probed(self) -> int:
        """Transfers whose first retransmission was the probe."""
        return self.first_retransmission.get(PROBE, 0)

    @property
    def after_probe(self) -> dict[Mechanisms, int]:
        """What followed the probe, in the transfers that began with it: () for nothing."""
        counts: Counter[Mechanisms] = Counter()
        for sequence, n in self.sequences.items():
            if sequence[:1] == (PROBE,):
                counts[sequence[1:]] += n
        return most_first(counts)

    @property
    def as_in_paper(self) -> bool | None:
        """Whether the most frequent sequel of the probe is the paper's, which names what begins the
        recovery; None where there was no probe.
        """
        if not self.after_probe:
            return None
        then = next(iter(self.after_probe))
        if self.repair.mechanism is None:
            return then == ()
        return then[:1] == (self.repair.mechanism,) and set(then[1:]) <= {CONTINUES}


@dataclass(frozen=True)
class Table1:
    """Rows by network, group and number of lost segments (five and more in one row, as printed)."""

    config: str
    rows: tuple[Table1Row, ...]


def table1(run: Run, lost_segments: int | None = None, *, keep_inexact: bool = False) -> Table1:
    """With a number of lost segments only its row. Raises UserError when the run has no transfer of
    configuration `tlp` with (that many) segments lost.
    """
    losing = run.transfers.filter((pl.col("config") == paper.TLP) & (pl.col("lost_segments") > 0))
    if losing.is_empty():
        configs = ", ".join(run.transfers["config"].unique(maintain_order=True))
        raise UserError(
            f"Table 1 is about configuration `{paper.TLP}` losing segments: none here",
            f"the run has configuration {configs}; run one with "
            + by_caller(
                called='{"config": "tlp", "loss.segments": "1..5"} in `settings`',
                typed="`--set config=tlp --set loss.segments=1..5`",
            ),
        )
    repaired = repairs(run, lost_segments, config=paper.TLP, keep_inexact=keep_inexact)
    return Table1(
        paper.TLP,
        tuple(
            Table1Row(repair=repair, **vars(together(list(same))))
            for (_, _, repair), same in groupby(repaired, _place)
        ),
    )


def _place(row: Repair) -> tuple[object, object, paper.Repair]:
    repair = paper.repair_of(row.lost_segments[0])
    return row.network, row.group, repair


def table1_data(table: Table1) -> dict[str, Any]:
    """A sequence is a list of mechanisms in order of time, empty for no retransmission."""
    return {
        "config": table.config,
        "rows": [
            {
                **repair_data(row),
                "after_probe": sequences_data(row.after_probe),
                "as_in_paper": row.as_in_paper,
                "paper": asdict(row.repair),
            }
            for row in table.rows
        ],
    }

"""Which transfers a mean is taken over, and for which reason the others are not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

import polars as pl

from rexmit.scenario import model


class Reason(StrEnum):
    """Why a transfer is left out; a transfer with several counts under the first in this order.

    The last is one that a configuration asks for: the value of its key `leave_out`.
    """

    INCOMPLETE = "incomplete"
    STALLED = "stalled"
    INEXACT = "inexact"
    NOT_PROBED = model.NOT_PROBED

    @property
    def words(self) -> str:
        """For a reader."""
        return _WORDS[self]


_WORDS = {
    Reason.INCOMPLETE: "the client did not get every byte",
    Reason.STALLED: "the filter let held packets go before the FIN came",
    Reason.INEXACT: "other segments were dropped than those asked for",
    Reason.NOT_PROBED: "isTLP false, the probe was not the first sent again, on a line without "
    "loss of its own (the scenario's leave_out)",
}

#: The line loses packets of its own.
LOSSY = (pl.col("line_loss") > 0).fill_null(False)


def to_be_probed(scenario: Mapping[str, Any]) -> frozenset[str]:
    """The configurations of a scenario, as run.json has it, that leave out what was not probed."""
    return frozenset(
        name
        for name, config in (scenario.get("configs") or {}).items()
        if Reason.NOT_PROBED in config.get("leave_out", ())
    )


def not_probed(configs: Collection[str]) -> pl.Expr:
    """The probe did not make the first retransmission, in a cell of one of these configurations.

    `is_tlp` is null where it cannot be told (no or one packet dropped): those transfers count.
    """
    return pl.col("config").is_in(sorted(configs)) & ~pl.col("is_tlp").fill_null(True)


def reason(configs: Collection[str] = (), *, keep_inexact: bool = False) -> pl.Expr:
    """The reason (a string of `Reason`) a transfer is left out of means, null for one that counts.

    A transfer of these `configs` that was not probed is left out on a line without losses of its
    own (Ryll 2013, section 3.3). On a lossy line it counts: there a retransmission that another
    loss brought about repairs the tail early, and without these transfers a mean would be that of
    the slow ones.
    """
    chain = (
        pl.when(~pl.col("complete").fill_null(False))
        .then(pl.lit(Reason.INCOMPLETE.value))
        .when(pl.col("stalled").fill_null(False))
        .then(pl.lit(Reason.STALLED.value))
    )
    if not keep_inexact:
        chain = chain.when(~pl.col("exact").fill_null(True)).then(pl.lit(Reason.INEXACT.value))
    chain = chain.when(not_probed(configs) & ~LOSSY).then(pl.lit(Reason.NOT_PROBED.value))
    return chain.otherwise(None).alias("left_out")

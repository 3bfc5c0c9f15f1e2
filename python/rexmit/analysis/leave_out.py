"""Which transfers a mean is taken over, and for which reason the others are not."""

from __future__ import annotations

from enum import StrEnum

import polars as pl


class Reason(StrEnum):
    """Why a transfer is left out; a transfer with several counts under the first in this order."""

    INCOMPLETE = "incomplete"
    STALLED = "stalled"
    INEXACT = "inexact"
    NOT_TLP = "not-tlp"

    @property
    def words(self) -> str:
        """For a reader."""
        return _WORDS[self]


_WORDS = {
    Reason.INCOMPLETE: "the client did not get every byte",
    Reason.STALLED: "the filter let held packets go before the FIN came",
    Reason.INEXACT: "other segments were dropped than those asked for",
    Reason.NOT_TLP: "isTLP false, the probe was not the first sent again (left out, as there)",
}

TLP_CONFIG = "tlp"
"""The configuration whose transfers without a probe are left out (Ryll 2013, section 3.3)."""

#: isTLP is false, in a cell of `tlp`: the probe did not make the first retransmission.
NOT_PROBED = (pl.col("config") == TLP_CONFIG) & ~pl.col("is_tlp").fill_null(True)

#: The line loses packets of its own.
LOSSY = (pl.col("line_loss") > 0).fill_null(False)


def reason(*, keep_inexact: bool = False) -> pl.Expr:
    """The reason (a string of `Reason`) a transfer is left out of means, null for one that counts.

    A transfer of configuration `tlp` whose first retransmission was not the probe is left out as in
    section
    3.3 of the paper, on a line without losses of its own, as the paper's was. On a lossy line it
    counts: there a retransmission that another loss brought about repairs the tail early, and
    without these transfers a mean would be that of the slow ones. `is_tlp` is null where the
    paper's test cannot tell (no or one packet dropped): those transfers count.
    """
    chain = (
        pl.when(~pl.col("complete").fill_null(False))
        .then(pl.lit(Reason.INCOMPLETE.value))
        .when(pl.col("stalled").fill_null(False))
        .then(pl.lit(Reason.STALLED.value))
    )
    if not keep_inexact:
        chain = chain.when(~pl.col("exact").fill_null(True)).then(pl.lit(Reason.INEXACT.value))
    chain = chain.when(NOT_PROBED & ~LOSSY).then(pl.lit(Reason.NOT_TLP.value))
    return chain.otherwise(None).alias("left_out")

"""The paper's timing diagrams, Figures 3 and 5: ladders of two paths, of a run with captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl
from matplotlib.figure import Figure as Canvas

from rexmit.analysis.runner import runner
from rexmit.ladder.paths import open_path_flow
from rexmit.ladder.render_paths import draw_path_ladders
from rexmit.present.figures.plan import slug
from rexmit.store.open_run import Run
from rexmit_papers.probe_or_wait_2017.paper import LOSSES, MPTCP_RTO, MPTCP_TLP, NEW

_NUMBERS: Final = {MPTCP_RTO: "3", MPTCP_TLP: "3", NEW: "5"}
"""The figure that has a configuration's diagrams."""

_HALF: Final = {MPTCP_RTO: "a", MPTCP_TLP: "b"}


def draw(run: Run) -> Iterator[tuple[str, Canvas]]:
    """A name and a ladder for each network, loss and configuration of Figures 3 and 5, of the first
    repetition; none where the run kept no captures.

    Raises UserError when a capture cannot be read.
    """
    if not (run.path / "captures").is_dir():
        return
    ran = runner(run.meta).words
    rows = run.transfers.with_row_index("flow").filter(
        pl.col("config").is_in(list(_NUMBERS))
        & pl.col("loss_pattern").is_in(list(LOSSES))
        & (pl.col("repetition") == 0)
    )
    for row in rows.iter_rows(named=True):
        number = _NUMBERS[row["config"]]
        loss = list(LOSSES).index(row["loss_pattern"])
        # Figure 3 has two diagrams for each loss, i to iii: RTO a), TLP b); Figure 5 has one.
        panel = f"{'i' * (loss + 1)}-{_HALF[row['config']]}" if number == "3" else "abc"[loss]
        name = f"figure-{number}-{panel}-{slug(row['network'])}-{slug(row['config'])}"
        heading = f"Figure {number} {panel.replace('-', ' ')}) of the paper"
        yield name, draw_path_ladders(open_path_flow(run, row["flow"]), heading, ran)

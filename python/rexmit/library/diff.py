"""Comparing two runs, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from rexmit.comparison.compare import USUAL, Comparison, compare
from rexmit.comparison.gate import Trip, trips
from rexmit.comparison.measures import METRICS
from rexmit.comparison.pairs import Selection, selection
from rexmit.errors import UserError, argument, closest
from rexmit.store.open_run import Run, open_run

RunOrFolder = Run | str | PathLike[str]

Cells = Mapping[str, object] | Iterable[str]
"""Which cells: `{"network": "mobile", "lost": "1..5"}`, or texts `AXIS=VALUES`."""

Maps = Mapping[str, Mapping[str, str]] | Iterable[str]
"""Cells of unlike values: `{"config": {"tlp": "er"}}`, or texts `AXIS:A=B`."""


def diff(
    a: RunOrFolder,
    b: RunOrFolder,
    *,
    metrics: Iterable[str] = USUAL,
    cells: Cells | None = None,
    maps: Maps | None = None,
    inexact: bool = False,
) -> Comparison:
    """Run `b` against run `a`: their cells of the same values in pairs.

    `metrics`: of t_total, t_recover, client, srtt, rto (seconds), retransmissions, timeouts,
    probes, spurious, dsacks (a transfer). `cells` chooses cells by axis: `{"network": "mobile",
    "lost": "1..5"}`. `maps` compares cells of unlike values: `{"config": {"tlp": "er"}}` holds A's
    tlp against B's er. `inexact` takes in transfers that lost other segments than those asked for.

    Raises UserError where the runs cannot be read or have no cell in common.
    """
    # Wrong arguments are reported before any run is read.
    names, chosen = checked(metrics), chosen_by(cells, maps)
    return compare(opened(a), opened(b), chosen, names, keep_inexact=inexact)


def differences_over(comparison: Comparison, share: float) -> list[Trip]:
    """The differences of what was compared that are more than chance and than `share` (0.05:
    five percent) of A's.
    """
    return trips(comparison, share)


def chosen_by(cells: Cells | None, maps: Maps | None) -> Selection:
    """Which cells are compared with which. Raises UserError (usage)."""
    only = (
        [f"{axis}={_values(values)}" for axis, values in cells.items()]
        if isinstance(cells, Mapping)
        else list(cells or ())
    )
    pairs = (
        [f"{axis}:{left}={right}" for axis, sides in maps.items() for left, right in sides.items()]
        if isinstance(maps, Mapping)
        else list(maps or ())
    )
    return selection(only, pairs)


def opened(run: RunOrFolder) -> Run:
    """The run. Raises UserError (usage): what cannot be read cannot be compared, which is no
    difference."""
    if isinstance(run, Run):
        return run
    try:
        return open_run(Path(run))
    except UserError as error:
        error.usage = True
        raise


def checked(metrics: Iterable[str]) -> list[str]:
    """The quantities, each once. Raises UserError for one that there is not, or for none."""
    names = list(dict.fromkeys(metrics))
    for name in names:
        if name not in METRICS:
            near = closest(name, list(METRICS))
            guess = f"did you mean {near}? " if near else ""
            raise UserError(
                f"{argument('metrics')} {name}: there is no such quantity",
                f"{guess}quantities: {', '.join(METRICS)}",
                usage=True,
            )
    if not names:
        raise UserError(
            f"{argument('metrics')} names nothing", f"quantities: {', '.join(METRICS)}", usage=True
        )
    return names


def _values(values: object) -> str:
    return ",".join(map(str, values)) if isinstance(values, list | tuple) else str(values)

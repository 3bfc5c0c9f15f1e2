"""A cell of a scenario as an engine is given it."""

from __future__ import annotations

from rexmit.campaign.grid import Cell
from rexmit.campaign.plan import boot_seed, cell_plan, phase_period_ns, phases_ns
from rexmit.campaign.streams import Streams
from rexmit.engines.engine import Task
from rexmit.scenario import Scenario


def task(
    scenario: Scenario,
    cell: Cell,
    streams: Streams,
    *,
    hz: int,
    capture: bool,
    seed: int | None = None,
) -> Task:
    """The cell, for an engine whose hosts have timers of this frequency in its configuration; under
    this seed where it is not the scenario's."""
    seed = scenario.seed if seed is None else seed
    period = phase_period_ns(hz)
    return Task(
        cell=cell.id,
        label=cell.label,
        config=cell.config,
        repeat=cell.repeat,
        seed=boot_seed(streams, seed, cell.network),
        plan=cell_plan(
            scenario,
            cell,
            phases=phases_ns(streams, seed, cell.repeat, period),
            period_ns=period,
            capture=capture,
        ),
    )

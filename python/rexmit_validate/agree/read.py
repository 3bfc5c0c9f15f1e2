"""A case from a scenario file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rexmit.campaign.plan import cell_plan
from rexmit.errors import UserError
from rexmit.scenario import route
from rexmit_validate.agree.case import Case

if TYPE_CHECKING:
    from rexmit.scenario import Scenario

_SEGMENT: Final = 1448
"""Bytes of payload of a full segment over Ethernet, with time stamps."""

_WHAT: Final = (
    "a case loses by pattern, has workload.segments, size or burst_segments, queues of one length, "
    "no patch and nothing random"
)

_BESIDE: Final = frozenset({"label", "transfer_timeout_ns"})
"""What a case has its own of."""


def read(path: Path) -> Case:
    """The case that a scenario of one cell is. Raises UserError for a scenario of another kind."""
    from rexmit.campaign.grid import cells
    from rexmit.scenario import Bursts, load

    scenario = load(path)
    grid = cells(scenario)
    if len(grid) != 1 or grid[0].repeat != 1:
        raise UserError(f"{path} is no case: it has more than one transfer")
    (cell,) = grid
    network, config = scenario.networks[cell.network], scenario.configs[cell.config]
    links, work = network.link_specs(cell.line_loss), scenario.workload
    page, segments = cell.page, cell.page.segments
    if segments is None and page.size_bytes is not None:
        segments = -(-page.size_bytes // _SEGMENT)
    if cell.loss_pattern is None or segments is None or config.patch is not None:
        raise UserError(f"{path} is no case", _WHAT)
    case = Case(
        name=path.stem,
        seed=scenario.seed,
        over=network.over,
        rates_bps=tuple(link.rate_bps for link in links),
        delays_ns=tuple(link.delay_ns for link in links),
        queue_packets=links[0].queue_packets,
        protocol=config.protocol,
        first_path=config.path,
        segments=segments,
        page_bytes=page.size_bytes,
        bursts=work.bursts if isinstance(work, Bursts) else None,
        gap_ns=work.gap if isinstance(work, Bursts) else 0,
        pattern=cell.loss_pattern,
        congestion_control=cell.congestion_control,
        receive_window_bytes=cell.receive_window_bytes,
        sysctls=dict(config.sysctl),
        route=route.plan(scenario.route, config.route),
    )
    beyond = _beyond(case, scenario)
    if beyond:
        raise UserError(f"{path} is no case: its {', '.join(beyond)} would be left out", _WHAT)
    return case


def _beyond(case: Case, scenario: Scenario) -> list[str]:
    """What engines would be told by the scenario, and are not by the case."""
    from rexmit.campaign.grid import cells
    from rexmit.scenario import from_plain

    own = from_plain(tomllib.loads(case.scenario("")))
    plans = []
    for one in (own, scenario):
        (cell,) = cells(one)
        plan = cell_plan(one, cell, phases=[0], period_ns=1, capture=False)
        plans.append(plan | {"stack": {**one.stack, **one.configs[cell.config].stack}})
    short, whole = plans
    names = short.keys() | whole.keys()
    return sorted(name for name in names - _BESIDE if short.get(name) != whole.get(name))

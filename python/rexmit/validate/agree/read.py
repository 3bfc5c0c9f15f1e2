"""A case from a scenario file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.errors import UserError
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.paths.case import PathCase

if TYPE_CHECKING:
    from rexmit.campaign.grid import Cell
    from rexmit.scenario import Bursts, Scenario


def read(path: Path) -> Case | PathCase:
    """The case that a scenario of one cell is. Raises UserError for a scenario of another kind."""
    from rexmit.campaign.grid import cells
    from rexmit.scenario import Bursts, Pages, load

    scenario = load(path)
    grid = cells(scenario)
    if len(grid) != 1 or grid[0].repeat != 1:
        raise UserError(f"{path} is no case: it has more than one transfer")
    (cell,) = grid
    network = scenario.networks[cell.network]
    if isinstance(scenario.workload, Bursts) and network.paths is not None:
        return _of_paths(path, scenario, cell, scenario.workload)
    links = network.link_specs(cell.line_loss)
    plain = (
        scenario.ip.family == 4
        and scenario.ip.mtu == 1500
        and network.at == "wire"
        and network.paths is None
        and isinstance(scenario.workload, Pages)
        and cell.client == "builtin"
        and all(link.jitter_ns == 0 and link.loss == 0 for link in links)
        and len({link.queue_packets for link in links}) == 1
    )
    if cell.loss_pattern is None or cell.page.segments is None or not plain:
        raise UserError(
            f"{path} is no case",
            "a case loses by pattern, has workload.segments, and nothing random",
        )
    first, second = links
    return Case(
        name=path.stem,
        seed=scenario.seed,
        rates_bps=(first.rate_bps, second.rate_bps),
        delays_ns=(first.delay_ns, second.delay_ns),
        queue_packets=first.queue_packets,
        segments=cell.page.segments,
        pattern=cell.loss_pattern,
        congestion_control=cell.congestion_control,
        receive_window_bytes=cell.receive_window_bytes,
        sysctls=dict(scenario.configs[cell.config].sysctl),
    )


def _of_paths(path: Path, scenario: Scenario, cell: Cell, work: Bursts) -> PathCase:
    config = scenario.configs[cell.config]
    paths = scenario.networks[cell.network].link_specs(cell.line_loss)
    plain = (
        scenario.ip.family == 4
        and scenario.ip.mtu == 1500
        and all(one.jitter_ns == 0 and one.loss == 0 for one in paths)
        and len({one.queue_packets for one in paths}) == 1
        and config.patch is None
    )
    if cell.loss_pattern is None or work.burst_segments is None or not plain:
        raise UserError(
            f"{path} is no case",
            "a case of paths loses by pattern, has workload.burst_segments, queues of one length, "
            "no patch and nothing random",
        )
    return PathCase(
        name=path.stem,
        seed=scenario.seed,
        protocol=config.protocol,
        first_path=config.path,
        path_rates_bps=tuple(one.rate_bps for one in paths),
        path_delays_ns=tuple(one.delay_ns for one in paths),
        bursts=work.bursts,
        segments=work.burst_segments,
        gap_ns=work.gap,
        queue_packets=paths[0].queue_packets,
        pattern=cell.loss_pattern,
        congestion_control=cell.congestion_control,
        sysctls=dict(config.sysctl),
    )

"""A case from a scenario file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit_validate.agree.case import Case

_SEGMENT: Final = 1448
"""Bytes of payload of a full segment over Ethernet, with time stamps."""


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
    plain = (
        scenario.ip.family == 4
        and scenario.ip.mtu == 1500
        and network.at == "wire"
        and cell.client == "builtin"
        and config.patch is None
        and all(
            link.jitter_ns == 0 and link.loss == 0 and not link.besides and not link.up
            for link in links
        )
        and len({link.queue_packets for link in links}) == 1
    )
    page, segments = cell.page, cell.page.segments
    if segments is None and page.size_bytes is not None:
        segments = -(-page.size_bytes // _SEGMENT)
    if cell.loss_pattern is None or segments is None or not plain:
        raise UserError(
            f"{path} is no case",
            "a case loses by pattern, has workload.segments, size or burst_segments, queues of one "
            "length, no patch and nothing random",
        )
    return Case(
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
    )

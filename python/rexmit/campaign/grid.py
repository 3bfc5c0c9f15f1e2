"""The grid of a scenario: the cross product of its axes, in one fixed order.

Network is the outermost axis, then configuration, then page, receive window, client, congestion
control and random loss of the line, and lost segments the innermost. A cell's id is its place in
this order, so it says the same in every run of the same scenario.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from rexmit.scenario import Page, Scenario
from rexmit.scenario.units import SIZE, share_text
from rexmit.scenario.values import AUTO


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of the grid: everything that its transfers have in common."""

    id: int
    network: str
    config: str
    page: Page
    receive_window_bytes: int | None
    client: str
    congestion_control: str
    line_loss: float
    lost_segments: int
    repeat: int
    label: str


def cells(scenario: Scenario) -> tuple[Cell, ...]:
    """All cells, in order."""
    found: list[Cell] = []
    workload = scenario.workload
    for name in scenario.network_names:
        axes = product(
            scenario.config_names,
            workload.pages,
            workload.receive_window,
            workload.client,
            scenario.tcp.congestion_control,
            scenario.networks[name].loss,
            scenario.loss.segments,
        )
        for config, page, window, client, algorithm, line_loss, lost in axes:
            label = [name, config]
            if len(workload.pages) > 1:
                label.append(f"page={page_text(page)}")
            if len(workload.receive_window) > 1:
                label.append(f"window={AUTO if window is None else SIZE.text(window)}")
            if len(workload.client) > 1:
                label.append(f"client={client}")
            if len(scenario.tcp.congestion_control) > 1:
                label.append(f"congestion={algorithm}")
            if len(scenario.networks[name].loss) > 1:
                label.append(f"line={share_text(line_loss)}")
            found.append(
                Cell(
                    id=len(found),
                    network=name,
                    config=config,
                    page=page,
                    receive_window_bytes=window,
                    client=client,
                    congestion_control=algorithm,
                    line_loss=line_loss,
                    lost_segments=lost,
                    repeat=scenario.repeats(name),
                    label=" ".join([*label, str(lost)]),
                )
            )
    return tuple(found)


def page_text(page: Page) -> str:
    """The page as a reader says it: "100 segments" without the word, or a size."""
    return str(page.segments) if page.size_bytes is None else SIZE.text(page.size_bytes)


def transfers(grid: tuple[Cell, ...]) -> int:
    """How many transfers the cells have together."""
    return sum(cell.repeat for cell in grid)

"""The grid of a scenario: the cross product of its axes, in one fixed order.

Network is the outermost axis, then configuration, then page, receive window, client, congestion
control and random loss of the line, then each `[[vary]]` of them in turn, and what is lost the
innermost. A cell's id is its place in this order. What a cell gives depends on what it is and not
on where it stands: a grid of fewer values has the same cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress, product

from rexmit.scenario import Page, Scenario
from rexmit.scenario.model import pages
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
    loss_pattern: str | None
    """Instead of lost segments, where the loss rule is a pattern."""
    repeat: int
    label: str
    """Says where the cell stands in its grid: axes with one value are left out."""


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes between configuration and lost segments."""

    pages: tuple[Page, ...]
    windows: tuple[int | None, ...]
    clients: tuple[str, ...]
    algorithms: tuple[str, ...]
    line_losses: tuple[float, ...]

    def points(self) -> Iterator[Point]:
        yield from product(
            self.pages, self.windows, self.clients, self.algorithms, self.line_losses
        )


Point = tuple[Page, int | None, str, str, float]


def _points(scenario: Scenario, network: str) -> list[Point]:
    """The points of all axes but network, configuration and lost segments, in order."""
    own = _Axes(
        pages=scenario.workload.pages,
        windows=scenario.workload.receive_window,
        clients=scenario.workload.client,
        algorithms=scenario.tcp.congestion_control,
        line_losses=scenario.networks[network].loss,
    )
    # A point that is there already is measured once.
    points = dict.fromkeys(own.points())
    for vary in scenario.vary:
        departed = _Axes(
            pages=pages(vary.segments, vary.size) or own.pages,
            windows=vary.receive_window or own.windows,
            clients=vary.client or own.clients,
            algorithms=vary.congestion_control or own.algorithms,
            line_losses=vary.line_loss or own.line_losses,
        )
        points |= dict.fromkeys(departed.points())
    return list(points)


def cells(scenario: Scenario) -> tuple[Cell, ...]:
    """All cells, in order."""
    every: list[Cell] = []
    for network in scenario.network_names:
        points = _points(scenario, network)
        named = [len(set(values)) > 1 for values in zip(*points, strict=True)]
        for config, point, (lost, pattern) in product(
            scenario.config_names, points, scenario.loss.losses
        ):
            page, window, client, algorithm, line_loss = point
            every.append(
                Cell(
                    id=len(every),
                    network=network,
                    config=config,
                    page=page,
                    receive_window_bytes=window,
                    client=client,
                    congestion_control=algorithm,
                    line_loss=line_loss,
                    lost_segments=lost,
                    loss_pattern=pattern,
                    repeat=scenario.repeats(network),
                    label=" ".join(
                        [network, config, *compress(_texts(*point), named), pattern or str(lost)]
                    ),
                )
            )
    return tuple(every)


def _texts(
    page: Page, window: int | None, client: str, algorithm: str, line_loss: float
) -> tuple[str, ...]:
    """The parts of a point, each with its name."""
    return (
        f"page={page_text(page)}",
        f"window={AUTO if window is None else SIZE.text(window)}",
        f"client={client}",
        f"congestion={algorithm}",
        f"line={share_text(line_loss)}",
    )


def page_text(page: Page) -> str:
    """The page as a reader says it: a number of segments, or a size."""
    return str(page.segments) if page.size_bytes is None else SIZE.text(page.size_bytes)


def transfers(grid: Iterable[Cell]) -> int:
    """How many transfers the cells have together."""
    return sum(cell.repeat for cell in grid)

"""What routes of hosts say of connections over them, in the words of kernels and of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from rexmit.scenario.part import Part, merged, unsaid
from rexmit.scenario.values import DurationNs

MS: Final = 10**6


class Route(Part):
    """Metrics of the routes of both hosts to each other, as ip-route(8) names them; where nothing
    is said, the host's own.
    """

    initcwnd: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="segments of the first congestion window, 1 to 1,000",
    )
    initrwnd: int | None = Field(
        default=None, ge=1, le=1000, description="segments of the first receive window, 1 to 1,000"
    )
    rto_min: DurationNs | None = Field(
        default=None,
        ge=MS,
        le=120_000 * MS,
        multiple_of=MS,
        description='the shortest retransmission timeout, like "50ms", in whole milliseconds; it '
        "goes before the setting `net.ipv4.tcp_rto_min_us` (since Linux 6.11)",
    )

    quickack: bool | None = Field(
        default=None,
        description="true (every segment is acknowledged at once) or false",
        exclude_if=unsaid(None),
    )


def plan(*tables: Route) -> dict[str, int]:
    """What routes say by tables of which later ones go first, in the words of a plan."""
    says = merged(*tables)
    if "rto_min" in says:
        says["rto_min_ms"] = says.pop("rto_min") // MS
    return says


def of_stack(says: Mapping[str, int]) -> dict[str, str]:
    """The settings of a stack of the model that follow from a plan's words."""
    names = {
        "initcwnd": "initial_window",
        "initrwnd": "initial_receive_window",
        "rto_min_ms": "min_rto",
        "quickack": "quick_acks",
    }
    return {
        names[word]: f"{value}ms" if word == "rto_min_ms" else str(value).lower()
        for word, value in says.items()
    }


def toml(says: Mapping[str, int]) -> list[str]:
    """The table of a configuration that a plan's words come from, as a line of TOML; none where
    nothing is said.
    """
    words = {**says}
    least = words.pop("rto_min_ms", None)
    texts = [f"{word} = {str(value).lower()}" for word, value in words.items()]
    texts += [] if least is None else [f'rto_min = "{least}ms"']
    return [f"route = {{ {', '.join(texts)} }}"] if texts else []

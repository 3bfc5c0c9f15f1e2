"""What hosts' interfaces do in the kernel's stead, in the words of kernels and of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import Field

from rexmit.scenario import part
from rexmit.scenario.part import Part, obeyed_by
from rexmit.scenario.problem import Path, Problem


class Offload(Part):
    """What the interfaces of both hosts do, where it is not what they do in the lab."""

    checksum: bool | None = Field(
        default=None, description="true (checksums of what is sent) or false"
    )
    scatter_gather: bool | None = Field(
        default=None, description="true (packets whose bytes lie in several places) or false"
    )
    segmentation: bool | None = Field(
        default=None,
        description="true (super-segments, cut behind TCP; needs checksum and scatter_gather) or "
        "false",
        json_schema_extra=obeyed_by(
            "kernel", "model", why="a TUN device hands out single packets", harmless=False
        ),
    )


IN_LAB: Final = {"checksum": False, "scatter_gather": True, "segmentation": False}
"""What interfaces do where nothing is said: every packet is one segment, with its checksum."""

_MOST_SEGMENTS: Final = 65_535
"""Of a packet with segmentation, as kernels have it; its bytes bound it before."""


def merged(*tables: Offload) -> dict[str, bool] | None:
    """What interfaces do by tables of which later ones go first; None where nothing is said."""
    settings = part.merged(*tables)
    return IN_LAB | settings if settings else None


def problems(of_all: Offload, of_configs: Mapping[str, Offload]) -> Iterable[Problem]:
    """Segmentation without what it rests on: a kernel leaves it off (`netdev_fix_features`). What
    the scenario says for several configurations is named once.
    """
    every: list[Problem] = []
    for config, table in of_configs.items():
        does = merged(of_all, table) or IN_LAB
        lacks = [name for name in ("checksum", "scatter_gather") if not does[name]]
        if does["segmentation"] and lacks:
            path: Path = ("offload", "segmentation")
            problem = Problem(
                path if table.segmentation is None else ("configs", config, *path),
                f"no interface does it without {' and '.join(lacks)}",
                ", ".join(f"offload.{name} = true" for name in lacks),
            )
            if problem not in every:
                every.append(problem)
    return every


def of_stack(does: dict[str, bool], name: str, own: dict[str, str]) -> dict[str, str]:
    """The settings of the stack `name` of the model, whose own are `own`, that follow.

    Raises ValueError for a stack that knows no segmentation by its interface.
    """
    effects = {}
    if own["linear_writes"] == "true":
        # The stack's buffers depend on the interface: since Linux 4.17 they do not. Without
        # checksums it gathers nothing (`tcp_sendpage`).
        gathers = does["checksum"] and does["scatter_gather"]
        effects["scatter_gather"] = "true" if gathers else "false"
    if does["segmentation"] and (not name.startswith("linux-") or name.startswith("linux-2.4")):
        raise ValueError("offload.segmentation: it knows no segmentation by its interface")
    effects["gso_segments"] = str(_MOST_SEGMENTS if does["segmentation"] else 1)
    return effects

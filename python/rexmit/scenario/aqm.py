"""Active queue management of a link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from rexmit.scenario.part import Part, unsaid
from rexmit.scenario.problem import Path, Problem
from rexmit.scenario.units import DURATION, SIZE
from rexmit.scenario.values import DurationNs, Share, SizeBytes

_MOST_QUANTUM: Final = 10**9
"""Bytes that a flow may send in a turn, at most."""

_LEAST_UPDATE_NS: Final = 100_000
"""PIE reckons no more often: each time is a step of its own."""


class Aqm(Part):
    """Active queue management: who drops packets of a queue that is not full."""

    kind: Literal["codel", "fq_codel", "pie", "red"] = Field(
        description='"codel" (RFC 8289), "fq_codel" (RFC 8290, each flow in a queue of its own), '
        '"pie" (RFC 8033) or "red" (Floyd and Jacobson 1993, gentle)'
    )
    target: DurationNs | None = Field(
        default=None,
        description="of codel, fq_codel and pie: how long packets may wait, like "
        '"10ms"; "5ms", and "15ms" of pie, where it is not said',
    )
    interval: DurationNs | None = Field(
        default=None,
        description="of codel and fq_codel: for how long they may wait longer, like "
        '"50ms"; "100ms" where it is not said',
    )
    quantum: SizeBytes | None = Field(
        default=None,
        description="of fq_codel: bytes of frames that a flow sends in a turn, like "
        '"300B"; "1514B" where it is not said',
    )
    update: DurationNs | None = Field(
        default=None,
        description='of pie: how often it reckons its probability, like "30ms"; "15ms" where it is '
        "not said",
    )
    least: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="of red: mean length of the queue, packets, from which on some are dropped, "
        "like 10; 5 where it is not said",
    )
    most: int | None = Field(
        default=None,
        ge=2,
        le=1_000_000,
        description="of red: mean length at which `share` are dropped, and at twice that all, like "
        "30; three times `least` where it is not said",
    )
    share: Share | None = Field(
        default=None, description='of red: like "5%"; "10%" where it is not said'
    )
    weight: Share | None = Field(
        default=None,
        description="of red: weight of each packet's look at the queue in the mean, like "
        '"1%"; "0.2%" where it is not said',
    )
    ecn: bool = Field(
        default=False,
        description="true (packets whose ends take marks are marked in place of dropped, RFC 3168) "
        "or false",
        exclude_if=unsaid(False),
    )

    def plan(self) -> dict[str, Any]:
        """As engines are told, with the parameters that its document has for what is not said."""
        least = 5 if self.least is None else self.least
        target = (15 if self.kind == "pie" else 5) * 10**6 if self.target is None else self.target
        interval = 100 * 10**6 if self.interval is None else self.interval
        own: dict[str, Any]
        match self.kind:
            case "codel":
                own = {"target_ns": target, "interval_ns": interval}
            case "fq_codel":
                quantum = 1514 if self.quantum is None else self.quantum
                own = {"target_ns": target, "interval_ns": interval, "quantum_bytes": quantum}
            case "pie":
                update = 15 * 10**6 if self.update is None else self.update
                own = {"target_ns": target, "update_ns": update}
            case "red":
                own = {
                    "least_packets": least,
                    "most_packets": 3 * least if self.most is None else self.most,
                    "most": 0.1 if self.share is None else self.share,
                    "weight": 0.002 if self.weight is None else self.weight,
                }
        return {"kind": self.kind, **own, "ecn": self.ecn}


OF_AQM: Final = {
    "codel": ("target", "interval"),
    "fq_codel": ("target", "interval", "quantum"),
    "pie": ("target", "update"),
    "red": ("least", "most", "share", "weight"),
}
"""The parameters of each kind."""


def _named(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


ManagedBy = Annotated[Aqm, BeforeValidator(_named)]
"""A table, or its kind alone."""


def problems(path: Path, aqm: Aqm) -> Iterable[Problem]:
    """Parameters of another kind, and such as manage nothing."""
    own = OF_AQM[aqm.kind]
    for key, value in aqm:
        if value is None or key in ("kind", "ecn"):
            continue
        if key not in own:
            yield Problem((*path, key), f"not of {aqm.kind}", f"allowed: {', '.join(own)}, ecn")
        elif value == 0:
            yield Problem((*path, key), "must be more than nothing")
    parameters = aqm.plan()
    if aqm.kind == "red" and parameters["least_packets"] >= parameters["most_packets"]:
        yield Problem((*path, "most"), "must be more than `least`")
    if parameters.get("quantum_bytes", 1) > _MOST_QUANTUM:
        yield Problem((*path, "quantum"), f"must be at most {SIZE.text(_MOST_QUANTUM)}")
    if parameters.get("update_ns", _LEAST_UPDATE_NS) < _LEAST_UPDATE_NS:
        yield Problem((*path, "update"), f"must be at least {DURATION.text(_LEAST_UPDATE_NS)}")

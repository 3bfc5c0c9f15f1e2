"""What a paper claims, and whether a run bears it out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Claim:
    """`holds` is None where the run cannot tell; `measured` says by how much."""

    key: str
    words: str  #: the claim, shortened
    holds: bool | None
    measured: str


@dataclass(frozen=True)
class Source:
    """Whose claims they are: the year of the paper, what it is called, what its words are taken to
    mean.
    """

    year: str
    title: str
    meant: str


def claims_data(claims: tuple[Claim, ...]) -> list[dict[str, Any]]:
    """`holds` is null where the run cannot tell."""
    return [asdict(claim) for claim in claims]

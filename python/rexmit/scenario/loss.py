"""What a scenario loses: the tail of a transfer, or packets by position. Each rule has its keys."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Discriminator, Field, Tag

from rexmit.scenario.part import Kinds, Part
from rexmit.scenario.values import PATTERN, DurationNs, LostAxis, PatternAxis

_RULE: Final = (
    '"tail" (the last segments of a page or of the last burst, once each) or "pattern" (packets by '
    "position)"
)


class TailLoss(Part):
    """The last segments of each transfer, once each."""

    rule: Literal["tail"] = Field(default="tail", description=_RULE)
    segments: LostAxis = Field(
        default=(0,),
        description='a number, a range like "0..20", or a list; at most as many as the shortest '
        "page or burst has data segments",
    )
    mode: Literal["sequence", "hold"] = Field(
        default="sequence",
        description='"sequence" (by sequence number) or "hold" (by holding packets until the FIN '
        "shows, of pages over TCP)",
    )
    hold_limit: DurationNs = Field(
        default=3 * 10**9,
        description='virtual time after which a held transfer counts as stalled, like "5s", at '
        'most "3600s"',
    )

    @property
    def losses(self) -> tuple[tuple[int, None], ...]:
        """The axis: how many segments, no pattern."""
        return tuple((count, None) for count in self.segments)

    @property
    def patterns(self) -> tuple[str, ...]:
        """None."""
        return ()


class PatternLoss(Part):
    """Packets by their position."""

    rule: Literal["pattern"] = Field(description=_RULE)
    pattern: PatternAxis = Field(description=f"{PATTERN}; or a list")

    @property
    def losses(self) -> tuple[tuple[int, str], ...]:
        """The axis: no number of segments, which pattern."""
        return tuple((0, pattern) for pattern in self.pattern)

    @property
    def patterns(self) -> tuple[str, ...]:
        """In their shortest form."""
        return self.pattern

    @property
    def mode(self) -> Literal["sequence"]:
        """Positions are found by sequence number; nothing is held."""
        return "sequence"


RULES: Final = Kinds(
    key="rule",
    default="tail",
    tables={"tail": TailLoss, "pattern": PatternLoss},
    of='of the rule "{}"',
)

Loss = Annotated[
    Annotated[TailLoss, Tag("tail")] | Annotated[PatternLoss, Tag("pattern")],
    Discriminator(RULES.kind),
]
"""What is lost: each rule has keys of its own."""

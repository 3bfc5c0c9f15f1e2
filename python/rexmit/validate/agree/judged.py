"""A case of any kind that was judged: both logs and what came of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar

from rexmit.validate.agree.case import Case


class AnyVerdict(Protocol):
    """What a comparison of two logs says at least."""

    @property
    def exact(self) -> bool:
        """Every packet agrees."""

    @property
    def agrees(self) -> bool:
        """What is counted."""


VerdictT = TypeVar("VerdictT", bound=AnyVerdict)
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class AnyJudged(ABC, Generic[RowT, VerdictT]):
    """A case, both logs, and how far they agree; or why there is no comparison."""

    AGREES: ClassVar = "every packet agrees"
    """What is said of a case that agrees."""

    case: Case
    kernel: list[RowT] = field(default_factory=list)
    model: list[RowT] = field(default_factory=list)
    verdict: VerdictT | None = None
    kind: str | None = None
    """The class of a disagreement."""
    kernel_error: str | None = None
    """Why the kernel did not run the case: it does not count."""

    @property
    def counts(self) -> bool:
        """The kernel ran it."""
        return self.kernel_error is None

    @property
    def exact(self) -> bool:
        """Every packet agrees."""
        return self.verdict is not None and self.verdict.exact

    @property
    def agrees(self) -> bool:
        """What is counted agrees."""
        return self.verdict is not None and self.verdict.agrees

    @property
    def words(self) -> str:
        """How it went."""
        if self.exact:
            return AnyJudged.AGREES
        return self.AGREES if self.agrees else str(self.kind)

    @property
    @abstractmethod
    def retransmitted(self) -> bool:
        """The kernel sent data again."""

    @abstractmethod
    def beside(self) -> Iterator[str]:
        """Both logs beside each other, line by line."""

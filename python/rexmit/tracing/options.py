"""How captures are analysed: what is asked of every analysis, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypedDict

from rexmit import configuration
from rexmit.errors import UserError, argument, choice
from rexmit.options import whole, workers
from rexmit.values import dataclass

if TYPE_CHECKING:
    from rexmit.cluster import Where

DEFAULT: Final = ("default",)
"""The usual settings of what-if."""

_OF_WHATIF: Final = frozenset(("whatif", "whatif_totals"))
"""Tables of connections that are replayed under other settings."""

CONNECTIONS_LIMIT: Final = 2_000_000
"""Connections remembered at a time, unless another number is asked for."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """How captures are analysed. Raises UserError (usage) for what there is not, is out of its
    range, or does not go together.
    """

    whatif: Sequence[str] = DEFAULT
    """Settings under which connections are replayed: none are with `()`."""
    stacks: Sequence[str] = ()
    """Emulations that take part, by name (`no-` before it: all but that one); all without any."""
    names: bool = True
    """Whether requests have the names of their servers, and their paths, as hosts sent them."""
    jobs: int | None = None
    """Threads; one a core where it is None."""
    connections_limit: int = CONNECTIONS_LIMIT
    """Connections remembered at a time. With more those unused for longest are ended early, such as
    have only begun before others."""
    capture_filter: str | None = None
    """In libpcap's language; packets that do not pass it are as if they were not there."""
    points: Sequence[str] | None = None
    """The names of the captures' points, by which they are taken to be of several; where it is None
    their packets tell."""
    csv: bool = False
    """Whether the tables are written as CSV as well."""
    tables: Sequence[str] | None = None
    """The tables that are made: all where it is None, what a page reads where it names none."""
    replace: bool = False
    """Whether a trace that the folder holds is replaced."""
    cluster: Where | None = None
    """What the work is spread over; this process alone where it is None."""
    resume: bool = False
    """Whether an analysis on a cluster that was stopped goes on."""

    def __post_init__(self) -> None:
        for name in ("whatif", "stacks", "points", "tables"):
            if (words := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(words))
        if not configuration.current().names:
            object.__setattr__(self, "names", False)
        workers(self.jobs)
        whole("connections_limit", self.connections_limit, 16)
        if self.stacks:
            chosen(self.stacks)
        _check_filter(self.capture_filter)
        if self.whatif != DEFAULT:
            _check_whatif(self.whatif)
        if self.tables:
            _check_tables(self.tables)
        if self.cluster is None:
            if self.resume:
                raise UserError(f"{argument('resume')} needs {argument('cluster')}", usage=True)
        elif self.capture_filter is not None:
            raise UserError(
                f"{argument('capture_filter')} does not go with {argument('cluster')}",
                f"leave one of them out, or choose connections: {argument('hosts')}",
                usage=True,
            )
        elif self.points is not None:
            raise UserError(
                f"{argument('points')} are not followed on a cluster",
                f"leave {argument('cluster')} out",
                usage=True,
            )
        elif self.tables:
            raise UserError(
                f"{argument('tables')} does not go with {argument('cluster')}",
                "leave one of them out",
                usage=True,
            )

    def refuse(self, what: str, *names: str) -> None:
        """Raises UserError (usage) where any of these is given, which `what` has no use for."""
        for name in names:
            if getattr(self, name) not in (None, False):
                raise UserError(f"{argument(name)} is not for {what}", "leave it out", usage=True)

    def of_core(self) -> dict[str, Any]:
        """The arguments that all steps of `rexmit._core` take. They tell an analysis on a cluster
        from others: where they differ it is another.
        """
        return {
            "whatif": (list(self.whatif) if self._shows_whatif() else []) or False,
            "most_connections": self.connections_limit,
            "stacks": list(self.stacks),
            "names": self.names,
        }

    def _shows_whatif(self) -> bool:
        return not self.tables or not _OF_WHATIF.isdisjoint(self.tables)


class Live(TypedDict, total=False):
    """Those of `Analysis` as keywords that an analysis of an interface takes."""

    whatif: Sequence[str]
    stacks: Sequence[str]
    names: bool
    jobs: int | None
    connections_limit: int
    capture_filter: str | None
    csv: bool
    replace: bool


class Keywords(Live, total=False):
    """All of them."""

    points: Sequence[str] | None
    tables: Sequence[str] | None
    cluster: Where | None
    resume: bool


def chosen(stacks: Sequence[str]) -> list[str]:
    """The pages of the emulations that words choose. Raises UserError."""
    from rexmit import _core

    try:
        return list(_core.emulations(list(stacks)))
    except ValueError as error:
        raise UserError(f"{argument('stacks')}: {error}", usage=True) from error


def _check_tables(names: Sequence[str]) -> None:
    from rexmit.store.trace_schema import POINT_TABLES, TABLES

    known = [*TABLES, *POINT_TABLES]
    for name in names:
        if name not in known:
            raise UserError(
                f"{argument('tables')} {name}: there is no such table",
                choice(name, known, "tables"),
                usage=True,
            )


def _check_whatif(words: Sequence[str]) -> None:
    from rexmit import _core

    try:
        _core.whatif_settings(list(words))
    except ValueError as error:
        raise UserError(f"{argument('whatif')}: {error}", usage=True) from error


def _check_filter(expression: str | None) -> None:
    """Raises UserError for an expression that libpcap does not compile, and where there is no
    libpcap.
    """
    if expression is None:
        return
    from rexmit import _core

    where = argument("capture_filter")
    try:
        _core.check_filter(expression)
    except ImportError as error:
        raise UserError(
            f"{where} needs libpcap, which is not installed", "apt-get install libpcap0.8"
        ) from error
    except ValueError as error:
        raise UserError(
            f"{where} {expression}: {error}",
            'libpcap\'s language, as tcpdump has it ("host 10.0.0.1 and port 443"): '
            "man pcap-filter",
            usage=True,
        ) from error

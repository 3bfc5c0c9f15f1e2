"""Comparing two runs, cell by cell, or two traces, by host, port and path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import overload

from rexmit.addresses import is_address
from rexmit.analysis.axes import AXES
from rexmit.analysis.choice import Cells
from rexmit.comparison import gate
from rexmit.comparison.compare import USUAL, Comparison, compare
from rexmit.comparison.gate import Gate, share
from rexmit.comparison.measures import METRICS
from rexmit.comparison.pairs import Selection, selection
from rexmit.comparison.traces import compare as traces
from rexmit.comparison.traces.compare import TraceComparison
from rexmit.comparison.traces.observed import AXES as AXES_OF_TRACES
from rexmit.errors import UserError, argument, choice
from rexmit.library.trace import trace
from rexmit.progress import Hear
from rexmit.store.baseline import is_baseline, read_baseline
from rexmit.store.open_run import Run, open_run
from rexmit.store.run_json import NAME as RUN
from rexmit.tracing.folder import Trace, is_trace
from rexmit.webpage import commands

RunOrFolder = Run | str | PathLike[str]

Things = Run | Trace | str | PathLike[str]
"""A run or a trace, the folder of one, a baseline, or a capture."""

Maps = Mapping[str, Mapping[str, str]] | Iterable[str]
"""Cells of unlike values: `{"config": {"tlp": "er"}}`, or texts `AXIS:A=B`."""


@overload
def diff(
    a: Run,
    b: Run,
    *,
    metrics: Iterable[str] | None = None,
    cells: Cells | None = None,
    maps: Maps | None = None,
    inexact: bool = False,
    progress: Hear = None,
) -> Comparison: ...


@overload
def diff(
    a: Things,
    b: Things,
    *,
    metrics: Iterable[str] | None = None,
    cells: Cells | None = None,
    maps: Maps | None = None,
    inexact: bool = False,
    progress: Hear = None,
) -> Comparison | TraceComparison: ...


def diff(
    a: Things,
    b: Things,
    *,
    metrics: Iterable[str] | None = None,
    cells: Cells | None = None,
    maps: Maps | None = None,
    inexact: bool = False,
    progress: Hear = None,
) -> Comparison | TraceComparison:
    """Run `b` against run `a`: their cells of the same values in pairs. Or trace `b` against trace
    `a`: servers, and requests of one path, in pairs. A trace is one, a folder of one, or a capture
    (a path, an address, or a pattern of either), which is analysed, heard by `progress`.

    `metrics` of runs: t_total, t_recover, client, burst (each of a connection), srtt, rto
    (seconds), retransmissions, timeouts, probes, spurious, dsacks (a transfer). Of traces, all
    where it is None: round-trip, data-round-trip, loss, retransmitted, waited, payload, time (each
    owner's); of requests first-byte, total, unanswered. `cells` chooses by axis:
    `{"network": "mobile", "lost": "1..5"}`, of traces by host, port and path. `maps` compares
    unlike values: `{"config": {"tlp": "er"}}` holds A's tlp against B's er, `{"host": {"10.0.0.1":
    "10.0.0.2"}}` a server that moved.
    `inexact` takes in transfers that lost other segments than those asked for.

    Raises UserError where they cannot be read, are not of one kind, or have nothing in common.
    """
    if is_of_traces(a, b):
        if inexact:
            raise UserError(
                f"{argument('inexact')} is about runs, and these are captures",
                "leave it out",
                usage=True,
            )
        wanted = checked(traces.METRICS if metrics is None else metrics, traces.METRICS)
        chosen = chosen_by(cells, maps, AXES_OF_TRACES)
        names = (_name(a), _name(b))
        # All that is said of a trace is what it says, not what a setting would change.
        both = [
            one if isinstance(one, Trace) else trace(one, whatif=(), progress=progress)
            for one in (a, b)
            if not isinstance(one, Run)
        ]
        return traces.compare(both[0], both[1], names, chosen, wanted)
    # Wrong arguments are reported before any run is read.
    wanted, chosen = checked(USUAL if metrics is None else metrics), chosen_by(cells, maps)
    one, other = (opened(run) for run in (a, b) if not isinstance(run, Trace))
    return compare(one, other, chosen, wanted, keep_inexact=inexact)


def is_of_traces(a: Things, b: Things) -> bool:
    """Whether both are traces or captures; not where both are runs. Raises UserError (usage) for
    one of each.
    """
    kinds = [_is_trace(one) for one in (a, b)]
    if None not in kinds and kinds[0] != kinds[1]:
        run, capture = (b, a) if kinds[0] else (a, b)
        raise UserError(
            f"{_name(run)} is a run, and {_name(capture)} is none",
            "give two runs, or two of captures and folders of `rexmit trace --out`",
            usage=True,
        )
    return any(kinds)


def _is_trace(one: Things) -> bool | None:
    """None for what is neither a run nor a trace nor a capture."""
    if isinstance(one, Run | Trace):
        return isinstance(one, Trace)
    word, path = fspath(one), Path(one)
    if path.is_dir():
        return is_trace(path)
    if is_baseline(path):
        return False
    if path.name == RUN:
        return None
    return path.exists() or is_address(word) or word == "-" or bool(set("*?[") & set(word)) or None


def _name(one: Things) -> str:
    if isinstance(one, Trace):
        return " ".join(commands.place(one))
    return str(one.path) if isinstance(one, Run) else fspath(one)


def worse_than(comparison: Comparison | TraceComparison, most: float | str) -> Gate:
    """What of B is worse than A by more than `most` (0.05, or "5%") of A's mean, by whole
    intervals; what cannot be told, and what is better. Besides: other first retransmissions, more
    timeouts, probes or spurious retransmissions, cells that only one of the runs has. The answer
    has `exit_status`: 0; 1: something is worse; 125: of something it cannot be told.
    """
    return gate.gate(comparison, share(most) if isinstance(most, str) else most)


def chosen_by(cells: Cells | None, maps: Maps | None, axes: tuple[str, ...] = AXES) -> Selection:
    """Which cells, or places, are compared with which. Raises UserError (usage)."""
    pairs = (
        [f"{axis}:{left}={right}" for axis, sides in maps.items() for left, right in sides.items()]
        if isinstance(maps, Mapping)
        else list(maps or ())
    )
    return selection(cells, pairs, axes)


def opened(run: RunOrFolder) -> Run:
    """The run. Raises UserError (usage): what cannot be read cannot be compared, which is no
    difference."""
    if isinstance(run, Run):
        return run
    try:
        path = Path(run)
        return read_baseline(path) if is_baseline(path) else open_run(path)
    except UserError as error:
        error.usage = True
        raise


def checked(metrics: Iterable[str], known: Sequence[str] = tuple(METRICS)) -> list[str]:
    """The quantities, each once. Raises UserError for one that there is not, or for none."""
    names = list(dict.fromkeys(metrics))
    for name in names:
        if name not in known:
            raise UserError(
                f"{argument('metrics')} {name}: there is no such quantity",
                choice(name, known, "quantities"),
                usage=True,
            )
    if not names:
        raise UserError(
            f"{argument('metrics')} names nothing", f"quantities: {', '.join(known)}", usage=True
        )
    return names

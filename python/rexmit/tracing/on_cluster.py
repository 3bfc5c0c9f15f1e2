"""From captures to a folder of tables on a cluster: each capture is read by some worker, then each
group of connections analysed by one, over all captures; one judges what waits for other connections
of its host; then the rows are put together, some pieces by each.

The rows are bit for bit those of one process. What workers make lies in the trace's folder until
the end, which all of them see.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from rexmit import _core, escaping
from rexmit.cluster import Call, Cluster, LostError, Where, address_of, open_cluster
from rexmit.cluster.calls import program
from rexmit.errors import UserError, argument
from rexmit.interrupt import Interrupted
from rexmit.progress import Progress, Silent
from rexmit.sources import STDIN, Capture, packed
from rexmit.sources.capture import identity, whole_name
from rexmit.store.trace_schema import TABLES
from rexmit.tracing import folder as folders
from rexmit.tracing import tasks
from rexmit.tracing.changed import AS_READ
from rexmit.tracing.folder import Trace, Writer
from rexmit.tracing.journal import PARTIAL, Journal
from rexmit.tracing.options import Analysis
from rexmit.tracing.source import facts_of
from rexmit.tracing.table_parts import file_name
from rexmit.version import version
from rexmit.whatif.settings import named

TRIES = 3
"""Times that a capture is read whose store fails; of the last, what came is kept."""


GROUPS: Final = 16
"""Groups of connections at least: each is small enough for the processor's caches."""

GROUPS_A_WORKER: Final = 4
"""Groups for each worker at least: a group that is large holds up less than all others."""

RUN_BYTES: Final = 100_000_000
"""Bytes of pieces that a worker puts together at a time, more or less: those of some 8 million
packets. With much fewer, the parts of tables would be small, and many."""

_COUNTED: Final = ("packets", "tcp_packets")
"""What is needed of what was said of a part, or of rows."""


@dataclass(frozen=True)
class _Read:
    """What was read: the captures in their order, their parts, and a line for each left out."""

    captures: list[Capture]
    parts: list[Path]
    left_out: list[str]


class _FullError(Exception):
    """Several groups have more connections between them than are remembered: which of them make
    room for others, only one that has all of them knows."""


def run(
    captures: Sequence[Capture],
    folder: Path,
    cluster: Where,
    analysis: Analysis,
    *,
    progress: Progress | None = None,
    missing: Sequence[str] = (),
) -> Trace:
    """Analyses the files on the cluster at an address and writes the folder. `missing` has a line
    for each capture that is not there. Raises UserError.
    """
    began = time.monotonic()
    if any(str(capture) == STDIN for capture in captures):
        raise UserError(f"- is not read with {argument('cluster')}", "give files", usage=True)
    settings, most = analysis.of_core(), analysis.connections_limit
    hearer = progress or Silent()
    journal = Journal(folder, program(), settings)
    settings["key"] = journal.key
    as_read = [identity(capture) for capture in captures]
    with (
        journal.open(captures, resume=analysis.resume, replace=analysis.replace) as replaces,
        open_cluster(cluster) as workers,
    ):
        try:
            try:
                groups = journal.groups(max(GROUPS, GROUPS_A_WORKER * workers.workers))
                groups = min(groups, _core.most_groups(most_connections=most))
                read, rows = _rows_of(captures, journal, workers, settings, groups, hearer)
                judged, summary = _judge(read, rows, journal, workers, settings)
            except _FullError:
                hearer.note(
                    f"there are more than {most} connections at a time: one worker "
                    "analyses all of them"
                )
                read, rows = _rows_of(captures, journal, workers, settings, 1, hearer)
                judged, summary = _judge(read, rows, journal, workers, settings)
            hearer.note("the connections are analysed; their rows are put together")
            tables = _merge(rows, judged, summary["pieces"], journal, workers)
            with Writer(folder, beside=PARTIAL, replace=replaces) as writer:
                for name, parts in tables.items():
                    writer.take(name, parts)
                facts = facts_of(summary, read.captures)
                facts = with_changes(
                    facts,
                    warnings=[*missing, *read.left_out, *facts.warnings],
                    named=named(analysis.whatif),
                )
                words = ["rexmit", "trace", *map(str, captures), *address_of(cluster).words]
                words += packed.words()
                names = {whole_name(capture) for capture in read.captures}
                meta = {
                    "rexmit": version(),
                    "captures": [str(capture) for capture in read.captures],
                    "files": [whole_name(capture) for capture in read.captures],
                    AS_READ: [one for one in as_read if one["name"] in names],
                    "command": escaping.shell(words),
                    "wall_s": round(time.monotonic() - began, 3),
                }
                trace = writer.finish(facts, meta, csv=analysis.csv)
        except Interrupted as stopped:
            if journal.has_any():
                stopped.what = f"stopped; what is done is kept in {journal.folder}"
                stopped.hint = f"to go on: the same command with {argument('resume')}"
            raise
        finally:
            hearer.close()
        journal.drop()
    return trace


def _rows_of(
    captures: Sequence[Capture],
    journal: Journal,
    workers: Cluster,
    settings: Mapping[str, Any],
    groups: int,
    progress: Progress,
) -> tuple[_Read, list[Path]]:
    """What was read, and the rows of so many groups."""
    progress.start(None)
    of_parts = {"groups": groups, **{name: settings[name] for name in ("key", "most_connections")}}
    read = _read(captures, journal, workers, of_parts, progress)
    progress.note(f"{len(read.parts)} captures are read; their connections are analysed")
    return read, _analyse(read, journal, workers, settings, groups, progress)


def _read(
    captures: Sequence[Capture],
    journal: Journal,
    workers: Cluster,
    settings: Mapping[str, Any],
    progress: Progress,
) -> _Read:
    groups = settings["groups"]
    unpack_limit = _core.unpack_limit()
    parts = {
        str(number): journal.part(capture, **settings, unpack_limit=unpack_limit)
        for number, capture in enumerate(captures)
    }
    rows = _rows(list(parts.values()), journal, groups)
    journal.forget([*parts.values(), *rows, journal.judged(rows)])
    left_out: dict[str, str] = {}
    again: list[Call] = []
    failures: dict[str, int] = {}
    heard = dict.fromkeys(parts, 0)

    def asked(number: str) -> Call:
        is_last = failures.get(number, 0) == TRIES - 1
        arguments = (captures[int(number)], parts[number], settings, is_last, unpack_limit)
        return Call(number, tasks.read, arguments, tells=True)

    def answer(call: Call, given: Any) -> None:  # noqa: ANN401 - see Cluster.run
        number = call.name
        if isinstance(given, dict):
            progress.advance(given["packets"] - heard[number])
            return
        progress.advance(-heard[number])
        heard[number] = 0
        failures[number] = failures.get(number, 0) + 1
        if isinstance(given, OSError) and failures[number] < TRIES:
            again.append(asked(number))
        elif isinstance(given, OSError | ValueError | LostError):
            words = str(given).removeprefix(f"{captures[int(number)]}: ")
            left_out[number] = f"{captures[int(number)]}: {words}; it is left out"
            progress.note(left_out[number])
        else:
            raise given

    def done(call: str, more: int) -> None:
        heard[call] += more
        progress.advance(more)

    waiting = []
    for number, part in parts.items():
        before = tasks.kept(part, _COUNTED)
        if before is None:
            waiting.append(asked(number))
        else:
            progress.advance(before["packets"])
    while waiting:
        workers.run(waiting, answer, done=done)
        waiting, again = again, []
    good = [number for number in parts if number not in left_out]
    if not good:
        raise UserError(
            next(iter(left_out.values())).removesuffix("; it is left out"), "give captures"
        )
    lines = [left_out[number] for number in parts if number in left_out]
    return _Read([captures[int(n)] for n in good], [parts[n] for n in good], lines)


def _rows(parts: Sequence[Path], journal: Journal, groups: int) -> list[Path]:
    return [journal.of_group(parts, group) for group in range(groups)]


def _analyse(
    read: _Read,
    journal: Journal,
    workers: Cluster,
    settings: Mapping[str, Any],
    groups: int,
    progress: Progress,
) -> list[Path]:
    rows = _rows(read.parts, journal, groups)

    before = {
        group: kept for group, path in enumerate(rows) if (kept := tasks.kept(path, _COUNTED))
    }
    everything = sum(
        kept["tcp_packets"] for part in read.parts if (kept := tasks.kept(part, _COUNTED))
    )
    heard = dict.fromkeys(map(str, range(groups)), 0)
    progress.start(everything, sum(kept["tcp_packets"] for kept in before.values()))

    def done(call: str, more: int) -> None:
        heard[call] += more
        progress.advance(more)

    def answer(call: Call, given: Any) -> None:  # noqa: ANN401 - see Cluster.run
        about = _needed(given, f"connections of group {call.name} cannot be analysed")
        progress.advance(about["tcp_packets"] - heard[call.name])

    workers.run(
        [
            Call(str(group), tasks.analyse, (read.parts, group, path, settings), tells=True)
            for group, path in enumerate(rows)
            if group not in before
        ],
        answer,
        done=done,
    )
    return rows


def _needed(given: Any, otherwise: str) -> dict[str, Any]:  # noqa: ANN401 - see Cluster.run
    """What a call answered that all that follows needs. Raises UserError, which says `otherwise`,
    and _FullError.
    """
    if isinstance(given, dict):
        if tasks.FULL in given:
            raise _FullError
        return given
    if isinstance(given, LostError | OSError | ValueError):
        raise UserError(
            f"{otherwise}: {given}",
            f"mend that, then go on: the same command with {argument('resume')}",
        )
    raise given


def _judge(
    read: _Read,
    rows: list[Path],
    journal: Journal,
    workers: Cluster,
    settings: Mapping[str, Any],
) -> tuple[Path, dict[str, Any]]:
    """Where what was judged lies, and the summary of the whole."""
    judged = journal.judged(rows)
    before = tasks.kept(judged, ("pieces",))
    if before is not None and _is_summary(before, read.captures):
        return judged, before
    summaries: list[dict[str, Any]] = []

    def answer(_: Call, given: Any) -> None:  # noqa: ANN401 - see Cluster.run
        summaries.append(_needed(given, "what waits for its host cannot be judged"))

    workers.run([Call("judge", tasks.judge, (read.parts, rows, judged, settings))], answer)
    return judged, summaries[0]


def _is_summary(data: Mapping[str, Any], captures: Sequence[Capture]) -> bool:
    try:
        facts_of(data, captures)
    except (KeyError, TypeError, ValueError):
        return False
    return True


def _merge(
    rows: list[Path],
    judged: Path,
    pieces: Sequence[int],
    journal: Journal,
    workers: Cluster,
) -> dict[str, list[tuple[Path, int]]]:
    """The parts of each table in their order, with how many rows each has."""
    runs = _runs(pieces, max(workers.workers, 1))
    merged = {str(run[0]): journal.merged(judged, run) for run in runs}
    counts: dict[str, dict[str, list[int]]] = {}
    for name, path in merged.items():
        before = tasks.kept(path, ("tables",))
        # Of one that was interrupted at its very end, the trace had some already.
        is_whole = before is not None and before["tables"].keys() >= set(TABLES)
        if (
            before is not None
            and is_whole
            and all(file.exists() for file, _ in _files(path, before["tables"]))
        ):
            counts[name] = before["tables"]

    def answer(call: Call, given: Any) -> None:  # noqa: ANN401 - see Cluster.run
        counts[call.name] = _needed(given, "rows cannot be put together")["tables"]

    workers.run(
        [
            Call(str(run[0]), tasks.merge, (rows, judged, run, path, folders.PART_VALUES))
            for run, (name, path) in zip(runs, merged.items(), strict=True)
            if name not in counts
        ],
        answer,
    )
    return {
        table: [
            part for name, path in merged.items() for part in _files(path, counts[name], (table,))
        ]
        for table in TABLES
    }


def _runs(pieces: Sequence[int], workers: int) -> list[tuple[int, int]]:
    """Which pieces, of so many bytes each, are put together at a time: from one on to before
    another. There are as many runs for each worker, of about one length.
    """
    total, before = max(sum(pieces), 1), 0
    count = workers * -(-total // (workers * RUN_BYTES))
    first: dict[int, int] = {}
    for number, size in enumerate(pieces):
        first.setdefault(before * count // total, number)
        before += size
    return list(pairwise([*first.values(), len(pieces)]))


def _files(
    folder: Path, counts: Mapping[str, Sequence[int]], tables: Iterable[str] = TABLES
) -> list[tuple[Path, int]]:
    """The parts of these tables in a folder that `tasks.merge` made, with the rows of each."""
    return [
        (folder / file_name(table, number), rows)
        for table in tables
        for number, rows in enumerate(counts[table])
    ]

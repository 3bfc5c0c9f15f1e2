"""The steps of an analysis in parts, as a worker of a cluster makes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rexmit import _core
from rexmit.errors import UserError, argument
from rexmit.sources import Capture, packed
from rexmit.store.files import whole_folder, write_text
from rexmit.store.plain_json import list_of, mapping_of, shape, whole
from rexmit.store.plain_json import read as read_json

FULL: Final = "full"
"""What is told, and nothing made, where the groups have more connections than are remembered."""

SEEN: Final = "here"
"""A file by which a worker knows that it sees the folder that is meant."""


def read(
    capture: Capture,
    part: Path,
    settings: Mapping[str, Any],
    keep_broken: bool,
    unpack_limit: int,
    tell: Callable[[int], None],
) -> dict[str, Any]:
    """Reads one capture into the folder `part`, and what is to be known of it into a file beside
    it. Raises OSError or ValueError where it cannot be read, of a store that fails midway only
    without `keep_broken`.
    """
    with _writing(part), packed.allowed(unpack_limit):
        answer = _core.read_part(
            capture if isinstance(capture, Path) else capture.open(),
            str(capture),
            part,
            **settings,
            keep_broken=keep_broken,
            report=lambda packets, _: tell(packets),
        )
        return _keep(part, answer)


def analyse(
    parts: Sequence[Path],
    group: int,
    rows: Path,
    settings: Mapping[str, Any],
    tell: Callable[[int], None],
) -> dict[str, Any]:
    """Analyses one group of connections, with its rows in the folder `rows`; or tells `FULL`.
    Raises OSError or ValueError for parts that cannot be read."""
    with _writing(rows):
        answer = _core.analyse_part(
            list(parts), group, rows, **settings, report=lambda packets, _: tell(packets)
        )
        return answer if FULL in answer else _keep(rows, answer)


def judge(
    parts: Sequence[Path], rows: Sequence[Path], judged: Path, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Judges the rows that wait for other connections of their hosts, of all groups, into the
    folder `judged`. Gives the summary of the whole, or tells `FULL`. Raises OSError or ValueError
    for rows that cannot be read."""
    with _writing(judged):
        answer = _core.judge_parts(list(parts), list(rows), judged, **settings)
        return answer if FULL in answer else _keep(judged, answer)


def merge(
    rows: Sequence[Path], judged: Path, pieces: tuple[int, int], target: Path, part_values: int
) -> dict[str, Any]:
    """Puts the rows of all groups together, of the pieces from one number on to before another, as
    tables in the folder `target`: by the table's name, how many rows each part of it has. Raises
    OSError or ValueError for rows that cannot be read.
    """
    # Polars is large, and no other step needs it.
    from rexmit.tracing.source import from_batch
    from rexmit.tracing.table_parts import TableParts

    with _writing(target):
        merged = _core.MergeParts(rows, judged, pieces=pieces)
        with whole_folder(target) as folder:
            parts = TableParts(folder, part_values, lasting=True)
            while (batch := merged.next_batch()) is not None:
                parts.add(from_batch(batch))
            for name in parts.files:
                parts.flush(name)
            answer = {"tables": parts.heights}
        return _keep(target, answer)


_TOLD: Final = shape(
    {
        "packets": whole(),
        "tcp_packets": whole(),
        "pieces": list_of(whole()),
        "tables": mapping_of(list_of(whole())),
    }
)


def kept(target: Path, needed: Iterable[str]) -> dict[str, Any] | None:
    """What was said of a part, or of rows, that an earlier run made; None where it did not, or did
    not say what is `needed`."""
    try:
        answer = read_json(_beside(target))
        _TOLD(answer, "")
    except (OSError, ValueError):
        return None
    return answer if target.exists() and all(name in answer for name in needed) else None


def _keep(target: Path, answer: dict[str, Any]) -> dict[str, Any]:
    # After what it is said of: who finds it finds both.
    write_text(_beside(target), json.dumps(answer))
    return answer


def _beside(target: Path) -> Path:
    return target.with_name(f"{target.name}.json")


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Inside, `target` is written, in a folder that must be seen here. Raises UserError where it
    cannot be: no other step, and no other worker, can do better.
    """
    folder = target.parent.parent
    if not (target.parent / SEEN).is_file():
        raise UserError(
            f"a worker does not see the folder {folder}",
            f"name with {argument('out')} one on a file system that all machines share",
        )
    try:
        yield
    except OSError as error:
        # Of what is read the name stands in the text.
        if error.filename is None:
            raise
        raise UserError(
            f"{folder}: cannot be written: {error.strerror}",
            f"mend that, then go on: the same command with {argument('resume')}",
        ) from error

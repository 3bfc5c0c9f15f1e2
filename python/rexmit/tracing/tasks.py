"""The steps of an analysis in parts, as a worker of a cluster makes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rexmit import _core
from rexmit.errors import UserError, argument
from rexmit.sources import Capture
from rexmit.store.files import write_text

SEEN: Final = "here"
"""A file by which a worker knows that it sees the folder that is meant."""


def read(
    capture: Capture,
    part: Path,
    groups: int,
    most_connections: int,
    keep_broken: bool,
    tell: Callable[[int], None],
) -> dict[str, Any]:
    """Reads one capture into the folder `part`, and what is to be known of it into a file beside
    it. Raises OSError or ValueError where it cannot be read, of a store that fails midway only
    without `keep_broken`.
    """
    _check_folder(part.parent)
    told = _core.read_part(
        capture if isinstance(capture, Path) else capture.open(),
        str(capture),
        part,
        groups=groups,
        most_connections=most_connections,
        keep_broken=keep_broken,
        report=lambda packets, _: tell(packets),
    )
    return _keep(part, told)


def analyse(
    parts: Sequence[Path],
    group: int,
    rows: Path,
    settings: Mapping[str, Any],
    tell: Callable[[int], None],
) -> dict[str, Any]:
    """Analyses one group of connections, with its rows in the folder `rows`. Raises OSError or
    ValueError for parts that cannot be read."""
    _check_folder(rows.parent)
    told = _core.analyse_part(
        list(parts), group, rows, **settings, report=lambda packets, _: tell(packets)
    )
    return _keep(rows, told)


def judge(
    parts: Sequence[Path], rows: Sequence[Path], judged: Path, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Judges the rows that wait for other connections of their hosts, of all groups, into the
    folder `judged`. Gives the summary of the whole. Raises OSError or ValueError for rows that
    cannot be read."""
    _check_folder(judged.parent)
    return _keep(judged, _core.judge_parts(list(parts), list(rows), judged, **settings))


def kept(made: Path) -> dict[str, Any] | None:
    """What was said of a part, or of rows, that an earlier run made; None where it did not."""
    try:
        told = json.loads(_beside(made).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if made.exists() and isinstance(told, dict) else None


def _keep(made: Path, told: dict[str, Any]) -> dict[str, Any]:
    # After what it is said of: who finds it finds both.
    write_text(_beside(made), json.dumps(told))
    return told


def _beside(made: Path) -> Path:
    return made.with_name(f"{made.name}.json")


def _check_folder(folder: Path) -> None:
    if not (folder / SEEN).is_file():
        raise UserError(
            f"a worker does not see the folder {folder.parent.parent}",
            f"name with {argument('out')} one on a file system that all machines share",
        )

"""How far predictions were off when they were checked last: kept for the pages that print them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from rexmit.store import user_folder
from rexmit.store.files import write_text
from rexmit.store.opening import named_folder
from rexmit.store.plain_json import list_of, number, read, shape, text, whole
from rexmit.whatif.settings import kind

FORMAT: Final = 1

_ROW: Final = shape(
    {"setting": text, "n": whole(), "median": number(), "p95": number()},
    needed=("setting", "n", "median", "p95"),
)

_CHECK: Final = shape(
    {
        "format": whole(),
        "made": text,
        "program": text,
        "engine": text,
        "seed": whole(0, 2**64 - 1),
        "rows": list_of(_ROW),
    },
    needed=("format", "made", "program", "engine", "seed", "rows"),
)


@dataclass(frozen=True)
class Error:
    """Over `n` transfers that a setting changed or was predicted to: the size of predicted less
    actual change, relative to the transfer's duration. `setting` is the one that was run, or its
    kind where several were.
    """

    setting: str
    n: int
    median: float
    p95: float


@dataclass(frozen=True)
class Calibration:
    """A check: when and with what it was made, and the errors of each base and setting."""

    made: str
    program: str
    engine: str
    seed: int
    rows: Sequence[Mapping[str, Any]]

    def error_of(self, setting: str) -> Error | None:
        """The error of predictions with this setting; of its kind where it was not run itself; None
        where none of its kind was.
        """
        same = [row for row in self.rows if row["setting"] == setting]
        rows = same or [row for row in self.rows if kind(row["setting"]) == kind(setting)]
        n = sum(row["n"] for row in rows)
        if not n:
            return None
        # Of several stacks: the mean of the medians by their transfers, and the worst.
        median = sum(row["median"] * row["n"] for row in rows) / n
        return Error(setting if same else kind(setting), n, median, max(row["p95"] for row in rows))


def place() -> Path:
    """Where it is kept: $XDG_CACHE_HOME/rexmit, by default ~/.cache/rexmit."""
    return user_folder.cache() / "whatif.json"


def save(calibration: Calibration, path: Path | None = None) -> Path:
    """Keeps it, whole or not at all."""
    path = path or place()
    named_folder(path.parent)
    write_text(path, json.dumps({"format": FORMAT, **asdict(calibration)}, indent=2) + "\n")
    return path


def load(program: str, path: Path | None = None) -> Calibration | None:
    """What is kept; None where nothing is, or it was made by another version of the program."""
    try:
        data = read(path or place())
        _CHECK(data, "")
    except (OSError, ValueError):
        return None
    if data["format"] != FORMAT or data["program"] != program:
        return None
    return Calibration(**{entry.name: data[entry.name] for entry in fields(Calibration)})

"""How far predictions were off when they were held against transfers really run.

`errors.json` has what `scripts/measure-whatif` measured; a check of one's own, of this version of
the program, goes before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from rexmit.store import user_folder
from rexmit.store.files import write_text
from rexmit.store.opening import named_folder
from rexmit.store.plain_json import list_of, number, read, shape, text, whole
from rexmit.values import dataclass
from rexmit.whatif.settings import kind

FORMAT: Final = 2

_COLUMNS: Final = ("setting", "n", "median", "p95", "wrong")

_ROW: Final = shape(
    {"setting": text, "n": whole(), "median": number(), "p95": number(), "wrong": number()},
    needed=_COLUMNS,
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
    kind where several were. `wrong` is the share of which the prediction says longer, and they are
    shorter, or the other way round.
    """

    setting: str
    n: int
    median: float
    p95: float
    wrong: float


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

        def mean(column: str) -> float:
            return float(sum(row[column] * row["n"] for row in rows) / n)

        # Of several stacks: the means by their transfers, and the worst.
        most = max(row["p95"] for row in rows)
        return Error(setting if same else kind(setting), n, mean("median"), most, mean("wrong"))


MEASURED: Final = Path(__file__).with_name("errors.json")
"""What comes with the package."""


def place() -> Path:
    """Where one's own is kept: $XDG_CACHE_HOME/rexmit, by default ~/.cache/rexmit."""
    return user_folder.cache() / "whatif.json"


def save(calibration: Calibration, path: Path | None = None) -> Path:
    """Keeps it to five digits behind the point, whole or not at all."""
    path = path or place()
    named_folder(path.parent)
    head = {"format": FORMAT, **asdict(calibration)}
    rows = head.pop("rows")

    def short(value: object) -> object:
        return round(value, 5) if isinstance(value, float) else value

    # A line a row.
    lines = ",\n".join(
        json.dumps({name: short(value) for name, value in row.items()}) for row in rows
    )
    write_text(path, json.dumps(head)[:-1] + f', "rows": [\n{lines}\n]}}\n')
    return path


def load(program: str, path: Path | None = None) -> Calibration | None:
    """One's own, if it was made by this version of the program, else what comes with the package;
    None where that cannot be read.
    """
    own = _read(path or place())
    if own is not None and own.program == program:
        return own
    try:
        # It is as it was when the package was tested: its thousand rows are not checked again.
        return _made(json.loads(MEASURED.read_text(encoding="utf-8")))
    except OSError:
        return None


def _read(path: Path) -> Calibration | None:
    try:
        data = read(path)
        _CHECK(data, "")
    except (OSError, ValueError):
        return None
    return _made(data) if data["format"] == FORMAT else None


def _made(data: Mapping[str, Any]) -> Calibration:
    return Calibration(**{entry.name: data[entry.name] for entry in fields(Calibration)})

"""A folder of cases: what the kernel did in each, and the disagreements.

`agree.json` says which kernel and which cases; `cases.jsonl` and `kernel.jsonl` have a line for
each, so that the model can be held against the kernel again without booting it. Each disagreement
has a folder of its own below `disagreements/`, with a scenario that `rexmit run` and
`rexmit validate agree --case` take.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Self

from rexmit import stacks
from rexmit.errors import UserError, argument
from rexmit.store.files import write_text, writing
from rexmit.store.opening import inner_folder, lasting_file, named_folder
from rexmit.store.plain_json import Check, loads, mapping_of, read, shape, text, whole
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.outcome import Outcome

FORMAT: Final = 1

META: Final = "agree.json"


def _format(value: object, where: str) -> None:
    whole(FORMAT, FORMAT)(value, where)


def _version(value: object, where: str) -> None:
    text(value, where)
    if not re.match(r"\d+\.\d+", str(value)):
        raise ValueError(f"{where} must be a kernel's version")


_CHECK: Final[Check] = shape(
    {
        "format": _format,
        "kernel": text,
        "version": _version,
        "hz": whole(1),
        "kernel_hash": text,
        "guest_hash": text,
        "seed": whole(0, 2**64 - 1),
        "paths": whole(1, 32),
        "room": mapping_of(text),
    },
    needed=("format", "kernel", "version", "hz", "kernel_hash", "guest_hash", "seed"),
)
"""What this program reads of an agree.json."""


@dataclass(frozen=True, slots=True)
class About:
    """What a folder's cases ran on."""

    kernel: str
    """As `rexmit kernel list` names it."""
    version: str
    hz: int
    kernel_hash: str
    guest_hash: str
    seed: int
    paths: int = 1
    """Of each case; with one, cases are of pages."""
    room: Mapping[str, str] = field(default_factory=dict)
    """Settings of the model that follow from how an image was configured; none of a kernel of ours,
    as which the model's stacks are.
    """

    @property
    def series(self) -> tuple[int, int]:
        """As in 6.12."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    @property
    def stack(self) -> str:
        """The model's stack of that series, or the nearest before it."""
        return stacks.of_linux(self.version)

    @property
    def modelled(self) -> bool:
        """Whether the model has the series' own stack."""
        return self.stack == "linux-{}.{}".format(*self.series)


class Folder:
    """Cases and kernel outcomes on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begin(cls, path: Path, about: About, cases: Mapping[int, Case]) -> Self:
        """A folder for these cases; one that holds them, or fewer of them, goes on.

        Raises UserError for a folder with others.
        """
        folder = cls(path)
        meta = path / META
        if meta.exists() and folder.about() != about:
            raise UserError(
                f"{path} holds cases of another seed, kernel, guest program or number of paths",
                f"name another folder with {argument('keep')}, or remove this one",
            )
        try:
            if not meta.exists() and path.exists() and any(path.iterdir()):
                raise UserError(
                    f"{path} is there already and not empty",
                    f"name another with {argument('keep')}",
                )
            named_folder(path)
            write_text(
                path / "cases.jsonl", "".join(f"{case.as_json()}\n" for case in cases.values())
            )
            write_text(meta, json.dumps({"format": FORMAT, **asdict(about)}, indent=2) + "\n")
            folder._end_torn_line()
        except OSError as error:
            raise UserError(
                f"{error.filename or path}: cannot be written: {error.strerror}",
                f"name another folder with {argument('keep')}, or remove this one",
            ) from None
        return folder

    def _end_torn_line(self) -> None:
        """What a killed run wrote last must not swallow the line that follows it."""
        path = self.path / "kernel.jsonl"
        if path.exists():
            with os.fdopen(lasting_file(path), "r+b") as file:
                if file.read()[-1:] not in (b"", b"\n"):
                    file.write(b"\n")

    def about(self) -> About:
        """Raises UserError where the folder is none of ours."""
        try:
            data = read(self.path / META)
            _CHECK(data, "")
        except (OSError, ValueError) as error:
            why = f"{META}: {error.strerror}" if isinstance(error, OSError) else error
            raise UserError(
                f"{self.path} is no folder of `rexmit validate agree` ({why})",
                "make one: rexmit validate agree --keep DIR",
            ) from None
        return About(**{one.name: data[one.name] for one in fields(About) if one.name in data})

    def cases(self) -> dict[int, Case]:
        """All cases by number."""
        path = self.path / "cases.jsonl"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            return {number: Case.from_json(line) for number, line in enumerate(lines)}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path}: cannot be read: {error}", "the file is damaged; run the cases again"
            ) from None

    def outcomes(self) -> dict[int, Outcome]:
        """What the kernel did in the cases that were run, by number."""
        outcomes: dict[int, Outcome] = {}
        path = self.path / "kernel.jsonl"
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    number, outcome = loads(line)
                except (ValueError, TypeError):  # the last line of a run that was killed
                    continue
                if type(number) is int and isinstance(outcome, dict):
                    outcomes[number] = outcome
        return outcomes

    def done(self) -> set[int]:
        """The numbers of the cases that the kernel has run. Those that it did not run are tried
        again: what ended it may have come from elsewhere."""
        return {number for number, outcome in self.outcomes().items() if "error" not in outcome}

    def add(self, number: int, outcome: Outcome) -> None:
        """Append what the kernel did in a case."""
        self._append(json.dumps([number, outcome], separators=(",", ":")) + "\n")

    def _append(self, text: str) -> None:
        path = self.path / "kernel.jsonl"
        with writing(path), os.fdopen(lasting_file(path), "a", encoding="utf-8") as file:
            file.write(text)

    def clear_disagreements(self) -> None:
        """Forget those of an earlier comparison."""
        shutil.rmtree(self.path / "disagreements", ignore_errors=True)

    def keep(self, case: Case, about: str, logs: Iterable[tuple[str, Any]]) -> None:
        """Keep a disagreement: the case as a scenario, both logs."""
        place = inner_folder(inner_folder(self.path / "disagreements") / case.name)
        write_text(place / f"{case.name}.toml", case.scenario(about))
        for name, log in logs:
            text = "[\n" + ",\n".join(json.dumps(row) for row in log) + "\n]\n"
            write_text(place / f"{name}.json", text)

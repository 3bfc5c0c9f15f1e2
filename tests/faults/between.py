"""What goes wrong between two attempts: a file is damaged, gone, something else, one too many."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.place import remove
from tests.faults.plan import BETWEEN, Fault

UNSEEN = {
    "a capture that is damaged or gone": (
        r".*\.pcapng",
        {"flip", "truncate", "empty", "delete", "folder", "dangling"},
    ),
    "a run.json that is damaged and still one": (r".*/run\.json", {"flip"}),
    "cases and logs of agree": (r".*\.jsonl?", {"flip", "truncate", "empty", "duplicate"}),
}
"""Damage that nothing notices, as docs/limitations.md says: the file's path, and what happens to
it. Digests are kept of tables, records and kernels."""


def unseen(path: Path, kind: str) -> bool:
    """Nothing notices this damage."""
    return any(
        kind in kinds and re.fullmatch(pattern, str(path)) for pattern, kinds in UNSEEN.values()
    )


@dataclass
class Damage:
    """What was done to files in a campaign."""

    paths: set[Path] = field(default_factory=set)
    """They were damaged."""
    foreign: set[Path] = field(default_factory=set)
    """They are of nobody."""
    told: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.paths or self.foreign)

    def do(self, fault: Fault, folders: list[Path], *, whole: bool) -> str | None:
        """Let it happen to a file below one of these; where there is none for it, something else.

        A result that is `whole` has no half of a file beside it. Gives what happened.
        """
        there = sorted(
            path
            for folder in folders
            for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink() and path not in self.foreign
        )
        begin = BETWEEN.index(fault.kind)
        for kind in BETWEEN[begin:] + BETWEEN[:begin]:
            able = [path for path in there if not unseen(path, kind)]
            if able and (kind != "leftover" or (fault.kind == kind and not whole)):
                path = able[int(fault.number * len(able))]
                _DO[kind](self, path, fault.other)
                self.told.append(f"{kind} {path}")
                return kind
        return None

    def flip(self, path: Path, which: float) -> None:
        data = bytearray(path.read_bytes())
        if data:
            data[int(which * len(data))] ^= 1 << int(which * 8000) % 8
        path.write_bytes(data)
        self.paths.add(path)

    def truncate(self, path: Path, which: float) -> None:
        with path.open("r+b") as file:
            file.truncate(int(which * path.stat().st_size))
        self.paths.add(path)

    def empty(self, path: Path, _which: float) -> None:
        path.write_bytes(b"")
        self.paths.add(path)

    def delete(self, path: Path, _which: float) -> None:
        path.unlink()
        self.paths.add(path)

    def duplicate(self, path: Path, which: float) -> None:
        copy = path.with_name(f"{path.stem}{int(which * 90) + 10}{path.suffix}")
        if path.name.startswith("cell-"):
            copy = path.with_name(f"cell-{int(which * 1000):06}.json")
        if not copy.exists():
            copy.write_bytes(path.read_bytes())
            self.foreign.add(copy)

    def folder(self, path: Path, _which: float) -> None:
        path.unlink()
        path.mkdir()
        (path / "something").write_bytes(b"")
        self.paths.add(path)

    def dangling(self, path: Path, _which: float) -> None:
        path.unlink()
        path.symlink_to("nowhere/at-all")
        self.paths.add(path)

    def leftover(self, path: Path, which: float) -> None:
        """What a program that was killed leaves."""
        path.with_name(f".{path.name}.{4_194_304 + int(which * 1000)}.tmp").write_bytes(b"half")

    def forget(self) -> None:
        """Remove what is of nobody."""
        for path in self.foreign:
            if path.parent.is_dir():
                remove(path)


_DO = {
    "flip": Damage.flip,
    "truncate": Damage.truncate,
    "empty": Damage.empty,
    "delete": Damage.delete,
    "duplicate": Damage.duplicate,
    "folder": Damage.folder,
    "dangling": Damage.dangling,
    "leftover": Damage.leftover,
}

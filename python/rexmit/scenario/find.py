"""Which file a user means: a path, or the name of a scenario.

The scenarios that come with rexmit are those of `scenarios/` in the repository; the package carries
them as `rexmit/scenario/data`, which is a link in a checkout and a folder in a wheel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexmit.errors import UserError, choice

DATA: Final = Path(__file__).parent / "data"
"""Holds the scenarios that come with rexmit, and `unknowns/`."""


def names() -> dict[str, Path]:
    """The scenarios that have a name, with their files: those of the folder `scenarios` in the
    working folder, then those that come with rexmit."""
    files: dict[str, Path] = {}
    for folder in (Path("scenarios"), DATA):
        for pattern in ("*.toml", "recipes/*.toml"):
            for file in sorted(folder.glob(pattern)):
                files.setdefault(file.relative_to(folder).with_suffix("").as_posix(), file)
    return files


def find(spec: str) -> Path:
    """The file of the scenario `spec`. Raises UserError with the nearest names."""
    path = Path(spec)
    if path.is_file():
        return path
    if path.is_dir():
        raise UserError(f"{spec} is a folder, no scenario", "name a .toml file", usage=True)
    known = names()
    if spec in known:
        return known[spec]
    raise UserError(
        f"there is no scenario {spec}", choice(path.stem, known, "scenarios"), usage=True
    )

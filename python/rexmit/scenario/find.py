"""Which file a user means: a path, or the name of a scenario in the `scenarios` folder."""

from __future__ import annotations

from pathlib import Path

from rexmit.errors import UserError, closest


def folders() -> list[Path]:
    """Where names of scenarios are looked up: the working folder's, then the source tree's own."""
    here = Path("scenarios")
    tree = Path(__file__).resolve().parents[3] / "scenarios"
    return [here] if here.resolve() == tree else [here, tree]


def find(spec: str) -> Path:
    """The file of the scenario `spec`. Raises UserError with the nearest names."""
    path = Path(spec)
    if path.is_file():
        return path
    if path.is_dir():
        raise UserError(f"{spec} is a folder, no scenario", "name a .toml file", usage=True)
    names: dict[str, Path] = {}
    for folder in folders():
        for file in sorted(folder.glob("*.toml")):
            names.setdefault(file.stem, file)
    if spec in names:
        return names[spec]
    near = closest(path.stem, list(names))
    guess = f"did you mean {names[near]}? " if near else ""
    known = ", ".join(str(file) for file in names.values()) or "none"
    raise UserError(f"there is no scenario {spec}", f"{guess}scenarios here: {known}", usage=True)

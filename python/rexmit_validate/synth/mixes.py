"""Mixes of networks and workloads: those that come with the package, or a user's own file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError, choice

OWN: Final = Path(__file__).with_name("mixes.toml")
"""The mixes that come with the package."""

Mix = Mapping[str, Any]


def known() -> dict[str, Mix]:
    """The mixes that come with the package, by name."""
    return tomllib.loads(OWN.read_text(encoding="utf-8"))


def find(name: str) -> dict[str, Mix]:
    """The mix `name`, or those of a TOML file that `name` is the path of, by name."""
    if name.endswith(".toml"):
        return _read(Path(name))
    mixes = known()
    if name not in mixes:
        raise UserError(
            f"there is no mix {name}",
            choice(name, mixes, "mixes"),
            usage=True,
        )
    return {name: mixes[name]}


def _read(path: Path) -> dict[str, Mix]:
    try:
        mixes = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: {error}") from error
    if not mixes or not all(isinstance(mix, dict) for mix in mixes.values()):
        raise UserError(f"{path}: mixes are tables, one each, as in {OWN}")
    return mixes

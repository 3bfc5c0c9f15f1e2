"""Packages that lie beside this one and add to it, where they are installed.

Each is called `rexmit_*` and has a module `adds`: FUNCTIONS, what `import rexmit` offers of it, by
name the module; COMMANDS, the groups of commands, by name where each is and what it does; `moved`,
which says of words for it what their command was called and is, and the words of now; `open_thing`,
what of its own a page can be about. They know this package; it knows none of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType


@cache
def packages() -> tuple[ModuleType, ...]:
    """What each of them adds."""
    there = Path(__file__).parents[1].glob("rexmit_*/adds.py")
    return tuple(import_module(f"{path.parent.name}.adds") for path in sorted(there))


def functions() -> dict[str, str]:
    """What they offer, by name the module that it is in."""
    return {name: module for one in packages() for name, module in one.FUNCTIONS.items()}

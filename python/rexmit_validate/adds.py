"""What this package adds to `rexmit`, which imports nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rexmit.webpage.part import Shown

COMMANDS: Final = {"validate": ("rexmit_validate.cli:app", "Judge rexmit itself.")}
"""The groups of commands that it adds: of each where it is, and what it does."""

_LIBRARY: Final = {
    "agree": ("agree", "agree_again", "agree_beside", "agree_case"),
    "opened": ("open_corpus",),
    "score": ("draw_score", "score"),
    "sensitivity": ("nearest_benches", "sensitivity"),
    "synth": ("synth", "synth_kinds", "synth_mixes"),
    "troubles": ("troubles",),
    "truth": ("truth",),
    "whatif": ("check_whatif",),
}

FUNCTIONS: Final = {
    name: f"rexmit_validate.library.{module}"
    for module, names in _LIBRARY.items()
    for name in names
}
"""What `import rexmit` offers of it, by name the module that it is in."""


def moved(words: Sequence[str]) -> None:
    """What a command was called; none of this package had another name."""


def open_thing(path: Path) -> Shown | None:
    """What a page can be about: a folder of `rexmit validate agree`; None for any other."""
    from rexmit_validate.agree.folder import META

    if not (path / META).is_file():
        return None
    from rexmit_validate.library.agree import agree_again

    return agree_again(path)

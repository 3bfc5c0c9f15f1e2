"""What this package adds to `rexmit`, which imports nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rexmit.webpage.part import Shown

COMMANDS: Final = {"paper": ("rexmit_papers.cli:app", "A paper's tables, figures and claims.")}
"""The groups of commands that it adds: of each where it is, and what it does."""

_LIBRARY: Final = {
    "figures": ("paper_figures",),
    "page": ("paper_page",),
    "study": ("study",),
    "tables": ("claims", "table1", "table4", "table4_beside"),
}

FUNCTIONS: Final = {
    name: f"rexmit_papers.library.{module}" for module, names in _LIBRARY.items() for name in names
}
"""What `import rexmit` offers of it, by name the module that it is in."""

_OF_RUNS: Final = ("--table4", "--table1", "--claims")
"""Options that `rexmit show` had."""


def moved(words: Sequence[str]) -> tuple[str, str, list[str]] | None:
    """Of words of `rexmit trace --study` and of `rexmit show` with a paper's options: the command's
    old and new name, and the words of now.
    """
    name, *rest = words
    options = rest[: rest.index("--")] if "--" in rest else rest
    if name == "trace" and "--study" in options:
        rest.remove("--study")
        return "trace --study", "paper unc-2007", ["paper", "unc-2007", *rest]
    asked = next((one for one in options if one in _OF_RUNS), None)
    if name != "show" or asked is None:
        return None
    paper = "mptcp-2017" if asked == "--claims" and _has_bursts(options) else "tlp-2013"
    return f"show {asked}", f"paper {paper} {asked}", ["paper", paper, *rest]


def _has_bursts(words: Sequence[str]) -> bool:
    """Whether any of them is the folder of a run with bursts."""
    from rexmit.analysis.bursts import has_bursts
    from rexmit.errors import UserError
    from rexmit.store.open_run import open_run

    for word in words:
        try:
            if (Path(word) / "run.json").is_file():
                return has_bursts(open_run(Path(word)))
        except UserError:
            continue
    return False


def open_thing(path: Path) -> Shown | None:  # noqa: ARG001 - no folder is this package's own
    """What a page can be about; no folder is this package's own."""
    return None

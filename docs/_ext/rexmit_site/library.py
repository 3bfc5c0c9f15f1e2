"""What `import rexmit` offers: docstrings, read by autodoc."""

from __future__ import annotations

import inspect

import rexmit
from rexmit import additions
from rexmit_site.markdown import together


def _entry(name: str) -> str:
    offered = getattr(rexmit, name)
    if inspect.isclass(offered):
        kind, options = (
            "autoexception" if issubclass(offered, Exception) else "autoclass",
            [
                ":members:",
            ],
        )
    else:
        kind, options = "autofunction", []
    # The directives are written in reStructuredText: docstrings are, and autodoc parses them so.
    lines = [f".. {kind}:: rexmit.{name}", *(f"   {option}" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def library() -> str:
    """Classes first, then functions, each by name."""
    names = sorted(
        [*rexmit.__all__, *additions.functions()],
        key=lambda name: (not inspect.isclass(getattr(rexmit, name)), name),
    )
    classes = [name for name in names if inspect.isclass(getattr(rexmit, name))]
    functions = [name for name in names if name not in classes]
    return together(
        ["## Functions", *map(_entry, functions), "## What they give", *map(_entry, classes)]
    )

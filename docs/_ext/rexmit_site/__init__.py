"""The parts of the site that are made of the code, each time that it is built.

A document says where: `<!-- generated: commands -->` becomes the text of `PARTS["commands"]`, in
Markdown, before the document is read. A notebook becomes a document of its cells and of what they
gave when they ran last.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def _of(module: str) -> Callable[[], str]:
    """The function of a module that has its name. Some take all of rexmit: they are imported where
    they are called, since what makes pages of the manual has less.
    """
    return lambda: str(getattr(import_module(f"rexmit_site.{module}"), module)())


PARTS: Final = {
    "commands": _of("commands"),
    "library": _of("library"),
    "stacks": _of("stacks"),
    "words": _of("words"),
}

_PART: Final = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)


def filled(text: str) -> str:
    """The text of a document with its generated parts in it."""
    return _PART.sub(lambda part: PARTS[part[1]](), text)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    if str(app.env.doc2path(name)).endswith(".ipynb"):
        from rexmit_site.notebook import document

        source[0] = document(source[0])
    source[0] = filled(source[0])


def _always_anew(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    """Documents with generated parts: that their own text is the same says nothing of these."""
    return [
        name
        for name in env.found_docs
        if _PART.search(app.env.doc2path(name).read_text(encoding="utf-8"))
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """For Sphinx."""
    app.add_source_suffix(".ipynb", "markdown")
    app.connect("source-read", _read)
    app.connect("env-get-outdated", _always_anew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

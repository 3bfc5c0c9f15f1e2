"""The parts of the site that are made of the code, each time that it is built.

A document says where: `<!-- generated: commands -->` becomes the text of `PARTS["commands"]`, in
Markdown, before the document is read. A notebook becomes a document of its cells and of what they
gave when they ran last.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from rexmit_site.commands import commands
from rexmit_site.library import library
from rexmit_site.notebook import document
from rexmit_site.stacks import stacks

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

PARTS: Final[dict[str, Callable[[], str]]] = {
    "commands": commands,
    "library": library,
    "stacks": stacks,
}

_PART: Final = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)


def filled(text: str) -> str:
    """The text of a document with its generated parts in it."""
    return _PART.sub(lambda part: PARTS[part[1]](), text)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    if str(app.env.doc2path(name)).endswith(".ipynb"):
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

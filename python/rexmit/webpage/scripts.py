"""The browser's programs and styles: our modules joined into one script, and the library's.

Our modules are plain ES modules in `assets`, one idea a file. Here each becomes a function, called
in the order of what imports what; so a page needs no server to load modules from, and no tool but
Python to be made.
"""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

_START: Final = "app.js"

_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./([a-z_-]+\.js)";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?:async )?(?:function\*?|const|class) (\w+)", re.MULTILINE)


def _asset(*names: str) -> Traversable:
    return files("rexmit.webpage").joinpath("assets", *names)


@cache
def library() -> str:
    """uPlot, which defines the global `uPlot`."""
    return _asset("uplot", "uPlot.iife.min.js").read_text(encoding="utf-8").strip()


@cache
def styles() -> str:
    """uPlot's styles and ours."""
    theirs = _asset("uplot", "uPlot.min.css").read_text(encoding="utf-8").strip()
    return theirs + "\n" + _asset("page.css").read_text(encoding="utf-8")


@cache
def licence() -> str:
    """uPlot's, which a copy of it must bear."""
    return _asset("uplot", "LICENSE").read_text(encoding="utf-8").strip()


@cache
def program() -> str:
    """All our modules as one script."""
    texts: dict[str, str] = {}
    needs: dict[str, set[str]] = {}
    left = [_START]
    while left:
        name = left.pop()
        if name in texts:
            continue
        texts[name] = _asset(name).read_text(encoding="utf-8")
        needs[name] = {other for _, other in _IMPORT.findall(texts[name])}
        left += sorted(needs[name])
    order = TopologicalSorter({name: sorted(needs[name]) for name in sorted(needs)})
    modules = [_as_function(name, texts[name]) for name in order.static_order()]
    return '"use strict";\n' + "\n".join(modules)


def _variable(name: str) -> str:
    return "module_" + name.removesuffix(".js").replace("-", "_")


def _as_function(name: str, text: str) -> str:
    exported = ", ".join(_EXPORT.findall(text))
    body = _IMPORT.sub(lambda m: f"const {{{m[1]}}} = {_variable(m[2])};", text)
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    return f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"

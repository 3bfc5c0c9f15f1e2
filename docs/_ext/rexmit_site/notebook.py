"""A notebook as a document: its cells, and what they gave when `scripts/fill-notebook` ran them."""

from __future__ import annotations

import json
from typing import Any


def _fenced(language: str, lines: list[str]) -> str:
    return f"```{language}\n{''.join(lines).rstrip()}\n```"


def _output(output: dict[str, Any]) -> str:
    """Text alone is kept in our notebooks."""
    return _fenced("text", output["text"] if "text" in output else output["data"]["text/plain"])


def document(text: str) -> str:
    """The notebook as Markdown."""
    parts = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append("".join(cell["source"]))
        else:
            parts.append(_fenced("python", cell["source"]))
            parts += [_output(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"

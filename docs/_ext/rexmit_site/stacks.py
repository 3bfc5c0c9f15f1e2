"""The stacks of the model: every setting with its value and the source of it."""

from __future__ import annotations

import rexmit
from rexmit_site.markdown import code, plain, table, together


def stacks() -> str:
    """What settings mean, once; then a section for each stack."""
    pages = rexmit.list_stacks()
    parts = [
        table(
            ["stack", "what it is"],
            ([f"[{one.name}](#{one.name})", plain(one.about)] for one in pages),
        ),
        "## What the settings mean",
        table(
            ["setting", "what", "allowed"],
            ([code(one.name), plain(one.about), plain(one.allowed)] for one in pages[0].settings),
        ),
    ]
    for page in pages:
        rows = ([code(one.name), code(one.value), plain(one.source)] for one in page.settings)
        parts += [
            f"({page.name})=\n## {page.name}",
            plain(page.about),
            table(["setting", "value", "source"], rows),
        ]
    return together(parts)

"""The words of pages and tables, as the page of a trace has them."""

from __future__ import annotations

from rexmit.tracing.glossary import GLOSSARY
from rexmit_site.markdown import plain, table, together


def words() -> str:
    """A table a subject."""
    return together(
        part
        for about, every in GLOSSARY.items()
        for part in (
            f"## {about}",
            table(["word", "meaning", "source"], ([plain(cell) for cell in one] for one in every)),
        )
    )

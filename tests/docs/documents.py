"""The documents of the site, and the README."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexmit_site.blocks import NEEDS_KERNEL, Block, blocks

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
FINDINGS: Final = DOCS / "findings"
GALLERY: Final = DOCS / "gallery.md"


def documents() -> list[Path]:
    """All of them."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    assert len(found) > 40
    return found


def name(document: Path) -> str:
    """Its path in the repository."""
    return str(document.relative_to(ROOT))


def blocks_of(document: Path) -> list[Block]:
    """Its fenced blocks."""
    return blocks(document, document.read_text(encoding="utf-8"))


def needs_kernel(document: Path) -> bool:
    """It says so."""
    return NEEDS_KERNEL in document.read_text(encoding="utf-8").splitlines()

"""Places that documents name: they are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

_GALLERY: Final = ROOT / "docs" / "gallery.md"

_TOP: Final = (
    "crates",
    "python",
    "tests",
    "docs",
    "scripts",
    "kernel",
    "scenarios",
    "benches",
    "fuzz",
)
_PLACE: Final = re.compile(r"`((?:" + "|".join(_TOP) + r")/[\w./-]+)`")
_EXAMPLE: Final = re.compile(r"[A-Z]{4}$")
"""What stands for many, as `SERIES`."""
_LINK: Final = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
_ANCHOR: Final = re.compile(r"\]\((?!\w+:)([^)#\s]*\.md|)#([^)\s]+)\)")
_HEAD: Final = re.compile(r"^#+ (.*)$", re.MULTILINE)


def documents() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = [ROOT / name for name in listed.stdout.split()]
    assert ROOT / "README.md" in found
    return found


def missing(document: Path, text: str) -> list[str]:
    """Places and links of a document that lead nowhere."""
    places = [(name, ROOT / name) for name in _PLACE.findall(text)]
    links = [(name, document.parent / name) for name in _LINK.findall(text)]
    return [
        name
        for name, path in places + links
        if not path.exists() and not _EXAMPLE.search(name) and not _is_made(document, path)
    ]


def _is_made(document: Path, path: Path) -> bool:
    """The gallery's own commands make its pictures; tests/docs/test_pictures.py sees to that."""
    return document == _GALLERY and path.parent == _GALLERY.parent / "pictures"


def anchors(text: str) -> set[str]:
    """Of its headings, as GitHub makes them."""
    heads = [
        re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in _HEAD.findall(text)
    ]
    return set(heads)


def headless(document: Path, text: str) -> list[str]:
    """Links to headings that are not there."""
    found = []
    for name, anchor in _ANCHOR.findall(text):
        target = (document.parent / name).read_text(encoding="utf-8") if name else text
        if anchor not in anchors(target):
            found.append(f"{name}#{anchor}")
    return found


def test_documents_name_headings_that_are_there() -> None:
    told = {str(one.relative_to(ROOT)): headless(one, one.read_text()) for one in documents()}
    assert {name: heads for name, heads in told.items() if heads} == {}


def test_a_heading_that_is_not_there_is_told() -> None:
    text = (
        "# A `head`, here\n[one](#a-head-here) [two](#b) [three](docs/explanation/design.md#rooms)"
    )
    assert headless(ROOT / "README.md", text) == ["#b", "docs/explanation/design.md#rooms"]


def test_documents_name_places_that_are_there() -> None:
    # What changed long ago may name what went since.
    current = [one for one in documents() if one.name != "CHANGELOG.md"]
    told = {str(one.relative_to(ROOT)): missing(one, one.read_text()) for one in current}
    assert {name: places for name, places in told.items() if places} == {}


def test_a_place_that_is_not_there_is_told() -> None:
    text = "See `crates/tcp`, `crates/none/here.rs`, [one](README.md) and [two](docs/none.md#x)."
    assert missing(ROOT / "CONTRIBUTING.md", text) == ["crates/none/here.rs", "docs/none.md"]
    picture = "![one](pictures/none.png) and [two](none.md)"
    assert missing(ROOT / "docs" / "gallery.md", picture) == ["none.md"]
    assert missing(ROOT / "docs" / "index.md", picture) == ["pictures/none.png", "none.md"]


def test_the_containers_base_goes_by_its_digest() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    assert re.findall(r"^FROM (.*)$", text, re.MULTILINE) == ["${BASE}"]
    assert re.findall(
        r"^ARG BASE=docker\.io/library/debian@sha256:[0-9a-f]{64}$", text, re.MULTILINE
    )

"""The pictures of the gallery come out of its commands; those that are kept are these."""

from __future__ import annotations

import base64
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.docs.documents import DOCS, GALLERY

from rexmit_site import pictures

ROUNDED = 0.001
"""Of the pixels of a picture: another processor may round a coordinate otherwise."""

KEPT = ("figure-5.png", "ladder.png", "page.png")


def differing(one: Path, other: Path) -> float:
    """The share of pixels that differ."""
    pixels = [np.asarray(Image.open(path).convert("RGB")) for path in (one, other)]
    if pixels[0].shape != pixels[1].shape:
        return 1.0
    return float((pixels[0] != pixels[1]).any(axis=2).mean())


def test_pixels_that_differ_are_counted(tmp_path: Path) -> None:
    one, other, larger = (tmp_path / name for name in ("one.png", "other.png", "larger.png"))
    picture = Image.new("RGB", (10, 10), "white")
    picture.save(one)
    picture.putpixel((3, 4), (0, 0, 1))
    picture.save(other)
    picture.resize((20, 10)).save(larger)
    assert (differing(one, one), differing(one, other), differing(one, larger)) == (0, 0.01, 1)


@pytest.mark.slow
def test_pictures_are_what_the_commands_of_the_gallery_draw(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    # As `make docs` does; a process has one loop for browsers, and other tests may have it.
    subprocess.run(
        [sys.executable, "-m", pictures.__name__, GALLERY, tmp_path],
        env={**os.environ, "PYTHONPATH": str(DOCS / "_ext")},
        check=True,
    )
    shown = set(re.findall(r"\]\(pictures/([\w.-]+)\)", GALLERY.read_text(encoding="utf-8")))
    assert shown == {path.name for path in tmp_path.iterdir()}
    for name in KEPT:
        kept = DOCS / "pictures" / name
        told = f"{name} is not what is drawn now: `make docs` writes it"
        if name == "page.png":
            with Image.open(kept) as one, Image.open(tmp_path / name) as other:
                assert one.info[pictures.INPUTS] == other.info[pictures.INPUTS], told
        else:
            # Matplotlib and its letters are those of requirements-dev.lock.
            assert differing(kept, tmp_path / name) <= ROUNDED, told


def test_a_picture_that_is_there_is_not_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, kept = tmp_path / "made.png", tmp_path / "kept.png"
    made.write_bytes(b"one")
    pictures.keep(made, kept)
    assert kept.read_bytes() == b"one"
    capsys.readouterr()
    pictures.keep(made, kept)
    assert capsys.readouterr().out == ""
    made.write_bytes(b"two")
    pictures.keep(made, kept)
    assert (kept.read_bytes(), capsys.readouterr().out) == (b"two", "  kept.png\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.png", "made.png"]


def test_what_a_page_shows_is_known_by_all_but_its_head(tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    def digest(head: str, rows: bytes, text: str, level: int = 6) -> str:
        packed = base64.b64encode(gzip.compress(rows, level)).decode()
        page.write_text(
            f'<script type="x" id="head">{head}</script><script type="x" id="table-0-a">{packed}'
            f"</script><script>f()</script><p>{text}",
            encoding="utf-8",
        )
        return pictures.inputs(page, "view=1", (10, 10))

    first = digest("1", b"rows" * 99, "a")
    assert digest("2", b"rows" * 99, "a") == first
    assert digest("1", b"rows" * 99, "a", level=0) == first
    assert digest("1", b"rows" * 98, "a") != first
    assert digest("1", b"rows" * 99, "b") != first
    # The packets of another connection are not shown.
    packets = page.read_text(encoding="utf-8").replace("table-0-a", "packets-0-17")
    page.write_text(packets, encoding="utf-8")
    both = [pictures.inputs(page, f"connection={number}", (10, 10)) for number in (17, 18)]
    page.write_text(packets.replace("packets-0-17", "packets-0-18"), encoding="utf-8")
    assert pictures.inputs(page, "connection=17", (10, 10)) != both[0]
    assert pictures.inputs(page, "connection=18", (10, 10)) != both[1]


def test_commands_that_fail_are_told(tmp_path: Path) -> None:
    gallery = tmp_path / "gallery.md"
    gallery.write_text("```sh\necho no; false\n```\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"gallery.md:2: no"):
        pictures.main(gallery, tmp_path / "out")

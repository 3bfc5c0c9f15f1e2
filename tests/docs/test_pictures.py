"""The pictures of the gallery come out of its commands; those that are kept are these."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from PIL import Image
from tests.docs.documents import DOCS, GALLERY

from rexmit_site import pictures

KEPT = ("figure-5.png", "ladder.png", "page.png")


@pytest.mark.slow
def test_pictures_are_what_the_commands_of_the_gallery_draw(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    pictures.main(GALLERY, tmp_path)
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
            assert kept.read_bytes() == (tmp_path / name).read_bytes(), told


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
    page.write_text('<script type="x" id="head">1</script><p>a', encoding="utf-8")
    first = pictures.inputs(page, "view=1", (10, 10))
    page.write_text('<script type="x" id="head">2</script><p>a', encoding="utf-8")
    assert pictures.inputs(page, "view=1", (10, 10)) == first
    page.write_text('<script type="x" id="head">2</script><p>b', encoding="utf-8")
    assert pictures.inputs(page, "view=1", (10, 10)) != first


def test_commands_that_fail_are_told(tmp_path: Path) -> None:
    gallery = tmp_path / "gallery.md"
    gallery.write_text("```sh\necho no; false\n```\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"gallery.md:2: no"):
        pictures.main(gallery, tmp_path / "out")

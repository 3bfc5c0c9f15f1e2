"""Make the pictures of the documentation: run the commands of the gallery, keep what they draw.

  python -m rexmit_site.pictures GALLERY FOLDER    `make docs` calls it

A comment above a picture of the gallery says what it is: `<!-- picture: FILE -->` a file that the
commands wrote, `<!-- screenshot: FILE#ADDRESS WIDExTALL -->` a page in Chromium. A file is written
only where it is another one; a screenshot only where the page or its address is: a browser draws
letters otherwise on another machine.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from rexmit_site.blocks import blocks, commands, like

PICTURE: Final = re.compile(
    r"^<!-- (picture|screenshot): (\S+)(?: (\d+)x(\d+))? -->\n!\[[^]]*\]\(pictures/(\S+)\)$", re.M
)
ARGUMENTS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
"""Of Chromium: no screen, and nothing asked of a server."""

INPUTS: Final = "Inputs"
"""The key of a screenshot's text that says what was shown."""


def shell(text: str, folder: Path, place: str) -> list[str]:
    """What bash prints. Ends the program where it fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{place}: {done.stdout}")
    return done.stdout.splitlines()


def run_commands(gallery: Path, text: str, folder: Path) -> None:
    """All blocks of shell, in order; what stands below a command has to come."""
    for block in blocks(gallery, text):
        if block.language == "sh":
            shell(block.text, folder, block.place)
        elif block.language == "console":
            for command in commands(block.text):
                told = shell(command.typed, folder, block.place)
                if not like(command.shown, told):
                    sys.exit("\n".join([f"{block.place}: {command.typed} prints", *told]))


def keep(made: Path, kept: Path) -> None:
    """Put a picture in its place, unless it is there."""
    if kept.exists() and kept.read_bytes() == made.read_bytes():
        return
    new = kept.with_suffix(".new")
    shutil.copyfile(made, new)
    new.rename(kept)
    print(f"  {kept.name}")


CHUNK: Final = re.compile(r'<script [^>]*id="([^"]*)">([\w+/=]*)</script>', re.ASCII)


def inputs(page: Path, address: str, size: tuple[int, int]) -> str:
    """A digest of what a screenshot shows. A page's head says when it was made, by which commit;
    its data counts unpacked, since versions of zlib pack it otherwise. Of a connection only its
    packets count: other processors add up the columns of tables otherwise in their last digits.
    """
    connection = re.search(r"connection=(\d+)", address)
    alone = connection and f"packets-0-{connection[1]}"

    def unpacked(chunk: re.Match[str]) -> str:
        if chunk[1] in ("head", "end") or (alone and chunk[1] != alone):
            return ""
        return hashlib.sha256(gzip.decompress(base64.b64decode(chunk[2]))).hexdigest()

    text = CHUNK.sub(unpacked, page.read_text(encoding="utf-8"))
    return hashlib.sha256(f"{address} {size} {text}".encode()).hexdigest()


def screenshot(page: Path, address: str, size: tuple[int, int], kept: Path) -> None:
    """Show the page in Chromium, unless what is kept shows the same."""
    shown = inputs(page, address, size)
    if kept.exists():
        with Image.open(kept) as picture:
            if picture.info.get(INPUTS) == shown:
                return
    chromium = shutil.which("chromium")
    if chromium is None:
        there = "the one that is there stays" if kept.exists() else "it is left out"
        print(f"note: chromium is not installed: {kept.name}: {there}", file=sys.stderr)
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=chromium, args=[*ARGUMENTS, "--hide-scrollbars"]
        )
        width, height = size
        opened = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        opened.goto(f"file://{page}#{address}")
        opened.wait_for_selector("html[data-shown]")
        made = page.with_suffix(".png")
        opened.screenshot(path=made)
        browser.close()
    said = PngInfo()
    said.add_text(INPUTS, shown)
    with Image.open(made) as picture:
        picture.save(made, pnginfo=said, optimize=True)
    keep(made, kept)


def main(gallery: Path, out: Path) -> None:
    """Every picture of the gallery, into the folder `out`."""
    text = gallery.read_text(encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run_commands(gallery, text, place)
        for kind, what, wide, tall, name in PICTURE.findall(text):
            file, _, address = what.partition("#")
            if kind == "picture":
                keep(place / file, out / name)
            else:
                screenshot(place / file, address, (int(wide), int(tall)), out / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

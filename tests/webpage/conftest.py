"""Pages, and a real browser without a screen to open them in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.show.captures import pcapng, transfer

import rexmit
from rexmit_site.pictures import ARGUMENTS

CHROMIUM = shutil.which("chromium")

SMALL = {"network": "mobile", "config": "er,tlp", "loss.segments": "2..5", "repeat": 2}

Open = Callable[..., Page]
"""Opens a file at an address: `open(file, "connection=3", dark=True, wide=400)`."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; a fresh profile a run."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Browser) -> Iterator[Open]:
    """Opens pages. At the end none of them may have failed, or asked for anything."""
    contexts = []
    troubles: list[str] = []

    def opened(
        file: Path,
        address: str = "",
        *,
        dark: bool = False,
        wide: int = 1280,
        tall: int = 860,
        broken: bool = False,
    ) -> Page:
        context = browser.new_context(
            color_scheme="dark" if dark else "light", viewport={"width": wide, "height": tall}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on(
            "console",
            lambda said: (
                troubles.append(f"{said.type}: {said.text}")
                if said.type in ("error", "warning") and not broken
                else None
            ),
        )
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith(("file:", "blob:"))
                else troubles.append(f"asked for {asked.url}")
            ),
        )
        page.goto(f"file://{file}#{address}")
        if not broken:
            page.wait_for_selector("html[data-shown]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="session")
def new(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Run:
    """Linux 6.12 of the model, with captures."""
    out = tmp_path_factory.mktemp("runs") / "new"
    return rexmit.run("tlp-2013", engine="model", settings=SMALL, out=out, capture=True)


@pytest.fixture(scope="session")
def old(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Run:
    """The same on Linux 3.10."""
    out = tmp_path_factory.mktemp("runs") / "old"
    return rexmit.run(
        "tlp-2013", engine="model", stack="linux-3.10", settings=SMALL, out=out, capture=True
    )


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Trace:
    """Of 150 connections at a monitor midway, with the grid of what-if."""
    folder = tmp_path_factory.mktemp("traces")
    corpus = rexmit.synth(
        out=folder / "corpus", connections=150, mix="campus", seed=7, points=["switch"]
    )
    (capture,) = corpus.captures
    return rexmit.trace(capture.path, out=folder / "trace", whatif=["default", "grid"])


@pytest.fixture(scope="session")
def traced(trace: rexmit.Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of that trace."""
    return rexmit.report(trace, tmp_path_factory.mktemp("pages") / "trace.html").path


@pytest.fixture(scope="session")
def compared(old: rexmit.Run, new: rexmit.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of both runs and of what differs."""
    return rexmit.report(rexmit.diff(old, new), tmp_path_factory.mktemp("pages") / "diff.html").path


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One connection with three retransmissions."""
    file = tmp_path_factory.mktemp("captures") / "a.pcapng"
    pcapng(file, sorted(((p.ms, p, "") for p in transfer()), key=lambda entry: entry[0]))
    return file

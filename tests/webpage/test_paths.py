"""The paths of a connection of several: together on one axis of time, or one alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.webpage.conftest import Open

import rexmit


@pytest.fixture(scope="module")
def bursts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run over two paths, with captures."""
    folder = tmp_path_factory.mktemp("bursts")
    few = {"network": "20-30", "config": "mptcp-tlp", "repeat": 1}
    run = rexmit.run("mptcp-2017", engine="model", settings=few, out=folder / "r", capture=True)
    return rexmit.report(run, folder / "page.html").path


def test_paths_stand_beside_each_other_on_one_axis(bursts: Path, show: Open) -> None:
    page = show(bursts, "transfer=0")
    page.wait_for_selector(".both")
    expect(page.locator(".both > section")).to_have_count(2)
    assert [text[-6:] for text in page.locator(".both h2").all_inner_texts()] == [
        "path 1",
        "path 2",
    ]
    assert "part" not in page.locator("h1 + p").inner_text()
    expect(page.locator(".command")).to_have_count(1)
    whole = page.locator(".range").inner_text()
    page.get_by_role("button", name="Zoom in").click()
    expect(page).to_have_url(re.compile("transfer=0&t="))
    assert page.locator(".range").inner_text() != whole
    page.get_by_role("link", name="Ladders").click()
    expect(page).to_have_url(re.compile("view=ladder"))
    expect(page.locator(".both canvas:not(.icon)")).to_have_count(2)


def test_a_path_alone_has_its_packets(bursts: Path, show: Open) -> None:
    page = show(bursts, "transfer=0")
    page.get_by_role("link", name="this one alone").nth(1).click()
    expect(page.locator("h1")).to_contain_text("path 2")
    page.get_by_role("link", name="Packets").click()
    page.wait_for_selector(".rows .row")

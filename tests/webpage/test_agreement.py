"""The page of an agreement: both logs of a case beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.webpage.conftest import Open

import rexmit
from rexmit import _core
from rexmit.campaign.streams import core_streams
from rexmit_validate.agree import model
from rexmit_validate.agree.draw import draw
from rexmit_validate.agree.folder import About, Folder
from rexmit_validate.library.agree import judged

ABOUT = About("6.1.0-hz250-x", "6.1.0", 250, "k", "g", seed=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cases in which the model of Linux 6.12 stands for a kernel, to be held against 6.1, and one
    in which a packet went later."""
    path = tmp_path_factory.mktemp("agree") / "folder"
    cases = {index: draw(_core, 5, index) for index in range(8)}
    made = Folder.begin(path, ABOUT, cases)
    for number, case in cases.items():
        ours = model.Model(_core.run_model, core_streams(), "linux-6.1", 250)
        outcome = model.run(case, ours)
        if number == 3:
            # The third packet of the server leaves half a second late.
            packets = [list(row) for row in outcome["packets"]]
            third = [row for row in packets if row[1] == 0 and row[3] > 0][2]
            third[0] += 500_000_000
            packets.sort(key=lambda row: row[0])
            outcome = {**outcome, "packets": packets}
        made.add(number, outcome)
    return path


def test_cases_stand_in_a_table_and_part_where_the_terminal_says(
    folder: Path, tmp_path: Path, show: Open
) -> None:
    agreement = rexmit.agree_again(folder)
    cases = judged(agreement)
    assert [number for number, one in cases.items() if not one.exact] == [3]
    page = show(rexmit.report(folder, tmp_path / "page.html").path)
    expect(page.locator("main")).to_contain_text("every packet agrees")
    rates = page.locator("p.said", has_text="%")
    assert rates.count() > 2
    # What stands below each other on the terminal does so here.
    assert set(rates.evaluate_all("(all) => all.map((p) => getComputedStyle(p).fontFamily)")) == {
        'ui-monospace, "DejaVu Sans Mono", monospace'
    }
    page.get_by_role("link", name="Cases").click()
    page.wait_for_selector(".rows .row")
    expect(page.locator(".count")).to_have_text("8 rows")
    # The one that does not agree stands first.
    page.locator(".grid").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text(f"{cases[3].case.name}: kernel 6.1.0-hz250-x")
    verdict = cases[3].verdict
    assert verdict is not None
    assert verdict.difference is not None
    words = page.locator("p.parted").inner_text()
    assert f"data packet {verdict.difference.place + 1}, in {verdict.difference.what}" in words
    expect(page.locator(".both > section")).to_have_count(2)
    told = page.locator(".command code").inner_text()
    assert told == f"rexmit validate agree --case {folder / cases[3].case.name} --show"


def test_cases_that_agree_say_so(folder: Path, tmp_path: Path, show: Open) -> None:
    page = show(rexmit.report(folder, tmp_path / "page.html").path, "pair=0&view=ladder")
    assert "every packet agrees" in page.locator("main").inner_text()

"""The time line of a page."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Page, expect
from tests.trace.rows import connection, write_trace
from tests.webpage.conftest import Open

import rexmit


def numbers(page: Page) -> list[int]:
    """Connections and retransmissions of the stretch."""
    told = page.locator("aside p").first.inner_text()
    return [int(one.replace(",", "")) for one in re.findall(r"[\d,]*\d", told)]


def test_it_shows_the_whole(traced: Path, trace: rexmit.Trace, show: Open) -> None:
    page = show(traced)
    page.get_by_role("link", name="Time line").click()
    expect(page.locator("h1")).to_have_text("Time line")
    expect(page.locator(".plot canvas")).to_have_count(5)
    every = [trace.scan(name).collect().height for name in ("connections", "retransmissions")]
    assert numbers(page) == every
    rows = rexmit.groups(trace, "host")
    most = max(rows, key=lambda one: one.bytes)
    first = page.locator("aside tbody tr").first
    assert first.locator("td").first.inner_text() == most.key
    assert first.locator("td").nth(2).inner_text() == str(most.connections)


def test_a_stretch_that_is_marked_is_shown_and_leads_to_its_rows(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    page = show(traced, "view=time")
    box = page.locator(".u-over").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 1, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.1, middle, steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"view=time&t="))
    told = re.search(r"--from ([\d.]+) --to ([\d.]+)$", page.locator(".command code").inner_text())
    assert told is not None
    low, high = map(float, told.groups())
    within = trace.numbered().filter(pl.col("start_s") <= high, pl.col("end_s") >= low).collect()
    every = trace.numbered().collect().height
    assert 0 < within.height < every
    assert numbers(page)[0] == within.height
    again = show(traced, page.evaluate("location.hash")[1:])
    expect(again.locator("aside p").first).to_have_text(page.locator("aside p").first.inner_text())
    page.locator("aside a").first.click()
    expect(page.locator(".count")).to_have_text(f"{within.height:,} of {every:,}")
    page.go_back()
    page.get_by_role("button", name="All").click()
    expect(page).to_have_url(re.compile(r"#view=time$"))
    assert numbers(page)[0] == every


def test_what_is_under_the_pointer_is_told(traced: Path, show: Open) -> None:
    page = show(traced, "view=time")
    box = page.locator(".u-over").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.05, box["y"] + box["height"] / 2)
    tip = page.locator(".tip")
    expect(tip).to_contain_text("bit/s")
    expect(tip).to_contain_text("waiting: ")


@pytest.mark.parametrize("wide", [390, 1280])
def test_nothing_is_cut(traced: Path, show: Open, wide: int) -> None:
    page = show(traced, "view=time", wide=wide)
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(over) == 0
    aside, plots = page.locator("aside").bounding_box(), page.locator(".plot").last.bounding_box()
    assert aside is not None
    assert plots is not None
    beside = aside["x"] > plots["x"] + plots["width"]
    below = aside["y"] > plots["y"] + plots["height"]
    assert (beside, below) == (wide == 1280, wide == 390)


def test_foreign_text_stays_text(tmp_path: Path, show: Open) -> None:
    evil = "<img src=x onerror=alert(1)>:1 > 10.0.0.1:80"
    of = write_trace(tmp_path / "t", connections=[connection(flow=evil, forward_bytes=9)])
    page = show(rexmit.report(of, tmp_path / "page.html").path, "view=time")
    expect(page.locator("aside")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("aside img").count() == 0

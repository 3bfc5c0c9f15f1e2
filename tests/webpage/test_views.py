"""Every view of a page, clicked through in Chromium."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
from playwright.sync_api import Page, expect
from tests.webpage.conftest import Open

import rexmit
from rexmit.tracing.glossary import GLOSSARY


def rows(page: Page) -> list[list[str]]:
    """The rows that are drawn, in their order."""
    drawn = page.locator(".rows .row").evaluate_all(
        "(all) => all.map((row) => [Number(row.getAttribute('aria-rowindex')),"
        " [...row.children].map((cell) => cell.textContent)])"
    )
    return [cells for _, cells in sorted(drawn)]


def worst(trace: rexmit.Trace) -> int:
    found = trace.numbered().sort("waited_s", descending=True).select("number").collect()
    return int(found[0, 0])


def test_the_overview_says_what_the_terminal_says(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    page = show(traced)
    totals = rexmit.page(trace).summary.totals
    assert f"{totals.connections:,}, of" in " ".join(page.locator("dl").all_inner_texts())
    worst_line = page.locator("p.worst").first
    assert worst_line.inner_text().startswith(f"{worst(trace)} ")
    worst_line.locator("a").click()
    expect(page.locator("h1")).to_contain_text(f"flow {worst(trace)}: ")
    assert page.evaluate("location.hash") == f"#connection={worst(trace)}"


def test_a_mechanism_leads_to_its_retransmissions(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    page = show(traced)
    page.get_by_role("link", name="retransmission timeout (rto)").click()
    there = trace.scan("retransmissions").filter(pl.col("mechanism") == "rto").collect().height
    every = trace.scan("retransmissions").collect().height
    expect(page.locator(".count")).to_have_text(f"{there:,} of {every:,}")
    assert {row[5] for row in rows(page)} == {"rto"}


def test_a_table_sorts_filters_and_keeps_it_in_the_address(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    page = show(traced, "table=connections")
    waited = [float(row[4]) for row in rows(page)]
    assert waited == sorted(waited, reverse=True)
    assert waited[0] > waited[-1]
    page.get_by_role("columnheader", name="flow").get_by_role("button").click()
    flows = [row[1] for row in rows(page)]
    assert flows == sorted(trace.numbered().collect()["flow"])[: len(flows)]
    page.get_by_role("searchbox").fill("waited_s>0.2 443")
    number = (
        trace.numbered()
        .filter(pl.col("waited_s") > 0.2, pl.col("flow").str.contains("443"))
        .collect()
        .height
    )
    every = trace.numbered().collect().height
    assert 0 < number < every
    expect(page.locator(".count")).to_have_text(f"{number:,} of {every:,}")
    address = page.evaluate("location.hash")
    assert address == "#table=connections&filter=waited_s%3E0.2%20443&sort=flow"
    again = show(traced, address[1:])
    assert rows(again) == rows(page)
    page.get_by_role("searchbox").fill("nothing>1")
    expect(page.locator(".count")).to_contain_text("there is no column nothing")


def test_keys_walk_a_table_and_open_a_row(traced: Path, show: Open) -> None:
    page = show(traced, "table=connections")
    second = rows(page)[1][0]
    page.keyboard.press("End")
    last = page.locator(".rows .row.active")
    assert last.get_attribute("aria-rowindex") == page.locator(".grid").get_attribute(
        "aria-rowcount"
    )
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"#connection={second}$"))


def test_only_rows_in_view_are_drawn(traced: Path, trace: rexmit.Trace, show: Open) -> None:
    page = show(traced, "table=connections")
    every = trace.numbered().collect().height
    assert len(rows(page)) < 40 < every
    page.locator(".grid").evaluate("(grid) => grid.scrollTo(0, grid.scrollHeight)")
    # The browser tells of it in its next frame.
    page.wait_for_selector(f'.row[aria-rowindex="{every + 1}"]')
    assert float(rows(page)[-1][4]) == 0.0


def test_a_connection_zooms_and_comes_back_by_its_address(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    number = worst(trace)
    page = show(traced, f"connection={number}")
    expect(page.locator("canvas:not(.icon)")).to_have_count(3)
    whole = page.locator(".range").inner_text()
    page.get_by_role("button", name="Zoom in").click()
    expect(page).to_have_url(re.compile("&t="))
    narrow = page.locator(".range").inner_text()
    assert narrow != whole
    # The command shows the same place.
    start = trace.numbered().filter(pl.col("number") == number).collect()["start_s"][0]
    told = page.locator(".command code").inner_text()
    at = re.search(r"--flow (\d+) --at ([\d.]+)$", told)
    assert at is not None
    assert int(at[1]) == number
    low, high = map(float, page.evaluate("location.hash").split("t=")[1].split(".."))
    assert abs(float(at[2]) - start - (low + high) / 2) < 1e-3
    again = show(traced, page.evaluate("location.hash")[1:])
    assert again.locator(".range").inner_text()[:4] == narrow[:4]
    page.locator(".plot").first.focus()
    page.keyboard.press("0")
    expect(page.locator(".range")).to_have_text(whole)


def test_dragging_marks_a_stretch_and_the_wheel_zooms(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    page = show(traced, f"connection={worst(trace)}")
    box = page.locator(".u-over").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile("&t="))

    def shown() -> tuple[float, float]:
        page.wait_for_timeout(250)
        low, high = page.evaluate("location.hash").split("t=")[1].split("..")
        return float(low), float(high)

    first = shown()
    page.mouse.wheel(0, -100)
    second = shown()
    assert first[0] < second[0] < second[1] < first[1]
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, middle, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    third = shown()
    assert third[0] > second[0]
    assert abs((third[1] - third[0]) - (second[1] - second[0])) < 1e-3


def test_keys_say_each_retransmission_in_words(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    number = worst(trace)
    page = show(traced, f"connection={number}")
    page.locator(".plot").first.focus()
    page.keyboard.press("n")
    tip = page.locator(".tip:not([hidden])")
    expect(tip).to_contain_text("Retransmission")
    expect(tip).to_contain_text("timer")
    assert "Retransmission 1 of" in page.locator("#said").inner_text()


def test_the_pointer_shows_the_packet_under_it(capture: Path, tmp_path: Path, show: Open) -> None:
    page = show(rexmit.report(capture, tmp_path / "one.html").path, "connection=0")
    # Over the picture, until something is there.
    box = page.locator(".u-over").first.bounding_box()
    assert box is not None
    found = page.locator(".tip:not([hidden])")
    for share in range(1, 60):
        page.mouse.move(box["x"] + box["width"] * share / 60, box["y"] + box["height"] * 0.1)
        if found.count():
            break
    expect(found.first).to_contain_text("sequence number")


def test_a_ladder_and_the_packets_of_a_connection(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    number = worst(trace)
    page = show(traced, f"connection={number}&view=ladder")
    expect(page.locator("canvas:not(.icon)")).to_have_count(1)
    assert "all lines fall alike" in page.locator("main").inner_text()
    page.get_by_role("link", name="Packets").click()
    page.wait_for_selector(".rows .row")
    flow = rexmit.open_flow(trace, number)
    expect(page.locator(".count")).to_have_text(f"{len(flow.steps):,} rows")
    assert rows(page)[0][0] == "0.000000"


def test_a_connection_without_packets_says_how_to_get_them(
    trace: rexmit.Trace, tmp_path: Path, show: Open
) -> None:
    few = rexmit.report(trace, tmp_path / "few.html", connections=[worst(trace)])
    assert few.rules[0].startswith(f"This file has the packets of connection {worst(trace)}, of")
    other = next(n for n in trace.numbered().collect()["number"] if n != worst(trace))
    page = show(few.path, f"connection={other}")
    text = page.locator("main").inner_text()
    assert "Its packets are not in this file" in text
    assert f"--connections {other} -o report.html" in text


def test_sliders_have_what_was_computed_and_nothing_else(
    traced: Path, trace: rexmit.Trace, show: Open
) -> None:
    page = show(traced, "view=whatif&min_rto=100ms")
    (advice,) = (one for one in rexmit.page(trace).advice if one.setting == "min_rto=100ms")
    assert page.locator(".answer h2").inner_text() == "min_rto=100ms"
    told = page.locator(".answer tr", has_text="time saved").inner_text()
    assert float(told.split("\t")[1].split(" ")[0]) > 0
    assert abs(float(told.split("\t")[1].split(" ")[0]) - advice.saved_s) < 1e-3 or "ms" in told
    slider = page.get_by_label("RACK")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".answer")).to_contain_text("not computed")
    assert "--whatif min_rto=100ms,no-rack" in page.locator(".command code").inner_text()
    page.locator(".answer li button").first.click()
    expect(page.locator(".answer table")).to_be_visible()
    assert page.evaluate("location.hash").startswith("#view=whatif&")


def test_two_connections_beside_each_other(traced: Path, show: Open) -> None:
    page = show(traced)
    page.get_by_role("link", name="A connection").click()
    page.wait_for_selector("select")
    page.locator("select").select_option(index=1)
    page.wait_for_selector(".both")
    expect(page.locator(".both > section")).to_have_count(2)
    assert "They part at packet" in page.locator("p.parted").inner_text()


def test_both_sides_are_drawn_where_both_retransmit(
    trace: rexmit.Trace, traced: Path, show: Open
) -> None:
    rows = trace.scan("retransmissions").join(trace.numbered(), on="connection").collect()
    sides = rows.group_by("number").agg(pl.col("direction").unique()).sort("number")
    both = sides.filter(pl.col("direction").list.len() == 2)["number"][0]
    one = sides.filter(pl.col("direction").list.len() == 1)["number"][0]
    page = show(traced, f"connection={both}")
    assert page.locator("h2.side").all_inner_texts() == [
        "What the server sent",
        "What the client sent",
    ]
    expect(page.locator("canvas:not(.icon)")).to_have_count(4)
    assert show(traced, f"connection={one}").locator("h2.side").count() in (0, 2)


def test_a_transfer_and_its_repetition_do_not_part(
    old: rexmit.Run, show: Open, tmp_path: Path
) -> None:
    rows = old.transfers.with_row_index("row").filter(
        pl.col("config") == "er", pl.col("lost_segments") == 3
    )
    one, other = rows.sort("repetition")["row"].to_list()
    page = show(
        rexmit.report(old, tmp_path / "run.html", connections=[one, other]).path,
        f"transfer={one}&beside={other}",
    )
    said = page.locator("main > div > p").first.inner_text()
    assert re.fullmatch(
        "They do not part: every packet of the data's senders has the same range, mechanism and "
        r"fate\. In time they differ by [\d.]+ (s|ms|µs) at most\.",
        said,
    )


def test_two_engines_part_where_the_terminal_says(
    compared: Path, old: rexmit.Run, new: rexmit.Run, show: Open
) -> None:
    page = show(compared, "of=2&table=cells&filter=tlp%20t_total")
    page.locator(".grid").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".both")
    number = page.evaluate("location.hash").split("pair=")[1].split("&")[0]
    found = rexmit.diff_packets(old, new, number)
    assert found.first is not None
    words = page.locator("p.parted").inner_text()
    assert f"part at their packet {found.first.place:,}, in {', '.join(found.first.what)}" in words
    assert "linux-3.10" in page.locator(".both h2").first.inner_text()
    page.get_by_role("link", name="Ladders").click()
    expect(page).to_have_url(re.compile("view=ladder"))
    expect(page.locator(".both canvas:not(.icon)")).to_have_count(2)


def test_figures_stand_beside_the_papers(new: rexmit.Run, tmp_path: Path, show: Open) -> None:
    made = rexmit.report(rexmit.paper_page(new), tmp_path / "paper.html")
    page = show(made.path, "view=figures")
    figure = page.locator("section.figure", has_text="Figure 5b of the paper")
    expect(figure.locator(".legend")).to_contain_text("tlp, paper, 2013")
    figure.locator("summary").click()
    table4 = rexmit.table4(new, losses=5)
    (entry,) = (one for one in table4.blocks[0].t_total if one.config == "tlp")
    assert entry.paper is not None
    row = figure.locator("tr", has=page.locator("th", has_text=re.compile("^5$")))
    assert f"{entry.spread.mean_s:.4f}".rstrip("0") in row.inner_text()
    assert f"{entry.paper.mean_s:.4f}".rstrip("0") in row.inner_text()


def test_the_words_of_a_page_are_a_click_away(traced: Path, show: Open) -> None:
    page = show(traced)
    page.get_by_role("navigation").get_by_role("link", name="Words", exact=True).click()
    expect(page.locator("h1")).to_have_text("Words")
    spurious = page.locator("dt", has_text=re.compile("^spurious$")).locator("+ dd")
    expect(spurious).to_contain_text("an earlier copy had arrived")
    assert page.locator("dt").count() == sum(map(len, GLOSSARY.values()))


def test_dark_and_light(traced: Path, show: Open) -> None:
    def ground(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = show(traced), show(traced, dark=True)
    assert ground(light) == "rgb(255, 255, 255)"
    assert ground(dark) == "rgb(20, 24, 29)"
    light.get_by_role("button", name="Dark / light").click()
    assert ground(light) == ground(dark)


def test_a_narrow_window_cuts_nothing_off(traced: Path, trace: rexmit.Trace, show: Open) -> None:
    views = ("", f"connection={worst(trace)}", "view=whatif", "view=words", "table=connections")
    for address in views:
        page = show(traced, address, wide=420)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 420, address


def test_it_prints(traced: Path, trace: rexmit.Trace, show: Open, tmp_path: Path) -> None:
    page = show(traced, f"connection={worst(trace)}", dark=True)
    data = page.pdf(path=tmp_path / "page.pdf")
    assert data.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()


def test_screen_readers_have_names_for_all_that_acts(traced: Path, show: Open) -> None:
    page = show(traced, "table=connections")
    nameless = page.evaluate(
        "[...document.querySelectorAll('button,a,input,select,[role=grid],[role=toolbar]')]"
        ".filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label'))).length"
    )
    assert nameless == 0
    assert page.locator("html").get_attribute("lang") == "en"
    page.keyboard.press("Control+Home")
    assert page.get_by_role("grid").get_attribute("aria-rowcount") is not None

"""Nothing that comes from outside runs in a page, and a damaged page says so."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.show.captures import pcapng, transfer
from tests.webpage.conftest import Open

import rexmit

EVIL = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>'


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A page of a capture whose name closes scripts and titles, with evil comments in it."""
    image = "<img src=x onerror=window.ran=1>"
    folder = tmp_path / "a<" / f"script>{image}<" / f"title>{image}"
    folder.mkdir(parents=True)
    file = folder / f"{EVIL.replace('/', '')}.pcapng"
    pcapng(file, sorted(((p.ms, p, EVIL) for p in transfer()), key=lambda entry: entry[0]))
    return rexmit.report(file, tmp_path / "evil.html").path


def test_names_and_comments_of_captures_do_not_run(evil: Path, show: Open) -> None:
    text = evil.read_text(encoding="utf-8")
    assert "onerror" not in re.sub(r"<title>.*?</title>", "", text)
    for address in ("", "table=connections", "connection=0", "connection=0&view=packets"):
        page = show(evil, address)
        assert page.evaluate("window.ran") is None
        assert page.locator("img").count() == 0
    assert "onerror" in show(evil).locator("main").inner_text()


def test_words_of_a_scenario_do_not_run(tmp_path: Path, show: Open) -> None:
    scenario = tmp_path / "smoke.toml"
    smoke = (Path(__file__).parents[2] / "scenarios" / "smoke.toml").read_text(encoding="utf-8")
    scenario.write_text(
        re.sub(r'^title = ".*"$', f"title = '{EVIL}'", smoke, flags=re.M), encoding="utf-8"
    )
    assert EVIL in scenario.read_text(encoding="utf-8")
    run = rexmit.run(scenario, engine="model", out=tmp_path / "run")
    page = show(rexmit.report(run, tmp_path / "run.html").path)
    assert EVIL in page.locator("main").inner_text()
    assert page.evaluate("window.ran") is None
    assert page.locator("main img, main script").count() == 0


def test_addresses_do_not_run(traced: Path, show: Open) -> None:
    attack = "%3Cimg%20src%3Dx%20onerror%3Dwindow.ran%3D1%3E"
    names = (f"table={attack}", f"connection={attack}", f"of={attack}", f"pair={attack}")
    for address in (*names, f"view={attack}", f"table=connections&filter={attack}"):
        page = show(traced, address)
        assert page.evaluate("window.ran") is None
        assert page.locator("img").count() == 0


def test_the_policy_forbids_what_a_capture_could_bring(traced: Path, show: Open) -> None:
    page = show(traced, broken=True)
    page.wait_for_selector("html[data-shown]")
    ran = page.evaluate(
        """async () => {
            const refused = [];
            addEventListener("securitypolicyviolation", (event) => {
                refused.push(event.effectiveDirective);
            });
            const image = '<img src="data:," onerror="window.ran=1">';
            document.body.insertAdjacentHTML("beforeend", image);
            const script = document.createElement("script");
            script.textContent = "window.ran = 1";
            document.body.append(script);
            try { await fetch("http://127.0.0.1:9/"); } catch { refused.push("fetch"); }
            await new Promise((done) => setTimeout(done, 200));
            return [window.ran === undefined, refused];
        }"""
    )
    assert ran[0]
    assert {"img-src", "script-src-elem", "connect-src", "fetch"} <= set(ran[1])


def test_a_file_cut_short_says_so(traced: Path, tmp_path: Path, show: Open) -> None:
    data = traced.read_bytes()
    short = tmp_path / "short.html"
    short.write_bytes(data[: len(data) - 20_000])
    page = show(short, broken=True)
    page.wait_for_selector(".broken")
    assert "cut short" in page.locator(".broken").inner_text()
    assert " parts are missing" in page.locator(".broken").inner_text()
    short.write_bytes(data[: data.rindex(b'<script type="application/x-rexmit-end"')])
    page = show(short, broken=True)
    page.wait_for_selector(".broken")
    assert "cut short: its end is missing" in page.locator(".broken").inner_text()


def test_a_damaged_part_says_so_and_the_others_are_shown(
    traced: Path, tmp_path: Path, show: Open
) -> None:
    text = traced.read_text(encoding="utf-8")
    place = text.index('id="table-0-connections"') + 3_000
    other = "A" if text[place] != "A" else "B"
    damaged = tmp_path / "damaged.html"
    damaged.write_text(text[:place] + other + text[place + 1 :], encoding="utf-8")
    page = show(damaged)
    assert page.locator("dl").count()
    page = show(damaged, "table=connections")
    assert "table-0-connections is damaged" in page.locator(".broken").inner_text()
    assert show(damaged, "table=hosts").locator(".rows .row").count()


def test_damaged_programs_do_not_run(traced: Path, tmp_path: Path, show: Open) -> None:
    text = traced.read_text(encoding="utf-8")
    damaged = tmp_path / "program.html"
    damaged.write_text(text.replace("const FORMAT = 1;", "const FORMAT = 2;"), encoding="utf-8")
    page = show(damaged, broken=True)
    page.wait_for_timeout(300)
    assert "the file is damaged" in page.locator("#app").inner_text()


def test_the_same_data_gives_the_same_bytes(trace: rexmit.Trace, tmp_path: Path) -> None:
    first = rexmit.report(trace, tmp_path / "page.html").path
    second = tmp_path / "second.html"
    shutil.copy(first, second)
    rexmit.report(trace, first)
    assert first.read_bytes() == second.read_bytes()

"""How large a page is, how fast it opens, and how fast it pans, in headless Chromium.

    python benches/page.py [--connections 100000] [--rows 1000000] [PAGE.html]

Makes the page of so many synthetic connections (`rexmit validate synth --mix bench`), or takes one
that is there. Prints bytes, seconds to write the page, seconds until its overview and its table of
connections are shown, milliseconds to sort and to search that table, and frames a second (median
over a scripted pan of the connection with most packets in the page). Then the same of a page with a
table of so many rows, those of the connections again and again, and frames a second while it is
scrolled.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import polars as pl
from playwright.sync_api import Page, sync_playwright

import rexmit
from rexmit.library.report import report_table
from rexmit.webpage import scripts
from rexmit.webpage.assemble import assembled
from rexmit.webpage.part import Part, Table

ARGUMENTS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)

TICKS: Final = os.sysconf("SC_CLK_TCK")

SHOWN: Final = "html[data-shown]"

FRAMES: Final = """
() => new Promise((done) => {
    BEGIN
    const frames = [];
    let last = performance.now();
    const step = (now) => {
        frames.push(now - last);
        last = now;
        if (frames.length > 121) return done(frames.slice(2));
        STEP
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})
"""
"""The milliseconds of 120 frames, in each of which a step is made."""

PAN: Final = FRAMES.replace(
    "BEGIN",
    """
    const plot = document.querySelector(".plot");
    plot.focus();
    const press = (key) => plot.dispatchEvent(new KeyboardEvent("keydown", { key }));
    for (const key of "+++") press(key);
    """,
).replace("STEP", 'press(Math.floor(frames.length / 30) % 2 ? "ArrowLeft" : "ArrowRight");')

SCROLL: Final = FRAMES.replace("BEGIN", 'const grid = document.querySelector(".grid");').replace(
    # A wheel's step, and now and then far away.
    "STEP",
    "grid.scrollTop += frames.length % 20 ? 300 : grid.scrollHeight / 7;",
)


def made(connections: int, folder: Path) -> tuple[rexmit.Trace, Path]:
    """A synthetic capture at a monitor midway, analysed, and the page of it."""
    corpus = rexmit.synth(
        out=folder / "corpus",
        connections=connections,
        mix="bench",
        points=["switch"],
        format="pcap",
    )
    (capture,) = corpus.captures
    trace = rexmit.trace(capture.path, out=folder / "trace")
    began = time.perf_counter()
    page = rexmit.report(trace, folder / "page.html")
    print(f"written in            {time.perf_counter() - began:8.2f} s")
    return trace, page.path


def of_rows(trace: rexmit.Trace, rows: int, file: Path) -> Path:
    """A page with a table of so many rows."""
    once = report_table(trace, "connections")
    again = pl.concat([once] * (rows // once.height + 1))[:rows]
    table = Table("connections", "Connections", again, "true")
    part = Part("trace", "rows", [], [], [table])
    file.write_bytes(b"".join(assembled([part], "rows", "true")))
    return file


def timed(page: Page, address: str, wanted: str) -> tuple[float, float]:
    """Seconds from going there until something is shown, and CPU seconds of the whole browser."""
    page.goto("about:blank")
    began, used = time.perf_counter(), cpu_s()
    page.goto(address)
    page.wait_for_selector(wanted)
    return time.perf_counter() - began, cpu_s() - used


def cpu_s() -> float:
    """CPU seconds of all processes that this one started, and those that they did."""
    parents: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            stat = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents.setdefault(int(stat[1]), []).append(int(entry.name))
        used[int(entry.name)] = (int(stat[11]) + int(stat[12])) / TICKS
    total, left = 0.0, [os.getpid()]
    while left:
        for child in parents.get(left.pop(), []):
            total += used[child]
            left.append(child)
    return total


def largest(page: Page) -> str:
    """The address of the connection in the page with most packets, by its element's length."""
    return str(
        page.evaluate(
            """() => [...document.querySelectorAll('[id^="packets-0-"]')]
                .sort((a, b) => b.textContent.length - a.textContent.length)[0]
                .id.slice("packets-0-".length)"""
        )
    )


def measure(page: Page, file: Path) -> None:
    """Prints what there is to know of a page."""
    ours = sum(len(text().encode()) for text in (scripts.library, scripts.program, scripts.styles))
    print(
        f"page                  {file.stat().st_size / 1e6:8.2f} MB, of it programs and styles "
        f"{ours / 1e6:.2f} MB"
    )
    address = f"file://{file.resolve()}"
    opening(page, "overview opens in", address, SHOWN)
    measure_table(page, address)
    page.goto("about:blank")
    page.goto(f"{address}#connection={largest_of(page, address)}")
    page.wait_for_selector(".plot canvas")
    frames_a_second("pans at", page.evaluate(PAN))


def measure_rows(page: Page, rows: int, file: Path) -> None:
    """Prints how fast a long table is."""
    print(f"a table of            {rows:8,} rows, {file.stat().st_size / 1e6:.2f} MB")
    measure_table(page, f"file://{file.resolve()}")
    frames_a_second("scrolls at", page.evaluate(SCROLL))


def opening(page: Page, words: str, address: str, wanted: str) -> None:
    """Prints how long a view takes to be there."""
    both = [timed(page, address, wanted) for _ in range(5)]
    real, cpu = (statistics.median(times) for times in zip(*both, strict=True))
    print(f"{words:<21} {real:8.2f} s (median of 5; {cpu:.2f} s of CPU)")


def frames_a_second(words: str, frames: list[float]) -> None:
    """Prints how many there are, of the milliseconds that each took."""
    slow = sorted(frames)[int(0.95 * len(frames))]
    print(
        f"{words:<21} {1000 / statistics.median(frames):8.0f} frames a second "
        f"(median of {len(frames)}; 95 of 100 at {1000 / slow:.0f} or more)"
    )


def measure_table(page: Page, address: str) -> None:
    """Prints how long the table of connections takes to open, to be sorted and searched."""
    opening(page, "table opens in", f"{address}#table=connections", ".rows .row")
    for words, code in (
        ("sorted by a number", "document.querySelectorAll('.heads button')[3].click()"),
        ("sorted by a text", "document.querySelectorAll('.heads button')[1].click()"),
    ):
        took = page.evaluate(
            f"() => {{ const t = performance.now(); {code}; return performance.now() - t; }}"
        )
        print(f"{words:<21} {took:8.0f} ms")
    took = page.evaluate(
        """() => new Promise((done) => {
            const field = document.querySelector("input[type=search]");
            const count = document.querySelector(".count");
            field.value = "10.1 waited_s>0.1";
            const found = () => done(performance.now() - began - 120);
            new MutationObserver(found).observe(count, { childList: true });
            field.dispatchEvent(new Event("input"));
            const began = performance.now();
        })"""
    )
    print(f"searched in           {took:8.0f} ms (after a pause of 120 in typing)")


def largest_of(page: Page, address: str) -> str:
    """As `largest`, of a page that is opened for that."""
    page.goto(address)
    page.wait_for_selector(SHOWN)
    found = largest(page)
    page.goto("about:blank")
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("page", nargs="?", type=Path, help="a page that is there")
    parser.add_argument("--connections", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rexmit-page-") as name, sync_playwright() as started:
        trace, file = (None, asked.page) if asked.page else made(asked.connections, Path(name))
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*ARGUMENTS]
        )
        measure(browser.new_page(), file)
        if trace is not None:
            long = of_rows(trace, asked.rows, Path(name) / "rows.html")
            measure_rows(browser.new_page(), asked.rows, long)
        browser.close()


if __name__ == "__main__":
    main()

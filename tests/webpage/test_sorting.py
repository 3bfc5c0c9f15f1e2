"""Sorting and searching of many rows, against plain Python."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
from playwright.sync_api import Page
from tests.webpage.conftest import Open

from rexmit.webpage.assemble import assembled
from rexmit.webpage.part import Part, Table

ROWS = 40_000


def page_of(frame: pl.DataFrame, file: Path) -> Path:
    table = Table("all", "All", frame, "true")
    file.write_bytes(b"".join(assembled([Part("trace", "x", [], [], [table])], "x", "true")))
    return file


def ends(page: Page, column: int) -> tuple[list[str], list[str]]:
    """The first three and the last three values that stand in a column."""

    def drawn() -> list[str]:
        found = page.locator(".rows .row").evaluate_all(
            "(all, at) => all.map((row) => [Number(row.getAttribute('aria-rowindex')),"
            " row.children[at].textContent])",
            column,
        )
        return [text for _, text in sorted(found)]

    grid = page.locator(".grid")
    grid.evaluate("(grid) => grid.scrollTo(0, 0)")
    page.wait_for_selector('.row[aria-rowindex="2"]')
    first = drawn()[:3]
    grid.evaluate("(grid) => grid.scrollTo(0, grid.scrollHeight)")
    page.wait_for_selector(f'.row[aria-rowindex="{ROWS + 1}"]')
    return first, drawn()[-3:]


def test_numbers_and_texts_are_sorted_as_python_does(tmp_path: Path, show: Open) -> None:
    chance = random.Random(1)  # noqa: S311 - rows to sort
    numbers = [
        chance.choice([-1, 1]) * chance.random() * 10 ** chance.randint(-6, 6) for _ in range(ROWS)
    ]
    texts = ["".join(chance.choices("ab:.19", k=chance.randint(1, 20))) for _ in range(ROWS)]
    wide = [f"{text}ä\U0001f600" for text in texts]
    frame = pl.DataFrame({"number": numbers, "text": texts, "wide": wide})
    page = show(page_of(frame, tmp_path / "page.html"), "table=all")
    for at, (name, values) in enumerate({"text": texts, "wide": wide}.items(), start=1):
        ordered = sorted(values, key=lambda text: text.encode("utf-16-be"))
        for _ in range(2):
            page.locator(".heads button").nth(at).click()
            assert ends(page, at) == (ordered[:3], ordered[-3:]), name
            ordered.reverse()
    for descending in (False, True):
        page.locator(".heads button").first.click()
        first, last = ends(page, 0)
        least = sorted(numbers, reverse=descending)
        for found, wanted in ((first, least[:3]), (last, least[-3:])):
            for text, value in zip(found, wanted, strict=True):
                assert abs(float(text.replace(",", "")) - value) <= max(1e-6, 1e-3 * abs(value))


def test_what_is_searched_is_found_within_one_row(tmp_path: Path, show: Open) -> None:
    texts = [f"x{i}y" for i in range(ROWS)]
    page = show(page_of(pl.DataFrame({"text": texts}), tmp_path / "page.html"), "table=all")
    for word, number in (
        ("yx", 0),  # only across the end of one and the beginning of the next
        ("X39999", 1),
        ("99y", sum(text.endswith("99y") for text in texts)),
        ('"x1"', sum("x1" in text for text in texts)),
    ):
        page.get_by_role("searchbox").fill(word)
        page.wait_for_selector(f".count >> text=/^{number:,} of {ROWS:,}$/")

"""What is said of a result: the same on a terminal and in a page, and no name hides in it."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from typing import Any, Final

import pytest
from rich.console import Console
from tests.program.names import NAME, hold, texts_of

from rexmit.escaping import shown
from rexmit.present.show import room, show
from rexmit.result.blocks import (
    BLANK,
    PAGE,
    Block,
    Column,
    Facts,
    Grid,
    Line,
    Paragraph,
    Room,
    heading,
    note,
    table,
    warning,
)
from rexmit.webpage.assemble import assembled
from rexmit.webpage.part import Part, Section

ROWS: Final = ((NAME, 1_234), ("two", 5))

NUMBERS: Final = table(
    ROWS,
    Column("name", least=8, cell=lambda row: row[0]),
    ("bytes\nsent", lambda row: f"{row[1]:,}"),
    ((NAME, "of"), lambda row: (row[0], "below")),
    style=lambda row: "dim" if row[1] == 5 else "",
)

ALL: Final[tuple[Block, ...]] = (
    heading(f"About {NAME}"),
    Paragraph(NAME, "bold red"),
    Paragraph(NAME, whole=True),
    warning(NAME),
    note(NAME),
    BLANK,
    Facts(((NAME, NAME), ("", "goes on"))),
    Facts(()),
    NUMBERS,
    Grid((Column(),), (Line((f"across {NAME}",), "cyan", across=True), Line())),
)


def terminal(*blocks: Block, width: int = 80, styled: bool = False) -> str:
    out = io.StringIO()
    show(blocks, Console(file=out, width=width, force_terminal=styled))
    return out.getvalue()


def on_page(*blocks: Block) -> list[dict[str, Any]]:
    """The blocks as the browser reads them."""
    part = Part("trial", "trial", [], [Section("Trial", blocks, "rexmit")])
    page = b"".join(assembled([part], "trial", "rexmit")).decode()
    head = re.search(r'id="head">([^<]*)<', page)
    assert head is not None
    data = gzip.decompress(base64.b64decode(head[1]))
    size = int.from_bytes(data[:4], "little")
    told = json.loads(data[4 : 4 + size])["about"]
    (section,) = told["parts"][0]["sections"]
    found: list[dict[str, Any]] = section["blocks"]
    return found


@pytest.mark.parametrize("styled", [True, False])
@pytest.mark.parametrize("place", range(len(ALL)))
def test_no_name_hides_on_a_terminal(place: int, *, styled: bool) -> None:
    hold(terminal(ALL[place], width=10_000, styled=styled), styled=styled)


def test_no_name_hides_in_a_page() -> None:
    told = on_page(*ALL)
    assert [one["is"] for one in told] == [*["paragraph"] * 5, "facts", "grid", "grid"]
    for one in told:
        hold(texts_of(one))


def test_a_column_is_a_head_and_what_rows_have_below_it() -> None:
    lines = terminal(NUMBERS, width=10_000).splitlines()
    name = shown(NAME)
    assert [line.split() for line in (lines[0], lines[3], lines[5])] == [
        ["bytes", *name.split()],
        [*name.split(), "1,234", *name.split()],
        ["two", "5", "two"],
    ]
    (told,) = on_page(NUMBERS)
    assert told["heads"] == ["name", "bytes\nsent", f"{name}\nof"]
    assert told["right"] == [False, True, True]
    assert [row["look"] for row in told["rows"]] == ["", "dim"]
    assert told["rows"][1]["texts"] == ["two", "5", "two\nbelow"]


def test_what_a_page_has_of_a_style() -> None:
    looks = ["heading", "warning", "warning", "", "dim"]
    blocks = [heading("a"), Paragraph("a", "red"), warning("a"), Paragraph("a"), note("a")]
    assert [one["look"] for one in on_page(*blocks)] == looks
    assert on_page(warning("a"))[0]["text"] == "warning: a"
    assert on_page(BLANK, Facts(())) == []


def test_lines_wrap_on_a_terminal_only() -> None:
    words = "a sentence of some words that is longer than the terminal is wide"
    for block in (Paragraph(words, indent=4), Facts((("label", words),))):
        assert terminal(block, width=30).count("\n") == 1
        first, *more = terminal(block, width=30, styled=True).splitlines()
        assert len(first) <= 30
        assert more
        assert all(line.startswith("  ") for line in more)
    assert terminal(Paragraph(words, whole=True), width=30, styled=True).count("\n") == 1


def test_what_fits_where() -> None:
    narrow = Console(file=io.StringIO(), width=44, force_terminal=True)
    assert room(narrow) == Room(44, has_arrows=True, wraps=True)
    ascii_alone = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert room(Console(file=ascii_alone, width=90)) == Room(90, has_arrows=False)
    assert Room(10_000) == PAGE

"""A table's search field and heads in the browser, and the command that prints the same rows."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
from click.testing import CliRunner
from tests.webpage.conftest import Open

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.webpage.assemble import assembled
from rexmit.webpage.filter import fitting, ordered
from rexmit.webpage.part import Part, Table

ROWS = pl.DataFrame(
    {
        "number": range(6),
        "waited_s": [0.5, None, 0.25, 1.0, float("nan"), 0.25],
        "packets": [2**40, 3, None, 5, 5, 7],
        "spurious": [True, False, None, True, False, None],
        "mechanism": ["rto", "tlp", "RTO", None, "", "rack"],
        "flow": [
            "10.0.0.1:80 > b",
            "10.0.0.2:80 > b",
            None,
            "\u00c4\u00df b",
            "x null",
            "10.0.0.1",
        ],
    }
)

TERMS = {
    "": [0, 1, 2, 3, 4, 5],
    "10.0.0.1": [0, 5],
    "10.0.0.1 b": [0],
    '"> b"': [0, 1],
    "\u00e4": [3],
    "rto": [0, 2],
    "mechanism=rto": [0, 2],
    "mechanism!=rto": [1, 5],
    "mechanism=null": [3, 4],
    "mechanism!=null": [0, 1, 2, 5],
    "mechanism>rack": [0, 1, 2],
    "waited_s>0.25": [0, 3],
    "waited_s>=.25 waited_s<1": [0, 2, 5],
    "waited_s!=0.25": [0, 3],
    "waited_s<=5e-1": [0, 2, 5],
    "waited_s=null": [1, 4],
    "waited_s!=null": [0, 2, 3, 5],
    "packets=1099511627776": [0],
    "packets<+5": [1],
    "spurious=true": [0, 3],
    "spurious!=true": [1, 4],
    "spurious=null": [2, 5],
    "null": [4],
    "nothing": [],
}

ORDERS = {
    "waited_s": [2, 5, 0, 3, 1, 4],
    "-waited_s": [3, 0, 2, 5, 1, 4],
    "mechanism": [2, 5, 0, 1, 3, 4],
    "-mechanism": [1, 0, 5, 2, 3, 4],
    "-packets": [0, 5, 3, 4, 1, 2],
    "spurious": [1, 4, 0, 3, 2, 5],
    "flow": [5, 0, 1, 4, 3, 2],
}


@pytest.mark.parametrize(("terms", "rows"), TERMS.items())
def test_terms_choose_rows(terms: str, rows: Sequence[int]) -> None:
    assert fitting(ROWS, terms)["number"].to_list() == rows


@pytest.mark.parametrize(("sort", "rows"), ORDERS.items())
def test_rows_are_put_in_order(sort: str, rows: Sequence[int]) -> None:
    assert ordered(ROWS, sort)["number"].to_list() == rows


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ("rtt>1", "there is no column rtt"),
        ("waited_s>", "waited_s> is compared with nothing"),
        ("waited_s<null", "waited_s< is compared with nothing"),
        ("waited_s>long", "waited_s is compared with a number, not long"),
        ("waited_s>1_0", "waited_s is compared with a number, not 1_0"),
    ],
)
def test_terms_that_are_none(terms: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        fitting(ROWS, terms)


def test_an_order_by_no_column() -> None:
    with pytest.raises(UserError, match="there is no column rtt"):
        ordered(ROWS, "-rtt")


@pytest.mark.parametrize("long", [False, True], ids=["few", "many"])
def test_the_browser_does_the_same(long: bool, tmp_path: Path, show: Open) -> None:
    """With few texts, and with so many that they are kept in another way."""
    frame = ROWS
    if long:
        more = pl.DataFrame({"number": range(6, 1000)}, schema={"number": pl.Int64})
        more = more.with_columns(
            pl.format("z{}", "number").alias("mechanism"), pl.format("zz{}", "number").alias("flow")
        )
        frame = pl.concat([ROWS, more], how="diagonal")
    file = tmp_path / "page.html"
    table = Table("all", "All", frame, "rexmit report x --table all")
    file.write_bytes(b"".join(assembled([Part("trace", "x", [], [], [table])], "x", "true")))
    page = show(file, "table=all")
    seen = """(rows) => JSON.stringify(rows
        .map((row) => [Number(row.ariaRowIndex), Number(row.children[0].textContent)])
        .sort((a, b) => a[0] - b[0]).map((row) => row[1]))"""

    def shown(terms: str, sort: str) -> list[int]:
        page.evaluate("document.documentElement.removeAttribute('data-shown')")
        page.evaluate(
            f"location.hash = {json.dumps(f'table=all&filter={quote(terms)}&sort={sort}')}"
        )
        page.wait_for_selector("html[data-shown]")
        found: list[int] = json.loads(page.locator(".rows .row").evaluate_all(seen))
        return found

    for terms in TERMS:
        expected = fitting(frame, terms)["number"].to_list()
        found = shown(terms, "")
        assert found == expected[: len(found)], terms
        assert len(found) == len(expected) or len(found) > 10, terms
    for sort in ORDERS:
        expected = ordered(frame, sort)["number"].to_list()
        found = shown("", sort)
        assert found == expected[: len(found)], sort


def test_the_command_prints_what_the_page_shows(
    trace: rexmit.Trace, traced: Path, show: Open
) -> None:
    terms = "waited_s>0.2 mechanism!=tlp"
    address = f"table=retransmissions&filter={quote(terms)}&sort=waited_s"
    page = show(traced, address)
    words = shlex.split(page.locator(".command code").inner_text())
    assert words[0] == "rexmit"
    assert words[-2:] == [f"--where={terms}", "--sort=waited_s"]
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    rows = pl.read_csv(io.StringIO(done.stdout), infer_schema_length=None)
    whole = trace.scan("retransmissions").collect()
    assert 0 < rows.height < whole.height
    assert rows["waited_s"].to_list() == sorted(
        whole.filter(pl.col("waited_s") > 0.2, pl.col("mechanism") != "tlp")["waited_s"].to_list()
    )
    assert f"{rows.height:,} of " in page.locator(".count").inner_text()


def test_the_help_names_terms_that_there_are(trace: rexmit.Trace) -> None:
    told = " ".join(CliRunner().invoke(app, ["report", "--help"]).output.split())
    for table, terms in (
        ("retransmissions", "waited_s>0.5 mechanism=rto need=spurious"),
        ("connections", "rtt_median_s!=null"),
    ):
        assert terms in told
        assert rexmit.report_table(trace, table, where=terms).height > 0


def test_terms_without_a_table(traced: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(traced), "--where", "x"])
    assert isinstance(done.exception, UserError)
    assert "--where and --sort need --table" in str(done.exception)

"""Pages of captures that we did not make: no jargon, no wrong plural, no two numbers that disagree.

`REXMIT_CAPTURES` names a folder with more of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from tests.real.captures import HERE, committed, others

from rexmit.cli import app

JARGON: Final = (
    r"re-?s(?:end|ent)\w*",
    r"need(?:less|lessly)",
    r"seed",
    r"explains? it",
    r"none could",
    r"1 times",
    r"re-injected",
    r"0\.0+ m?s\b",
    r"(?:None|nan|null)\b",
    r"<0\.1% of",
)
"""What a reader who never saw rexmit stumbles over, and numbers that are nothing."""

NOUNS: Final = (
    "packet",
    "connection",
    "retransmission",
    "timeout",
    "client",
    "server",
    "file",
    "probe",
    "recovery",
    "subflow",
    "setting",
)

SINGULAR: Final = re.compile(rf"\b1 (?:\w+ )?({'|'.join(NOUNS)}|recoverie)s\b")
PLURAL: Final = re.compile(rf"(?<![\w.,/])(?:0|[2-9]|[1-9][\d,]*\d) ({'|'.join(NOUNS)})\b(?!s)")


def captures() -> list[Path]:
    """Those of the repository, and those of the folder that the environment names."""
    return [*committed(), *(path for path in others() if ".pcap" in path.name)]


@dataclass(frozen=True)
class Page:
    """The page as text, as data from the same run's tables, and as data where none was kept."""

    text: str
    data: dict[str, Any]
    passing: dict[str, Any]


@pytest.fixture(scope="module", params=captures(), ids=lambda path: path.name)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Page:
    import json

    folder = tmp_path_factory.mktemp("page") / "t"
    done = CliRunner().invoke(app, ["trace", str(request.param), "--out", str(folder)])
    assert done.exit_code == 0, done.output
    data, passing = (
        CliRunner().invoke(app, ["trace", str(of), "--json"]) for of in (folder, request.param)
    )
    # The capture's own name may hold any word.
    name = re.escape(request.param.name)
    return Page(
        re.sub(rf"\S*{name}|{re.escape(str(folder))}", "x", done.output),
        json.loads(data.output),
        json.loads(passing.output),
    )


def rounded(value: object) -> object:
    """Sums of parts that were taken in another order are alike to so many digits."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def test_it_is_the_same_where_no_table_is_kept(page: Page) -> None:
    assert rounded(page.passing) == rounded(page.data)


def test_no_jargon(page: Page) -> None:
    found = [word for word in JARGON if re.search(rf"(?<![\w.]){word}", page.text)]
    assert not found, page.text


def test_singular_and_plural(page: Page) -> None:
    wrong = [*SINGULAR.finditer(page.text), *PLURAL.finditer(page.text)]
    assert not wrong, (wrong[0][0], page.text)


def rows(page: Page, head: str) -> list[list[str]]:
    """The rows of the table whose head begins so, cut at two blanks."""
    lines = page.text.splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith(head)]
    found: list[list[str]] = []
    for line in lines[starts[0] + 2 :] if starts else []:
        if not re.search(r"\S {2,}\S", line):
            break
        found.append(re.split(r" {2,}", line.strip()))
    return found


def whole(word: str) -> int:
    return int(word.replace(",", ""))


def test_the_numbers_agree(page: Page) -> None:
    totals = page.data["totals"]
    told = re.search(r"^retransmissions  ([\d,]+) packets? in (.*): (.*)$", page.text, re.M)
    if not totals["retransmissions"]:
        assert told is None
        assert "retransmissions," not in page.text
        return
    assert told is not None
    number = whole(told[1])
    assert number == totals["retransmissions"]
    kinds = [whole(n) for n in re.findall(r"([\d,]+) (?:needed|spurious|not known)", told[3])]
    words = "needed", "spurious", "need not known"
    assert sum(kinds) == number or told[3].removeprefix("all ") in words
    table = rows(page, "retransmissions, by what caused them")
    assert sum(whole(row[1]) for row in table) == number
    for row in table:
        assert whole(row[1]) == sum(map(whole, row[3:6])), row
    volume = page.data["volume"]
    assert volume["data_packets"] + volume["other_packets"] == number
    assert volume["data_packets"] <= totals["segments"]
    assert volume["bytes"] <= totals["bytes"]
    senders = rows(page, "who retransmitted")
    by_senders = sum(one["retransmissions"] for one in page.data["senders"])
    if len(page.data["senders"]) <= len(senders):
        assert sum(whole(row[2]) for row in senders) == by_senders
    joined = sum(m["needed"] + m["spurious"] + m["unknown"] for m in page.data["mechanisms"])
    assert joined == number


def test_shares_are_none_above_the_whole(page: Page) -> None:
    above = re.split(r"^the (?:[\d,]+ )?connections? that waited", page.text, flags=re.M)[0]
    shares = [float(word) for word in re.findall(r"([\d.]+)%", above)]
    assert all(share <= 100 for share in shares), page.text


def test_counts_of_connections_are_within_all(page: Page) -> None:
    every = page.data["totals"]["connections"]
    for part, of in re.findall(r"([\d,]+) of ([\d,]+) connections", page.text):
        assert whole(part) < whole(of) == every


def test_advice_is_given_only_where_something_would_help(page: Page) -> None:
    said = re.search(r"would have saved (\S+ \S+) of the (\S+ \S+) waited \(([\d.]+)%\)", page.text)
    if said is None:
        return
    shorter = re.search(r"made ([\d,]+) connections? shorter", page.text)
    assert shorter is not None
    assert float(said[3]) >= 10 or whole(shorter[1]) > 0
    assert said[1] != "0 s"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "unanswered-syn",
            r"^no answer +the only connection: nothing came back for the SYN to ",
        ),
        ("unanswered-syn", r"the SYN was never answered$"),
        (
            "refused",
            r"^refused +the only connection: a RST came back for the SYN to 172\.16\.0\.102:80$",
        ),
        ("syn-tries", r"^no answer +the only connection: nothing came back for the SYN to "),
        ("refused", r": the SYN was refused by a RST$"),
        ("unanswered-syn", r"^retransmissions  2 packets in the only connection: need not known$"),
        ("dcerpc", r", by its SYN; its retransmissions "),
        (
            "zero-window",
            r"^zero window +the only connection: \S+:38760 closed its window once, for 24 s, and ",
        ),
    ],
)
def test_what_went_wrong_is_said(name: str, told: str) -> None:
    text = CliRunner().invoke(app, ["trace", str(HERE / f"{name}.pcap")]).output
    assert re.search(told, text, re.M), text

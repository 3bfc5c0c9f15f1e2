"""What stands between markers is made of results, and nothing else is touched."""

from __future__ import annotations

import re
from typing import Final

import pytest
from scripts.findings.documents import Source, filled
from scripts.findings.markdown import MINUS
from scripts.findings.results import Data


def source() -> dict[str, Source]:
    data = Data({"near": 14, "off_percent": -0.36, "holds": "holds"}, {"rows": [{"n": 3}]})
    return {"tlp": Source(data, {"all": lambda data: f"| {data.rows('rows')[0]['n']} |"})}


OFF: Final = f"{MINUS}0.4"
TEXT: Final = f"""Of them <!--=tlp.near-->14<!--/--> are near,
and they are <!--=tlp.off_percent:+.1f-->{OFF}<!--/--> % off.

<!-- results: tlp all -->

| 3 |

<!-- end -->

| <!--=tlp.holds-->holds<!--/--> | by hand: 7 |
"""


def test_what_is_in_order_stays() -> None:
    known = source()
    assert filled(TEXT, known) == TEXT
    assert known["tlp"].unused() == []


@pytest.mark.parametrize(
    ("old", "typed"),
    [("14", "15"), ("| 3 |", "| 4 |"), (OFF, "-0.4"), (">holds<", ">no<"), ("| 3 |", "")],
)
def test_what_was_typed_by_hand_is_put_right(old: str, typed: str) -> None:
    wrong = TEXT.replace(old, typed)
    assert wrong != TEXT
    assert filled(wrong, source()) == TEXT


def test_a_changed_value_changes_the_document() -> None:
    other = Source(
        Data({"near": 13, "off_percent": 0.0, "holds": "no"}, {}), {"all": lambda _: "none"}
    )
    assert filled(TEXT, {"tlp": other}) == (
        TEXT.replace("14", "13")
        .replace(OFF, "0.0")
        .replace("| 3 |", "none")
        .replace(">holds<", ">no<")
    )


def test_what_is_outside_of_markers_is_not_touched() -> None:
    text = TEXT.replace("by hand: 7", "by hand: 8")
    assert filled(text, source()) == text


@pytest.mark.parametrize(
    ("old", "typed", "says"),
    [
        ("tlp.near", "tlp.far", "there is no 'far'"),
        ("tlp.near", "mptcp.near", "no such result; there are tlp"),
        ("tlp all", "tlp some", "there is no 'some'"),
        ("<!--/--> are", " are", "without its other half"),
        ("<!-- end -->", "", "without its other half"),
        ("tlp.near", "tlp near", "in another form"),
        ("Of them ", "", "ends its paragraph"),
    ],
)
def test_markers_that_are_wrong_are_named(old: str, typed: str, says: str) -> None:
    wrong = TEXT.replace(old, typed, 1)
    assert wrong != TEXT
    with pytest.raises(ValueError, match=re.escape(says)):
        filled(wrong, source(), "tlp.md")


def test_what_no_document_takes_is_told() -> None:
    known = source()
    filled(TEXT.replace("<!--=tlp.near-->14<!--/-->", "14"), known)
    assert known["tlp"].unused() == ["value near"]
    empty = source()
    filled("no marker at all\n", empty)
    assert empty["tlp"].unused()[-1] == "table rows"

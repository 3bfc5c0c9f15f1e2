"""Amounts with units: exact, both ways, and clear about what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexmit.scenario.units import (
    DURATION,
    RATE,
    SIZE,
    Quantity,
    UnitError,
    parse_share,
    share_text,
)


@pytest.mark.parametrize(
    ("kind", "text", "amount"),
    [
        (RATE, "7.2Mbit", 7_200_000),
        (RATE, "100Mbit", 100_000_000),
        (RATE, "1.000000001Gbit", 1_000_000_001),
        (RATE, "64 kbit", 64_000),
        (RATE, "9600bit", 9600),
        (DURATION, "400ms", 400_000_000),
        (DURATION, "2.5ms", 2_500_000),
        (DURATION, "0.1s", 100_000_000),
        (DURATION, "0ms", 0),
        (DURATION, "256ns", 256),
        (DURATION, "0.3us", 300),
        (SIZE, "144kB", 144_000),
        (SIZE, "64KiB", 65_536),
        (SIZE, "1B", 1),
    ],
)
def test_amounts_are_exact(kind: Quantity, text: str, amount: int) -> None:
    assert kind.parse(text) == amount


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (RATE, "7.2", '"7.2" has no unit'),
        (RATE, 100, "100 has no unit"),
        (RATE, 7.2, "7.2 has no unit"),
        (RATE, "7.2MBit", 'unknown unit "MBit"; did you mean "7.2Mbit"?'),
        (RATE, "7.2MB", 'unknown unit "MB"; did you mean "7.2Mbit"?'),
        (RATE, "0Mbit", "is not between 1kbit and 1000Gbit"),
        (RATE, "0.0000001Mbit", "is no whole number of bits per second"),
        (DURATION, "2.5 seconds", 'unknown unit "seconds"'),
        (DURATION, "0.5ns", "is no whole number of nanoseconds"),
        (DURATION, "-5ms", '"-5ms" is no duration'),
        (DURATION, "1e3ms", '"1e3ms" is no duration'),
        (DURATION, "2h", 'unknown unit "h"'),
        (DURATION, "4000s", "is not between 0s and 3600s"),
        (SIZE, "144Mbit", 'unknown unit "Mbit"'),
        (SIZE, "0B", "is not between 1B and 4GB"),
        (SIZE, True, "true is no size"),
        (SIZE, "", '"" is no size'),
        (SIZE, None, "null is no size"),
        (SIZE, "٣kB", "is no size"),
    ],
)
def test_what_is_wrong_is_said(kind: Quantity, value: object, message: str) -> None:
    with pytest.raises(UnitError) as error:
        kind.parse(value)
    assert message in str(error.value)
    assert kind.example in error.value.allowed


@given(st.sampled_from([RATE, DURATION, SIZE]), st.data())
def test_text_reads_back(kind: Quantity, data: st.DataObject) -> None:
    amount = data.draw(st.integers(kind.least, kind.most))
    assert kind.parse(kind.text(amount)) == amount


@given(st.integers(0, 10**9))
def test_shares_read_back(billionths: int) -> None:
    share = billionths / 10**9
    assert parse_share(share_text(share)) == share


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("7.2Mbit", RATE, 7_200_000),
        ("400ms", DURATION, 400_000_000),
        ("2.5ms", DURATION, 2_500_000),
        ("120s", DURATION, 120 * 10**9),
        ("144kB", SIZE, 144_000),
        ("64KiB", SIZE, 65_536),
    ],
)
def test_text_is_what_a_person_writes(text: str, kind: Quantity, amount: int) -> None:
    assert kind.text(amount) == text


@pytest.mark.parametrize(
    ("text", "share"), [("0%", 0.0), ("1%", 0.01), ("0.1%", 0.001), ("100%", 1.0)]
)
def test_shares(text: str, share: float) -> None:
    assert parse_share(text) == share
    assert share_text(share) == text


@pytest.mark.parametrize("value", ["1", "0.01", 0.01, "101%", "-1%"])
def test_what_is_no_share(value: object) -> None:
    with pytest.raises(UnitError):
        parse_share(value)

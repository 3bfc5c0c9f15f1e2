"""Buffers of columns as frames."""

from __future__ import annotations

import struct

import polars as pl
import pytest

from rexmit.tracing.buffers import frame


def test_every_kind_and_its_null() -> None:
    made = frame(
        [
            ("n", "integer", struct.pack("=3q", 1, 2, 2**62), None),
            ("m", "integer", struct.pack("=3q", 1, 0, 3), b"\1\0\1"),
            ("x", "number", struct.pack("=3d", 0.5, float("nan"), -1.0), None),
            ("is", "boolean", b"\1\0\1", None),
            ("word", "text", struct.pack("=3i", 1, -1, 0), "a b\nc\n"),
        ]
    )
    assert made.to_dict(as_series=False) == {
        "n": [1, 2, 2**62],
        "m": [1, None, 3],
        "x": [0.5, None, -1.0],
        "is": [True, False, True],
        "word": ["c", None, "a b"],
    }
    kinds = [pl.Int64, pl.Int64, pl.Float64, pl.Boolean, pl.String]
    assert list(made.schema.values()) == kinds


def test_a_single_value_is_that_of_all_rows() -> None:
    made = frame(
        [
            ("of", "text", struct.pack("=3i", 0, 0, 0), "x.pcap\n"),
            ("n", "integer", struct.pack("=q", 7), None),
            ("m", "integer", struct.pack("=q", 0), b"\0"),
            ("x", "number", struct.pack("=d", float("nan")), None),
            ("is", "boolean", b"\1", None),
            ("word", "text", struct.pack("=i", -1), ""),
        ]
    )
    assert made.to_dict(as_series=False) == {
        "of": ["x.pcap"] * 3,
        "n": [7] * 3,
        "m": [None] * 3,
        "x": [None] * 3,
        "is": [True] * 3,
        "word": [None] * 3,
    }
    kinds = [pl.String, pl.Int64, pl.Int64, pl.Float64, pl.Boolean, pl.String]
    assert list(made.schema.values()) == kinds


def test_no_rows() -> None:
    made = frame([("word", "text", b"", ""), ("n", "integer", b"", b"")])
    assert made.schema == {"word": pl.String, "n": pl.Int64}
    assert made.is_empty()


def test_an_empty_text_is_a_text() -> None:
    assert frame([("word", "text", struct.pack("=2i", 0, 1), "\nx\n")])["word"].to_list() == [
        "",
        "x",
    ]


def test_another_kind() -> None:
    with pytest.raises(ValueError, match="column n has an unknown kind: complex"):
        frame([("n", "complex", b"", None)])

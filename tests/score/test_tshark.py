"""tshark's labels as claims: of a capture by hand, and its mapping."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.score.conftest import FLOW, analyse, retransmission, write_corpus
from tests.show.captures import ISN_SERVER, MSS, pcapng, transfer
from tests.tools import needs

from rexmit.errors import UserError
from rexmit_validate.score import tshark
from rexmit_validate.score.claims import SCHEMA
from rexmit_validate.score.corpus import open_corpus
from rexmit_validate.score.report import by_itself, report

needs_tshark = needs("tshark")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """The server's view of a transfer whose tail is probed for and then retransmitted twice."""
    path = tmp_path / "server.pcapng"
    packets = [(p.ms + (0 if p.server else 5), p, "") for p in transfer()]
    pcapng(path, sorted(packets, key=lambda entry: entry[0]))
    return path


@needs_tshark
def test_labels_of_a_capture(capture: Path) -> None:
    found = tshark.claims(capture)
    # The captures' times begin at 1000 s; the FIN of the probe takes a number of its own.
    assert found.select("flow", "time_ns", "seq_end").rows()[0] == (
        FLOW,
        1_000_084_000_000,
        (ISN_SERVER + 1 + 30 * MSS + 1) % 2**32,
    )
    assert found.height == 3
    assert set(found["label"]) <= set(tshark.LABELS)


@needs_tshark
def test_no_capture(tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(bytes(range(200)))
    with pytest.raises(UserError, match="tshark failed"):
        tshark.claims(tmp_path / "x.pcap")


def test_an_error_of_tshark_ends_the_score(tmp_path: Path) -> None:
    def labels(_: Path) -> pl.DataFrame:
        raise UserError("tshark failed")

    corpus = open_corpus(write_corpus(tmp_path / "truth", [retransmission()]))
    with pytest.raises(UserError, match="tshark failed"):
        report(corpus, by_itself(analyse), labels)


def test_the_mapping(tmp_path: Path) -> None:
    """Each label once, of a retransmission that is what it says, and one of what is none."""
    names = ("rto", "rack", "tlp", "sack-recovery", "rto-recovery")
    labels = ("retransmission", "fast", "spurious", "out-of-order", None)
    truth = [
        retransmission(
            sender_ns=(i + 1) * 10**9, mechanism=name, need="spurious" if i == 2 else "needed"
        )
        for i, name in enumerate(names)
    ]
    rows = [
        {
            "flow": FLOW,
            "time_ns": (i + 1) * 10**9,
            "seq_start": 1000,
            "seq_end": 2448,
            "mechanism": {"fast": "recovery", "retransmission": "timeout"}.get(label),
            "need": "spurious" if label == "spurious" else "needed",
            "pair": None,
            "confidence": None,
            "label": label,
        }
        for i, label in enumerate((*labels, "fast", "out-of-order"))
        if label
    ]
    frame = pl.DataFrame(rows, schema={**SCHEMA, "label": pl.String()})
    corpus = open_corpus(write_corpus(tmp_path / "truth", truth))
    made = report(corpus, by_itself(analyse), lambda _: frame).at("sender").tshark
    assert made is not None
    assert made.labels == Counter(
        {
            ("rto", "retransmission"): 1,
            ("rack", "fast"): 1,
            ("tlp", "spurious"): 1,
            ("sack-recovery", "out-of-order"): 1,
            ("rto-recovery", "missed"): 1,
            ("invented", "fast"): 1,
        }
    )
    assert dict(made.classes.counts) == {
        ("timeout", "timeout"): 1,
        ("recovery", "recovery"): 1,
        ("timeout", "unknown"): 1,
        ("recovery", "missed"): 1,
        ("timeout", "missed"): 1,
        ("invented", "recovery"): 1,
    }
    assert made.needs.right == 3
    assert made.needs.missed == 2

"""Rows judged with their packets, by hand; and what the model knows to be true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
from tests.real import oracle, packets
from tests.real.hold import compare
from tests.real.judge import Judged, judged
from tests.real.script import Script
from tests.real.zeroed import zeroed
from tests.tools import needs

from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import RETRANSMISSIONS

FLOW = "10.0.0.1:80 > 10.0.0.2:4000"


def row(packet: packets.Packet, mechanism: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    made: dict[str, Any] = {column.name: None for column in RETRANSMISSIONS}
    made |= {"flow": FLOW, "time_ns": packet.time_ns, "mechanism": mechanism, "confidence": 0.99}
    made |= {"seq_start": packet.seq, "seq_end": packet.seq + packet.length, "either": False}
    return made | {"need": "needed", "evidence": "dsack"} | values


def judge(script: Script, *rows: dict[str, Any]) -> list[Judged]:
    account = script.account()
    table = pl.DataFrame(rows, schema=polars_schema(RETRANSMISSIONS))
    return judged(account, compare(account, table).said)


def timeouts(*waits: float) -> Script:
    """Segments that time out after so many milliseconds, each acknowledged then."""
    script, at, seq = Script().handshake(), 100.0, 1
    for wait in waits:
        script.data(at, seq, 100).data(at + wait, seq, 100).ack(at + wait + 40, seq + 100)
        at, seq = at + wait + 100, seq + 100
    return script


def copies(script: Script) -> list[packets.Packet]:
    return [one.packet for one in script.account() if one.kind == "certain"]


def test_a_short_timer_is_believed_where_it_shows_twice() -> None:
    once = timeouts(90, 300)
    first, second = judge(once, *(row(packet, "rto") for packet in copies(once)))
    assert first.impossible == "less than 200 ms, once only"
    assert second.impossible is None
    twice = timeouts(90, 100)
    assert not any(one.impossible for one in judge(twice, *(row(p, "rto") for p in copies(twice))))


def test_a_short_timer_is_believed_where_it_doubles() -> None:
    script = Script().handshake().data(100, 1, 100).data(190, 1, 100).data(370, 1, 100)
    assert not any(
        one.impossible for one in judge(script, *(row(p, "rto") for p in copies(script)))
    )


def test_a_pair_is_impossible_where_both_are() -> None:
    script = timeouts(300)
    (packet,) = copies(script)
    (pair,) = judge(script, row(packet, "rack", runner_up="rto", either=True))
    assert pair.impossible is None
    (pair,) = judge(script, row(packet, "rack", runner_up="fack", either=True))
    assert pair.impossible is not None
    (alone,) = judge(script, row(packet, "rack", runner_up="rto"))
    assert alone.impossible is not None
    assert alone.sure
    assert alone.frame == packet.number


def test_unknown_is_not_judged_and_a_row_without_a_packet_is_impossible() -> None:
    script = timeouts(300)
    (packet,) = copies(script)
    (unknown,) = judge(script, row(packet, "unknown", confidence=0.0))
    assert not unknown.wrong
    assert not unknown.named
    (nowhere,) = judge(script, row(packet, "rto", time_ns=5))
    assert nowhere.impossible == "no such packet"


@needs("tshark")
def test_what_is_true_in_a_corpus_of_the_model_is_possible(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    words = [sys.executable, "-m", "rexmit", "validate", "synth"]
    words += ["--mix", "campus,server-farm,wireless", "--connections", "100", "--seed", "77"]
    subprocess.run([*words, "--out", str(out)], check=True, timeout=300)
    truth = pl.read_parquet(out / "retransmissions.parquet")
    total = 0
    for capture in sorted((out / "captures").iterdir()):
        part, at = capture.stem.rsplit("-", 1)
        here = truth.filter(pl.col("part") == part, pl.col(f"{at}_ns").is_not_null())
        columns = here.select(
            "flow", "seq_start", "seq_end", "mechanism", pl.col(f"{at}_ns").alias("time_ns")
        )
        rows = pl.DataFrame(
            [_sure() | one for one in columns.iter_rows(named=True)],
            schema=polars_schema(RETRANSMISSIONS),
        )
        account = oracle.account(packets.read(capture))
        made = judged(account, compare(account, rows).said)
        assert not [one for one in made if one.impossible], capture.name
        total += len(made)
    assert total > 300


def _sure() -> dict[str, Any]:
    empty: dict[str, Any] = {column.name: None for column in RETRANSMISSIONS}
    return empty | {"confidence": 1.0, "either": False, "need": "needed", "evidence": "drop"}


@needs("tshark")
def test_a_zeroed_capture_has_the_same_packets_without_identifications() -> None:
    capture = Path(__file__).parent / "captures"
    path = next(one for one in sorted(capture.iterdir()) if one.suffix in (".pcap", ".gz"))
    before = list(packets.read(path))
    assert any(packet.ip_id for packet in before)
    with zeroed(path) as copy:
        after = list(packets.read(copy))
    assert not any(packet.ip_id for packet in after)
    assert [(p.time_ns, p.flow, p.seq, p.length, p.options) for p in after] == [
        (p.time_ns, p.flow, p.seq, p.length, p.options) for p in before
    ]

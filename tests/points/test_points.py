"""Captures of the same connections at several points: recognised, aligned, followed, told."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.progress import Silent
from rexmit.tracing.points.recognise import recognise
from rexmit.validate.score.corpus import Corpus

runner = CliRunner()

_ENHANCED = 6
_HOUR_NS = 3_600_000_000_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Captures of the model's stacks at three points, and the truth of each retransmission."""
    folder = tmp_path_factory.mktemp("points") / "corpus"
    return rexmit.synth(
        mix="campus,wireless", connections=60, seed=1601, kinds=("offload",), out=folder
    )


def capture(corpus: Corpus, part: str, point: str) -> Path:
    """One of them."""
    return next(one.path for one in corpus.captures if (one.part, one.point) == (part, point))


def rewritten(
    source: Path,
    target: Path,
    *,
    time: Callable[[int], int] = lambda at: at,
    address: Callable[[bytes], bytes] = lambda ip: ip,
) -> Path:
    """A capture with other times and IPv4 headers."""
    data, made, at = source.read_bytes(), bytearray(), 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        block = bytearray(data[at : at + size])
        if kind == _ENHANCED:
            high, low, kept, _ = struct.unpack_from("<IIII", block, 12)
            now = time(high << 32 | low)
            struct.pack_into("<II", block, 12, now >> 32, now & 0xFFFFFFFF)
            block[28 : 28 + kept] = address(bytes(block[28 : 28 + kept]))
        made += block
        at += size
    target.write_bytes(made)
    return target


def translated(packet: bytes) -> bytes:
    """Behind a router that gives the hosts of 10.0.0.0/8 addresses of 192.0.0.0/8 and other ports,
    and packets other identifications."""
    if packet[0] >> 4 != 4:
        return packet
    made = bytearray(packet)
    made[4:6] = b"\0\0"
    made[8] -= 3
    for place in (12, 16):
        if made[place] == 10:
            made[place] = 192
    return bytes(made)


def needs(trace: rexmit.Trace) -> pl.DataFrame:
    """What is said of the retransmissions."""
    columns = ["seq_start", "seq_end", "mechanism", "need"]
    return trace.scan("retransmissions").select(columns).collect().sort(columns)


@pytest.mark.parametrize("points", [("sender", "receiver"), ("sender", "switch", "receiver")])
def test_both_ends_know_need_and_place(corpus: Corpus, points: tuple[str, ...]) -> None:
    made = rexmit.score(corpus, points=points)
    assert made.points == ("+".join(points),)
    plain = [score for *_, part, score in made.scores if "+" not in part]
    assert sum(score.needs.retransmissions for score in plain) > 50
    for score in plain:
        assert score.needs.accuracy == 1
        assert score.places is not None
        assert score.places.accuracy == 1


def test_they_are_not_worse_than_the_better_one(corpus: Corpus) -> None:
    both = rexmit.score(corpus, points=("sender", "receiver")).at("sender+receiver")
    alone = rexmit.score(corpus, with_tshark=False)
    for of in ("mechanisms", "needs"):
        best = max(getattr(alone.at(point), of).accuracy or 0 for point in ("sender", "receiver"))
        assert (getattr(both, of).accuracy or 0) >= best


def test_lost_segments_are_those_that_were_lost(corpus: Corpus) -> None:
    captures = [capture(corpus, "campus", point) for point in ("sender", "receiver")]
    trace = rexmit.trace(captures, whatif=())
    legs = trace.scan("legs").collect()
    lost = legs.group_by("flow").agg((pl.sum("lost") - pl.sum("acks_lost")).alias("found"))
    known = corpus.connections.filter(pl.col("part") == "campus")
    beside = known.join(lost, on="flow", how="left")
    assert beside["found"].null_count() == 0
    assert beside.filter(pl.col("found") < pl.col("lost_segments")).is_empty()


def test_clocks_and_addresses_may_differ(corpus: Corpus, tmp_path: Path) -> None:
    near, far = (capture(corpus, "campus", point) for point in ("sender", "receiver"))
    plain = rexmit.trace([near, far], points=("a", "b"), whatif=())
    shifted = rewritten(
        far,
        tmp_path / "far.pcapng",
        time=lambda at: at + _HOUR_NS + at % 10**15 * 50 // 10**6,
        address=translated,
    )
    other = rexmit.trace([near, shifted], points=("a", "b"), whatif=())
    assert needs(other).equals(needs(plain))
    clock = other.scan("points").collect().row(1, named=True)
    spare = clock["offset_uncertainty_s"]
    assert abs(clock["offset_s"] - 3600) < 60
    assert clock["drift_low_ppm"] <= 50 <= clock["drift_high_ppm"]
    assert 0 < spare < 1
    places = [one.scan("followed").select("lost").collect()["lost"] for one in (plain, other)]
    assert places[0].value_counts(sort=True).equals(places[1].value_counts(sort=True))
    assert other.scan("connections").collect().height == plain.scan("connections").collect().height


def test_of_what_is_one_capture_nothing_changes(corpus: Corpus, tmp_path: Path) -> None:
    one = capture(corpus, "campus", "sender")
    other = capture(corpus, "wireless", "sender")
    copy = tmp_path / "copy.pcapng"
    copy.write_bytes(one.read_bytes())
    assert recognise([one, other], None, Silent()) is None
    assert recognise([one, copy], None, Silent()) is None
    assert recognise([one], None, Silent()) is None
    trace = rexmit.trace([one, other], whatif=(), out=tmp_path / "t")
    assert trace.points == []
    assert not (tmp_path / "t" / "legs.parquet").exists()
    assert trace.scan("legs").collect().is_empty()


def test_what_is_asked_wrongly_is_told(corpus: Corpus) -> None:
    one, other = (capture(corpus, "campus", point) for point in ("sender", "receiver"))
    strange = capture(corpus, "wireless", "receiver")
    for files, names, told in [
        ([one, other], ["a"], "1 names for 2 captures"),
        ([one, other], ["a", "a"], "1 points"),
        ([one, strange], ["a", "b"], "no packet of the captures at a"),
        ([one, Path("gone.pcap")], ["a", "b"], "there is no such file"),
    ]:
        with pytest.raises(UserError, match=told):
            rexmit.trace(files, points=names)
    with pytest.raises(UserError, match="two or three different points"):
        rexmit.score(corpus, points=("sender", "sender"))


def test_the_page_and_the_ladder_tell(corpus: Corpus, tmp_path: Path) -> None:
    files = [str(capture(corpus, "campus", point)) for point in ("sender", "receiver")]
    folder = str(tmp_path / "t")
    told = runner.invoke(app, ["trace", *files, "--points", "h1,h2", "--out", folder, "--csv"])
    assert told.exit_code == 0, told.output
    assert "h1 to h2" in told.output
    assert "more or less" in told.output
    page = json.loads(runner.invoke(app, ["trace", folder, "--json"]).output)
    assert [clock["point"] for clock in page["points"]["clocks"]] == ["h1", "h2"]
    trace = rexmit.trace(folder)
    lost = trace.scan("followed").filter(pl.col("kind") == "data", pl.col("lost").is_not_null())
    number = lost.collect()["connection"][0]
    shown = runner.invoke(app, ["show", folder, "--flow", str(number), "--json"])
    assert shown.exit_code == 0, shown.output
    data = json.loads(shown.output)
    assert sorted(data["points"]) == ["h1", "h2"]
    mine = lost.filter(pl.col("connection") == number).collect().height
    gone = [one for one in data["packets"] if one["lost"] and one["payload_bytes"]]
    assert len(gone) == mine
    for packet in data["packets"]:
        if packet["sent_ns"] is not None and packet["arrived_ns"] is not None:
            assert packet["arrived_ns"] >= packet["sent_ns"]

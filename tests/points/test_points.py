"""Captures of the same connections at several points: recognised, aligned, followed, told."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.trace.scripted import ACK, SYN, Packet, write

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.progress import Silent
from rexmit.tracing.points.recognise import recognise
from rexmit_validate.score.corpus import Corpus

runner = CliRunner()

_ENHANCED = 6
_HOUR_NS = 3_600_000_000_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Captures of the model's stacks at three points, and the truth of each retransmission."""
    folder = tmp_path_factory.mktemp("points") / "corpus"
    made: Corpus = rexmit.synth(
        mix="campus,wireless", connections=60, seed=1601, kinds=("offload",), out=folder
    )
    return made


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


def cut(data: bytes, share: float, *, rest: bool = False) -> bytes:
    """The blocks of a capture up to this share of its packets, or those from there on."""
    packets, at = [], 0
    head = b""
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == _ENHANCED:
            packets.append(data[at : at + size])
        else:
            head += data[at : at + size]
        at += size
    place = int(len(packets) * share)
    return head + b"".join(packets[place:] if rest else packets[:place])


_ETHERNET = 14


def translated(packet: bytes) -> bytes:
    """Behind a router that gives the hosts of 10.0.0.0/8 addresses of 192.0.0.0/8 and other ports,
    and packets other identifications."""
    made = bytearray(packet)
    ip = _ETHERNET
    assert made[ip] >> 4 == 4
    made[ip + 4 : ip + 6] = b"\0\0"
    made[ip + 8] -= 3
    tcp = ip + (made[ip] & 15) * 4
    for address, port in ((ip + 12, tcp), (ip + 16, tcp + 2)):
        if made[address] == 10:
            made[address] = 192
            made[port] ^= 1
    return bytes(made)


_IPV4 = struct.pack(
    ">BBHHHBBH4s4s", 0x45, 0, 0, 7, 0, 64, 17, 0, b"\x0a\x09\0\x01", b"\x0a\x09\0\x02"
)
_OUTER = 20 + 8 + 8 + 14


def tunnelled(packet: bytes) -> bytes:
    """The frame in VXLAN (RFC 7348 §5) between two addresses of 10.9.0.0/16."""
    total = struct.unpack_from(">H", packet, _ETHERNET + 2)[0] + _OUTER
    ip = bytearray(_IPV4)
    struct.pack_into(">H", ip, 2, total)
    udp = struct.pack(">HHHH", 49_152, 4_789, total - 20, 0)
    vxlan = struct.pack(">II", 0x0800_0000, 7 << 8)
    return packet[:_ETHERNET] + bytes(ip) + udp + vxlan + packet


def wrapped(source: Path, target: Path) -> Path:
    """A capture of Ethernet with each packet in a tunnel, cut to what it held before and the outer
    headers."""
    data, made, at = source.read_bytes(), bytearray(), 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        block = data[at : at + size]
        if kind == _ENHANCED:
            face, high, low, kept, length = struct.unpack_from("<IIIII", block, 8)
            packet = tunnelled(block[28 : 28 + kept])
            padded = packet + bytes(-len(packet) % 4)
            total = 32 + len(padded)
            head = struct.pack("<II", kind, total)
            head += struct.pack("<IIIII", face, high, low, len(packet), length + _OUTER)
            block = head + padded + struct.pack("<I", total)
        made += block
        at += size
    target.write_bytes(made)
    return target


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


def test_a_tunnel_translation_and_drift_change_nothing_that_is_said(
    corpus: Corpus, tmp_path: Path
) -> None:
    near, far = (capture(corpus, "campus", point) for point in ("sender", "receiver"))
    plain = rexmit.trace([near, far], points=("a", "b"), whatif=())
    drifts = rewritten(
        far,
        tmp_path / "drifts.pcapng",
        time=lambda at: at - _HOUR_NS + at % 10**15 * 300 // 10**6,
        address=translated,
    )
    inside = wrapped(drifts, tmp_path / "inside.pcapng")
    other = rexmit.trace([near, inside], points=("a", "b"), whatif=())
    assert other.scan("legs").collect().height == plain.scan("legs").collect().height > 50
    assert needs(other).equals(needs(plain))
    columns = ["seq_start", "seq_end", "kind", "again", "need", "lost"]
    told = [one.scan("followed").select(columns).collect().sort(columns) for one in (plain, other)]
    assert told[0].equals(told[1])
    clock = other.scan("points").collect().row(1, named=True)
    assert clock["drift_low_ppm"] <= 300 <= clock["drift_high_ppm"]


@pytest.mark.parametrize("short", [0, 1])
def test_what_a_cut_capture_has_not_the_other_tells(
    corpus: Corpus, tmp_path: Path, short: int
) -> None:
    whole = [capture(corpus, "campus", point) for point in ("sender", "receiver")]
    part = tmp_path / "cut.pcapng"
    # In the middle of a block, as where a disk was full.
    data = whole[short].read_bytes()
    part.write_bytes(data[: len(data) // 2 + 3])
    files = [part if number == short else path for number, path in enumerate(whole)]
    both = rexmit.trace(files, points=("a", "b"), whatif=())
    alone = rexmit.trace([whole[1 - short]], whatif=())
    said = both.scan("retransmissions").collect()
    for row in alone.scan("retransmissions").collect().iter_rows(named=True):
        same = said.filter(
            (pl.col("flow") == row["flow"]) & (pl.col("seq_start") == row["seq_start"])
        )
        assert same.height, row
    lasting = [
        one.scan("connections").select(pl.sum("duration_s")).collect().item()
        for one in (both, alone)
    ]
    assert lasting[0] >= lasting[1] * 0.99
    counted = both.scan("mechanisms").select(pl.sum("needed") + pl.sum("spurious")).collect()
    assert counted.item() == said.height


@pytest.mark.parametrize("size", [0, 28, 200])
def test_a_capture_without_packets_among_several_is_told(
    corpus: Corpus, tmp_path: Path, size: int
) -> None:
    one = capture(corpus, "campus", "sender")
    empty = tmp_path / "empty.pcapng"
    empty.write_bytes(cut(one.read_bytes(), 0)[:size])
    with pytest.raises(UserError, match="no packet of the captures at a"):
        rexmit.trace([one, empty], points=("a", "b"), whatif=())
    trace = rexmit.trace([one, empty], whatif=())
    assert trace.points == []
    alone = rexmit.trace([one], whatif=())
    assert needs(trace).equals(needs(alone))


def test_of_what_is_one_capture_nothing_changes(corpus: Corpus, tmp_path: Path) -> None:
    one = capture(corpus, "campus", "sender")
    other = capture(corpus, "wireless", "sender")
    assert recognise([one, other], None, Silent()) is None
    assert recognise([one], None, Silent()) is None
    trace = rexmit.trace([one, other], whatif=(), out=tmp_path / "t")
    assert trace.points == []
    assert not (tmp_path / "t" / "legs.parquet").exists()
    assert trace.scan("legs").collect().is_empty()


def test_a_copy_of_a_capture_is_no_other_point(corpus: Corpus, tmp_path: Path) -> None:
    one = capture(corpus, "campus", "sender")
    copy = rewritten(one, tmp_path / "copy.pcapng")
    later = rewritten(one, tmp_path / "later.pcapng", time=lambda at: at + _HOUR_NS)
    part = tmp_path / "part.pcapng"
    part.write_bytes(cut(one.read_bytes(), 0.5))
    for files, told in [
        ([one, one], "is given twice"),
        ([one, copy], "all its packets are in"),
        ([one, part], "part.pcapng: all its packets are in"),
        ([one, later], "each 3,600.000000 s later"),
        ([later, one], "each 3,600.000000 s earlier"),
    ]:
        with pytest.raises(UserError, match=told):
            rexmit.trace(files, whatif=())
    with pytest.raises(UserError, match="is given twice"):
        rexmit.trace([one, one], points=("a", "b"), whatif=())
    typed = runner.invoke(app, ["trace", str(one), str(copy)])
    assert isinstance(typed.exception, UserError)
    assert "or say with --points that they are of two points" in typed.exception.text()
    # Who says that they are of two points is believed.
    assert rexmit.trace([one, copy], points=("a", "b"), whatif=()).points == ["a", "b"]


def test_the_same_traffic_between_other_hosts_is_no_copy(corpus: Corpus, tmp_path: Path) -> None:
    one = capture(corpus, "campus", "sender")

    def elsewhere(ip: bytes) -> bytes:
        changed = bytearray(ip)
        changed[13], changed[17] = changed[13] ^ 0x40, changed[17] ^ 0x40
        return bytes(changed)

    other = rewritten(
        one, tmp_path / "later.pcapng", time=lambda at: at + _HOUR_NS, address=elsewhere
    )
    assert recognise([one, other], None, Silent()) is None
    with pytest.raises(UserError, match="a copy by another clock"):
        recognise(
            [one, rewritten(one, tmp_path / "copy.pcapng", time=lambda at: at + _HOUR_NS)],
            None,
            Silent(),
        )


def test_captures_of_one_place_may_have_packets_in_common(corpus: Corpus, tmp_path: Path) -> None:
    data = capture(corpus, "campus", "sender").read_bytes()
    early, late = tmp_path / "early.pcapng", tmp_path / "late.pcapng"
    early.write_bytes(cut(data, 0.7))
    late.write_bytes(cut(data, 0.5, rest=True))
    assert recognise([early, late], None, Silent()) is None


def test_captures_of_other_clocks_are_of_other_points(corpus: Corpus, tmp_path: Path) -> None:
    data = capture(corpus, "campus", "sender").read_bytes()
    early, late = tmp_path / "early.pcapng", tmp_path / "late.pcapng"
    early.write_bytes(cut(data, 0.5))
    late.write_bytes(cut(data, 0.5, rest=True))
    receiver = capture(corpus, "campus", "receiver")
    made = recognise([early, receiver, late], None, Silent())
    assert made is not None
    assert made.groups() == [[0, 2], [1]]
    # With the same packets at both, no clock could show these times.
    other = rewritten(late, tmp_path / "other.pcapng", time=lambda at: at + _HOUR_NS)
    made = recognise([early, receiver, other], None, Silent())
    assert made is not None
    assert made.groups() == [[0], [1], [2]]


def _often(copies: int) -> list[Packet]:
    """A segment that is sent again and again."""
    sent = [Packet(n * 1e-6, True, ACK, seq=1, ack=1) for n in range(copies)]
    data = [Packet(n * 1e-6, False, ACK, seq=1, ack=1, length=10) for n in range(copies)]
    return [packet for pair in zip(data, sent, strict=True) for packet in pair]


def _at_once(copies: int) -> list[Packet]:
    """As many segments, all sent again at one time."""
    numbers = range(1, 10 * copies, 10)
    new = [Packet(n * 1e-6, False, ACK, seq=n, ack=1, length=10) for n in numbers]
    return [*new, *(replace(packet, at=1) for packet in new)]


@pytest.mark.parametrize("again", [_often, _at_once])
def test_many_retransmissions_on_their_way_take_little_memory(
    again: Callable[[int], list[Packet]], tmp_path: Path
) -> None:
    def captures(copies: int) -> list[str]:
        opened = [Packet(0, True, SYN), Packet(0, False, SYN | ACK, ack=1)]
        sent = [*opened, *again(copies)]
        came = [replace(packet, at=packet.at + 2) for packet in sent]
        here, there = tmp_path / f"here-{copies}.pcap", tmp_path / f"there-{copies}.pcap"
        return [str(write(here, sent)), str(write(there, came))]

    script = (
        "import resource, sys, rexmit\n"
        "for at in (1, 3):\n"
        "    rexmit.trace(sys.argv[at : at + 2], points=('here', 'there'), whatif=())\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    words = [sys.executable, "-c", script, *captures(10), *captures(1_500)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    few, many = map(int, ran.stdout.split())
    assert many - few < 100_000


def test_what_a_client_sent_in_vain_the_capture_beside_it_tells(tmp_path: Path) -> None:
    """Beside the server nothing was missing: it saw one request, and answered it."""
    way = 0.02
    passed = [
        Packet(0.0, True, SYN, seq=99, id=1),
        Packet(0.0, False, SYN | ACK, seq=499, ack=100, id=1),
        Packet(0.0, True, seq=100, ack=500, id=2),
        Packet(0.0, True, seq=100, ack=500, length=80, id=3),
        Packet(0.0, False, seq=500, ack=180, length=900, id=2),
        Packet(0.0, True, seq=180, ack=1400, id=4),
    ]
    at_server = [way + 2 * way * trip for trip in (0, 0, 1, 1, 1, 2)]
    seen = [replace(one, at=at) for one, at in zip(passed, at_server, strict=True)]
    sent = [replace(one, at=one.at - way if one.by_client else one.at + way) for one in seen]
    lost = [
        Packet(30.0 + at, True, seq=180, ack=1400, length=80, id=5 + number)
        for number, at in enumerate((0.0, 0.3, 0.9, 2.1, 4.5))
    ]
    files = [tmp_path / "client.pcap", tmp_path / "server.pcap"]
    write(files[0], [*sent, *lost])
    write(files[1], seen)
    both = rexmit.trace(files)
    (share,) = (
        both.scan("account")
        .filter(pl.col("asked"), pl.col("owner") == "peer-gone")
        .collect()["length_ns"]
    )
    assert share >= 4_000_000_000


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

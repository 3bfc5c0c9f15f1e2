"""Amounts, addresses, what tcpdump and pcapng say was dropped, which pieces go, the line."""

from __future__ import annotations

import json
import os
import shutil
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.watch.conftest import Always
from tests.watch.replay import Replay

import rexmit
from rexmit.tracing.folder import META, next_connection, pieces_of
from rexmit.tracing.watch import pieces as pieces_module
from rexmit.tracing.watch import tcpdump_log
from rexmit.tracing.watch.amounts import Amount, amount, seconds
from rexmit.tracing.watch.metrics import address
from rexmit.tracing.watch.pieces import opened
from rexmit.tracing.watch.tally import Tally, line
from rexmit.tracing.watch.tcpdump_log import TcpdumpLog


@pytest.mark.parametrize(
    ("word", "means"),
    [
        ("60s", Amount(seconds=60)),
        ("1.5h", Amount(seconds=5400)),
        ("7 d", Amount(seconds=604_800)),
        ("500MB", Amount(bytes=500_000_000)),
        ("0.5kB", Amount(bytes=500)),
        ("24", Amount(number=24)),
    ],
)
def test_amounts(word: str, means: Amount) -> None:
    assert amount("--rotate", word) == means


@pytest.mark.parametrize("word", ["", "h", "-1h", "0", "1.5", "1 week", "1hh", "1e3s", "٣h"])
def test_no_amounts(word: str) -> None:
    with pytest.raises(rexmit.Error):
        amount("--rotate", word)


def test_a_time_is_no_size() -> None:
    assert seconds("--every", "15min") == 900
    with pytest.raises(rexmit.Error):
        seconds("--every", "15")


def test_addresses() -> None:
    assert address("9100") == ("127.0.0.1", 9100)
    assert address("0.0.0.0:9100") == ("0.0.0.0", 9100)  # noqa: S104 - asked for
    assert address("[::1]:9100") == ("::1", 9100)
    for word in ("", ":9100", "x", "1.2.3.4:", "127.0.0.1:0", "99999"):
        with pytest.raises(rexmit.Error):
            address(word)


def test_what_tcpdump_says(tmp_path: Path) -> None:
    file = tmp_path / "log"
    begins = "tcpdump: listening on eth0, link-type EN10MB (Ethernet), snapshot length 128 bytes\n"
    counts = "{} packets captured\n9 packets received by filter\n{} packets dropped by kernel\n"
    file.write_text(begins)
    log = TcpdumpLog(file)
    assert log.drops() == 0
    with file.open("a") as more:
        more.write(counts.format(5, 3))
        more.flush()
        assert log.drops() == 3
        # SIGUSR1 again: counts are since the start.
        more.write(counts.format(9, 7) + "2 packets dropped by interface\n")
        more.flush()
        assert log.drops() == 9
        # Started anew.
        more.write(begins + counts.format(2, 1).removesuffix("kernel\n"))
        more.flush()
        assert log.drops() == 9
        more.write("kernel\n")
        more.flush()
        assert log.drops() == 10
    # As a rotation of logs does it.
    file.unlink()
    assert log.drops() == 10
    file.write_text(begins + counts.format(2, 5))
    assert log.drops() == 15


def test_a_log_may_be_made_while_the_program_starts(tmp_path: Path) -> None:
    file = tmp_path / "log"
    maker = threading.Timer(0.2, file.write_text, ["4 packets dropped by kernel\n"])
    maker.start()
    assert TcpdumpLog(file).drops() == 4
    maker.join()


def test_a_log_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcpdump_log, "START_S", 0.1)
    with pytest.raises(rexmit.Error, match=r"--tcpdump-log|tcpdump_log"):
        TcpdumpLog(tmp_path / "none")


def piece(folder: Path, name: str, size: int, age_s: float = 0) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / META).write_bytes(b"x" * size)
    at = time.time() - age_s
    os.utime(folder / name, (at, at))


def left(folder: Path, keep: Amount) -> list[str]:
    with opened(folder) as pieces:
        pieces.keep(keep)
    return sorted(one.name[-4:] for one in folder.iterdir())


def test_the_oldest_pieces_go(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for number in range(5):
        piece(folder, f"20261123T000000Z-{number:04}", 100, (5 - number) * 100)
    assert left(folder, Amount(number=4)) == ["0001", "0002", "0003", "0004"]
    assert left(folder, Amount(bytes=350)) == ["0002", "0003", "0004"]
    assert left(folder, Amount(seconds=250)) == ["0003", "0004"]
    # The newest stays whatever is asked for.
    assert left(folder, Amount(bytes=1)) == ["0004"]


def test_pieces_that_others_delete_and_links_to_folders_go(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    for number in range(4):
        piece(folder, f"20261123T000000Z-{number:04}", 100, 500)
    piece(elsewhere, "x", 10, 500)
    (folder / "20261122T000000Z-0000").symlink_to(elsewhere / "x")
    with opened(folder) as pieces:
        there = pieces_of(folder)
        shutil.rmtree(there[2])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pieces_module, "pieces_of", lambda _: list(there))
            assert pieces.keep(Amount(seconds=1)) == 3
    assert [one.name for one in folder.iterdir()] == ["20261123T000000Z-0003"]
    assert (elsewhere / "x" / META).exists()


def test_a_trace_of_its_own_is_no_piece(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    about = {"format": 1, "kind": "trace", "facts": {}}
    piece(folder, "20261123T000000Z-0000", 0)
    (folder / "20261123T000000Z-0000" / META).write_text(json.dumps(about))
    with pytest.raises(rexmit.Error, match="is a trace of its own, and no piece"):
        next_connection(folder)


def test_what_was_left_behind_goes_and_what_is_somebodys_stays(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    piece(folder, "20261123T000000Z-0000", 10)
    (folder / ".20261123T010000Z-0000.99.tmp").mkdir()
    (folder / ".20261122T010000Z-0000.deleted.tmp").mkdir()
    with opened(folder):
        assert [one.name for one in folder.iterdir()] == ["20261123T000000Z-0000"]
    (folder / "letters.txt").write_text("mine")
    with pytest.raises(rexmit.Error, match="holds something else: letters"), opened(folder):
        pass
    assert (folder / "letters.txt").read_text() == "mine"


def test_a_line_has_what_came_since() -> None:
    before = Tally(packets=1000, bytes=10_000, connections=1, evicted=2)
    before.retransmissions = Counter({("rto", "needed"): 5})
    now = before.copy()
    assert "0 retransmissions" in line(now, before, 60)
    now.packets += 6000
    now.bytes += 3_000_000
    now.retransmissions["rto", "needed"] += 2
    now.retransmissions["tlp", "spurious"] += 1
    now.waited_s["rto"] = 1.5
    now.evicted += 4
    now.skipped = {"udp": 7}
    now.system_drops = 3
    told = line(now, before, 60)
    assert told.startswith("6,000 packets (100/s, 3.0 MB); 0 connections; 3 retransmissions (rto 2")
    assert "tlp 1; 1 spurious)" in told
    assert "1.50 s waited" in told
    assert told.endswith("7 skipped; 4 evicted; 3 dropped before the capture")
    # What is compared with was not changed.
    assert sum(before.retransmissions.values()) == 5


def block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def test_drops_that_a_capture_tells_of_are_told(
    replay: Replay, start: Callable[..., Always], tmp_path: Path
) -> None:
    def statistics(interface: int, system: int) -> bytes:
        counts = struct.pack("<HHQHHQ", 5, 8, interface, 7, 8, system)
        return block(5, struct.pack("<III", 0, 0, 0) + counts + bytes(4))

    pcap = replay.head + replay.round(0, replay.first_ns)
    link = struct.unpack_from("<I", pcap, 20)[0]
    resolution = struct.pack("<HHB3xI", 9, 1, 9, 0)
    out = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", link, 0, 0) + resolution),
    ]
    at = 24
    while at < len(pcap):
        seconds_, nanos, kept, length = struct.unpack_from("<IIII", pcap, at)
        ticks = seconds_ * 10**9 + nanos
        head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, kept, length)
        out.append(block(6, head + pcap[at + 16 : at + 16 + kept] + bytes(-kept % 4)))
        at += 16 + kept
    log = tmp_path / "tcpdump.log"
    log.write_text("5 packets captured\n6 packets dropped by kernel\n")
    always = start("--rotate", "1h", "--tcpdump-log", str(log))
    always.write(b"".join(out[:1000]) + statistics(1, 2) + b"".join(out[1000:]))
    told = always.until(lambda told: told.get("rexmit_dropped_packets_total system") == 2)
    assert told["rexmit_dropped_packets_total interface"] == 1
    always.write(statistics(10, 20))
    status, said = always.end()
    assert status == 0
    assert "36 dropped before the capture" in said
    (warning,) = rexmit.trace(tmp_path / "out").facts.warnings
    assert warning.startswith("36 packets never reached the capture")


def test_a_folder_that_went_gets_no_further_piece(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with opened(folder) as pieces:
        assert pieces.next().parent == folder
        folder.rmdir()
        with pytest.raises(rexmit.Error, match="removed or replaced"):
            pieces.next()
        folder.mkdir()
        with pytest.raises(rexmit.Error, match="removed or replaced"):
            pieces.next()

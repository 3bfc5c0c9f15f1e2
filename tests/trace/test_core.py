"""The analysis of `rexmit._core`: captures in, columns out."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.processes import state

from rexmit import _core
from rexmit.cli import app
from rexmit.store.trace_schema import TABLES
from rexmit.tracing.source import conformed

SYN, ACK, FIN = 0x02, 0x10, 0x01


def _packet(port: int, up: bool, flags: int, seq: int, ack: int, size: int) -> bytes:
    """A raw IPv4 packet, cut behind its TCP header."""
    ends = (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
    ports = (port, 80)
    src, dst = (0, 1) if up else (1, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + size, 0, 0x4000, 64, 6, 0) + ends[src] + ends[dst]
    tcp = struct.pack(">HHIIBBHI", ports[src], ports[dst], seq, ack, 0x50, flags, 60_000, 0)
    return ip + tcp


def capture(connections: int, port: int = 2_000) -> bytes:
    """Connections one after the other; in each, the server's last packet is sent twice."""
    out = [struct.pack("<IIiIII", 0xA1B23C4D, 0x00040002, 0, 0, 65_535, 101)]
    for number in range(connections):
        steps = [
            (0, True, SYN, 100, 0, 0),
            (20, False, SYN | ACK, 900, 101, 0),
            (40, True, ACK, 101, 901, 0),
            (41, True, ACK, 101, 901, 50),
            (60, False, ACK, 901, 151, 1_000),
            (61, False, ACK | FIN, 1_901, 151, 500),
            (80, True, ACK, 151, 1_901, 0),
            (361, False, ACK | FIN, 1_901, 151, 500),
            (380, True, ACK | FIN, 151, 2_402, 0),
            (400, False, ACK, 2_402, 152, 0),
        ]
        for ms, up, flags, seq, ack, size in steps:
            data = _packet(port + number, up, flags, seq, ack, size)
            at = number * 1_000 + ms
            head = (1_000 + at // 1_000, at % 1_000 * 1_000_000, len(data), len(data) + size)
            out.append(struct.pack("<IIII", *head) + data)
    return b"".join(out)


def analyse(
    *paths: Path, jobs: int = 1, whatif: bool = True
) -> tuple[dict[str, pl.DataFrame], _core.Trace]:
    trace = _core.Trace(list(paths), jobs=jobs, whatif=whatif)
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    while (batch := trace.next_batch()) is not None:
        for name, columns in batch.items():
            parts[name].append(pl.DataFrame(columns))
    return {name: pl.concat(frames) for name, frames in parts.items() if frames}, trace


def test_columns_are_those_of_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(capture(3))
    tables, trace = analyse(path)
    for name, columns in TABLES.items():
        assert tables[name].columns == [column.name for column in columns], name
        conformed(name, tables[name])
    connections = tables["connections"]
    assert connections["flow"].to_list() == [
        f"10.0.0.1:{2_000 + n} > 10.0.0.2:80" for n in range(3)
    ]
    assert connections["capture"].unique().to_list() == [str(path)]
    servers = tables["sides"].filter(pl.col("direction") == "backward")
    assert servers["flow"].to_list() == [f"10.0.0.2:80 > 10.0.0.1:{2_000 + n}" for n in range(3)]
    assert servers["bytes"].to_list() == [2_000] * 3
    assert servers["unique_bytes"].to_list() == [1_500] * 3
    assert connections["closed"].to_list() == ["fin"] * 3
    retransmissions = tables["retransmissions"]
    assert retransmissions["flow"].to_list() == [
        f"10.0.0.2:80 > 10.0.0.1:{2_000 + n}" for n in range(3)
    ]
    assert retransmissions["seq_start"].to_list() == [1_901] * 3
    assert retransmissions["seq_end"].to_list() == [2_402] * 3
    assert retransmissions["time_ns"].to_list() == [
        (1_000 + n) * 10**9 + 361_000_000 for n in range(3)
    ]
    told = trace.summary()
    assert (told["packets"], told["connections"], told["warnings"]) == (30, 3, [])
    assert trace.progress()[:2] == (path.stat().st_size, 30)


def test_threads_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(capture(5_000))
    one, _ = analyse(path)
    two, _ = analyse(path, jobs=2)
    assert one["connections"].height == 5_000
    for name, rows in one.items():
        assert two[name].equals(rows), name


def test_files_of_a_rotation_are_one_capture(tmp_path: Path) -> None:
    whole = capture(4)
    cut = 24 + 10 * (16 + 40) * 2 + 3 * (16 + 40)
    first, second = tmp_path / "a.pcap", tmp_path / "b.pcap"
    first.write_bytes(whole[:cut])
    second.write_bytes(whole[:24] + whole[cut:])
    tables, trace = analyse(second, first)
    assert tables["connections"].height == 4
    assert not tables["connections"]["mid_stream"].any()
    assert trace.summary()["warnings"] == []


def test_a_cut_capture_gives_its_rows_and_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(capture(2)[:-5])
    tables, trace = analyse(path)
    assert tables["connections"].height == 2
    (warning,) = trace.summary()["warnings"]
    assert warning.startswith(f"{path}: the capture ends in the middle of a packet, at byte ")


def test_what_breaks_gives_its_rows_and_a_warning(tmp_path: Path) -> None:
    broken, whole = tmp_path / "a.pcap", tmp_path / "b.pcap"
    broken.write_bytes(capture(2) + b"\xff" * 100)
    whole.write_bytes(capture(2, port=3_000))
    tables, trace = analyse(broken, whole)
    assert tables["connections"].height == 4
    (warning,) = trace.summary()["warnings"]
    assert warning.startswith(f"{broken}: the capture is broken at byte {len(capture(2))}")


def test_what_is_no_capture_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(b"nothing that any program would have captured")
    trace = _core.Trace([path])
    with pytest.raises(ValueError, match=r"a\.pcap: no capture of a known format"):
        trace.next_batch()
    with pytest.raises(FileNotFoundError, match=r"b\.pcap"):
        _core.Trace([tmp_path / "b.pcap"])
    with pytest.raises(ValueError, match="k=many"):
        _core.Trace([path], whatif=["k=many"])


READ = """
import sys

from rexmit import _core

trace = _core.Trace(["-"])
try:
    print("reading", flush=True)
    while (batch := trace.next_batch()) is not None:
        pass
except KeyboardInterrupt:
    sys.exit("interrupted")
print(trace.summary()["connections"])
"""


def test_standard_input_is_read() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ], input=capture(7), capture_output=True, timeout=60, check=True
    )
    assert done.stdout.split() == [b"reading", b"7"]


def test_an_interruption_is_heard_while_nothing_comes() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", READ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdin
        assert child.stdout
        assert child.stderr
        child.stdin.write(capture(1))
        child.stdin.flush()
        assert child.stdout.readline() == b"reading\n"
        # The main thread sleeps when it waits for rows, which is where the signal must be heard.
        until = time.monotonic() + 60
        while state(child.pid) != "S":
            assert time.monotonic() < until
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 1
        assert child.stderr.read() == b"interrupted\n"


def test_retransmissions_do_not_depend_on_what_is_replayed(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    words = ["validate", "synth", "--mix", "bench", "--connections", "3000", "--at", "switch"]
    done = CliRunner().invoke(app, [*words, "--seed", "3", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    path = folder / "captures" / "bench-switch.pcapng"
    with_it, _ = analyse(path)
    without, _ = analyse(path, whatif=False)
    assert with_it["retransmissions"].height > 100
    assert with_it["retransmissions"].equals(without["retransmissions"])

"""`rexmit watch - --rotate`: real processes, pipes that go on, signals, pieces read meanwhile."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.watch.conftest import Always
from tests.watch.replay import Replay

import rexmit

Start = Callable[..., Always]

KEY = ["flow", "start_s"]


def stream(replay: Replay, rounds: int) -> bytes:
    begin_ns = replay.first_ns
    return replay.head + b"".join(replay.round(number, begin_ns) for number in range(rounds))


def at_once(replay: Replay, rounds: int, folder: Path) -> rexmit.Trace:
    """The trace of the same packets as one capture."""
    file = folder / "whole.pcap"
    file.write_bytes(stream(replay, rounds))
    return rexmit.trace(file)


def slowly(always: Always, replay: Replay, rounds: int) -> None:
    """Writes so that rows come out again and again."""
    always.write(replay.head)
    written = 0.0
    for number in range(rounds):
        always.write(replay.round(number, replay.first_ns))
        if number % 10 == 9:
            before = written
            told = always.until(lambda told: told["rexmit_connections_total"] > before)  # noqa: B023
            written = told["rexmit_connections_total"]


def hidden(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir() if one.name.startswith(".")]


def rows(trace: rexmit.Trace, table: str, by: list[str]) -> pl.DataFrame:
    return trace.scan(table).select(by).collect().sort(by)


def test_pieces_have_every_row_once(replay: Replay, start: Start, tmp_path: Path) -> None:
    out, rounds = tmp_path / "out", 40
    always = start("--rotate", "20kB", "--jobs", "2")
    slowly(always, replay, rounds)
    status, said = always.end()
    assert status == 0, said
    pieces = sorted(out.iterdir())
    assert len(pieces) > 1
    assert not hidden(out)
    made, whole = rexmit.trace(out), at_once(replay, rounds, tmp_path)
    assert rows(made, "connections", KEY).equals(rows(whole, "connections", KEY))
    where = ["flow", "time_ns", "seq_start"]
    assert rows(made, "retransmissions", where).equals(rows(whole, "retransmissions", where))
    assert made.facts.packets == whole.facts.packets == rounds * len(replay)
    assert made.facts.bytes == whole.facts.bytes
    numbers = made.scan("connections").collect()["connection"]
    assert numbers.is_unique().all()
    orphans = made.scan("retransmissions").join(
        made.scan("connections"), on=["capture", "connection"], how="anti"
    )
    assert orphans.collect().is_empty()
    # As other programs read them, and each alone.
    everything = pl.scan_parquet(out / "*" / "connections.parquet").collect()
    assert everything.height == len(numbers)
    assert sum(rexmit.trace(piece).facts.packets for piece in pieces) == made.facts.packets


def test_rows_do_not_depend_on_threads(replay: Replay, start: Start, tmp_path: Path) -> None:
    found = []
    for jobs in ("1", "2"):
        out = tmp_path / jobs
        always = start("--rotate", "1h", "--jobs", jobs, out=out)
        always.write(stream(replay, 10))
        assert always.end()[0] == 0
        trace = rexmit.trace(out)
        found.append([rows(trace, name, order) for name, order in ORDERS.items()])
    for one, other in zip(*found, strict=True):
        assert one.equals(other)


ORDERS = {
    "connections": ["flow", "start_s", "end_s", "connection"],
    "retransmissions": [
        "flow",
        "time_ns",
        "seq_start",
        "mechanism",
        "need",
        "waited_s",
        "connection",
    ],
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_everything_written(
    replay: Replay, start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    out, rounds = tmp_path / "out", 3
    always = start("--rotate", "1h")
    always.write(stream(replay, rounds))
    always.until(lambda told: told.get("rexmit_packets_total", 0) > 0)
    # Nobody closes the pipe.
    always.process.send_signal(number)
    status, said = always.ended()
    assert status == 0, said
    assert "writing what was read" in said
    made = rexmit.trace(out)
    assert made.facts.packets == rounds * len(replay)
    whole = at_once(replay, rounds, tmp_path)
    assert rows(made, "connections", KEY).equals(rows(whole, "connections", KEY))
    assert not hidden(out)
    assert not made.facts.warnings


def test_another_signal_gives_up(replay: Replay, start: Start, tmp_path: Path) -> None:
    always = start("--rotate", "1h")
    always.write(stream(replay, 2))
    always.until(lambda told: "rexmit_packets_total" in told)
    always.process.send_signal(signal.SIGTERM)
    threading.Timer(0.3, always.process.send_signal, [signal.SIGTERM]).start()
    status, said = always.ended()
    assert status == 128 + signal.SIGTERM, said
    # It was made for this, and holds nothing.
    assert not (tmp_path / "out").exists()


def test_a_piece_is_read_while_the_next_one_grows(
    replay: Replay, start: Start, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    always = start("--rotate", "1s", "--every", "1s")
    always.write(stream(replay, 30))
    told = always.until(lambda told: told["rexmit_pieces_total"] >= 1)
    first = rexmit.trace(out)
    assert first.scan("connections").collect().height > 0
    assert told["rexmit_packets_total"] > 29 * len(replay)
    before = first.facts.packets
    always.write(b"".join(replay.round(number, replay.first_ns) for number in range(30, 60)))
    later = always.until(lambda told: told["rexmit_pieces_total"] >= 2)
    assert later["rexmit_packets_total"] > before
    status, said = always.end()
    assert status == 0
    assert rexmit.trace(out).facts.packets == 60 * len(replay)
    assert f"in all {60 * len(replay):,} packets" in said


def test_metrics_say_what_the_tables_have(replay: Replay, start: Start, tmp_path: Path) -> None:
    always = start("--rotate", "1h")
    always.write(stream(replay, 30))
    many = 30 * len(replay)
    told = always.until(lambda told: told["rexmit_packets_total"] >= many - 4096)
    assert told["process_resident_memory_bytes"] > 0
    assert told["rexmit_dropped_packets_total system"] == 0
    assert told["rexmit_lag_seconds"] > 0
    assert told["rexmit_capture_clock_seconds"] > replay.first_ns / 1e9
    # The rows of connections that have ended since the first rounds.
    written = always.until(
        lambda told: any(name.startswith("rexmit_retransmissions_total ") for name in told)
    )
    status, _ = always.end()
    assert status == 0
    found = rexmit.trace(tmp_path / "out").scan("retransmissions")
    counted = found.group_by("mechanism", "need").agg(pl.len(), pl.col("waited_s").sum())
    ours = {f"{m} {n}": (number, waited) for m, n, number, waited in counted.collect().iter_rows()}
    of_rows = {
        name.removeprefix("rexmit_retransmissions_total "): value
        for name, value in written.items()
        if name.startswith("rexmit_retransmissions_total ")
    }
    assert of_rows
    assert all(0 < value <= ours[name][0] for name, value in of_rows.items())


def test_a_named_pipe(replay: Replay, start: Start, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    always = start("--rotate", "1h", source=str(pipe))
    with pipe.open("wb") as file:
        file.write(stream(replay, 2))
    status, said = always.end()
    assert status == 0, said
    assert rexmit.trace(tmp_path / "out").facts.packets == 2 * len(replay)


@pytest.mark.parametrize("is_ended", [False, True])
def test_without_a_rotation_the_page_is_printed(
    replay: Replay, tmp_path: Path, *, is_ended: bool
) -> None:
    """Of a pipe that ends, or that a signal ends."""
    words = [sys.executable, "-m", "rexmit", "watch", "-", "--json", "--out", str(tmp_path / "t")]
    process = subprocess.Popen(
        [*words, "--every", "1s"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(stream(replay, 2))
    process.stdin.flush()
    if not is_ended:
        assert " packets " in process.stderr.readline().decode()
        process.send_signal(signal.SIGINT)
        while not process.stderr.readline().startswith(b"rexmit: writing what was read"):
            assert process.poll() is None
        process.wait(timeout=60)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["facts"]["packets"] == 2 * len(replay)
    made, whole = rexmit.trace(tmp_path / "t"), at_once(replay, 2, tmp_path)
    assert made.scan("connections").collect().height == whole.scan("connections").collect().height


def test_a_second_time_into_the_same_folder(replay: Replay, start: Start, tmp_path: Path) -> None:
    for _ in range(2):
        always = start("--rotate", "1h")
        always.write(stream(replay, 2))
        assert always.end()[0] == 0
    made = rexmit.trace(tmp_path / "out")
    connections = made.scan("connections").collect()["connection"]
    assert connections.is_unique().all()
    assert (
        connections.len() == 2 * at_once(replay, 2, tmp_path).scan("connections").collect().height
    )


def test_old_pieces_go(replay: Replay, start: Start, tmp_path: Path) -> None:
    always = start("--rotate", "20kB", "--keep", "2")
    slowly(always, replay, 60)
    status, said = always.end()
    assert status == 0, said
    assert len(list((tmp_path / "out").iterdir())) == 2
    assert rexmit.trace(tmp_path / "out").facts.packets < 60 * len(replay)


def test_one_writes_at_a_time(replay: Replay, start: Start) -> None:
    first = start("--rotate", "1h")
    first.until(lambda told: "rexmit_packets_total" in told)
    status, said = start("--rotate", "1h").end()
    assert status == 1
    assert "another rexmit writes there" in said
    first.write(stream(replay, 1))
    assert first.end()[0] == 0


def test_an_address_that_is_taken(start: Start, tmp_path: Path) -> None:
    first = start("--rotate", "1h")
    first.until(lambda told: "rexmit_packets_total" in told)
    other = start("--rotate", "1h", "--metrics", str(first.port), out=tmp_path / "other")
    status, said = other.end()
    assert status == 1
    assert f"--metrics 127.0.0.1:{first.port}" in said
    # A folder that was made for nothing is gone.
    assert not (tmp_path / "other").exists()
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "count",
    [
        pytest.param("rexmit_packets_total", id="with-rows-to-write"),
        pytest.param("rexmit_pieces_total", id="with-nothing-to-write"),
    ],
)
def test_a_folder_that_vanishes(replay: Replay, start: Start, tmp_path: Path, count: str) -> None:
    always = start("--rotate", "2s")
    always.write(stream(replay, 2))
    always.until(lambda told: told.get(count, 0) > 0)
    # In one step, so that nothing is written into it meanwhile.
    (tmp_path / "out").rename(tmp_path / "gone")
    status, said = always.ended()
    assert status == 1
    assert str(tmp_path / "out") in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_a_full_disk(replay: Replay, start: Start, tmp_path: Path) -> None:
    always = start("--rotate", "1s")
    always.write(stream(replay, 20))
    always.until(lambda told: told["rexmit_pieces_total"] == 1)
    whole = rexmit.trace(tmp_path / "out").facts.packets
    # What a file may have at most from here on.
    resource.prlimit(always.process.pid, resource.RLIMIT_FSIZE, (2000, 2000))
    always.write(b"".join(replay.round(number, replay.first_ns) for number in range(20, 60)))
    status, said = always.ended()
    assert status == 1
    assert "File too large" in said
    assert "Traceback" not in said
    assert not hidden(tmp_path / "out")
    assert rexmit.trace(tmp_path / "out").facts.packets == whole


def test_a_pipe_that_breaks_within_a_packet(replay: Replay, start: Start, tmp_path: Path) -> None:
    always = start("--rotate", "1h")
    always.write(stream(replay, 2)[:-7])
    status, _ = always.end()
    assert status == 0
    (warning,) = rexmit.trace(tmp_path / "out").facts.warnings
    assert "ends in the middle of a packet" in warning


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-", "--rotate", "1h"], "--rotate needs --out"),
        (["-", "--out", "o", "--rotate", "5"], "--rotate takes a time or a size"),
        (["-", "--out", "o", "--rotate", "0h"], "--rotate 0h: no time, size or number"),
        (["-", "--out", "o", "--rotate", "1h", "--json"], "--rotate prints no page"),
        (["-", "--out", "o", "--keep", "5"], "--keep needs --rotate"),
        (["-", "--out", "o", "--rotate", "1h", "--metrics", "x"], "--metrics x: no address"),
        (["-", "--out", "o", "--rotate", "1h", "--every", "5MB"], "--every 5MB: no time"),
        (["no-such", "--out", "o", "--rotate", "1h"], "no-such: there is no such interface"),
        ([__file__, "--out", "o", "--rotate", "1h"], "there is no such interface"),
    ],
)
def test_wrong_usage(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from rexmit.cli import app

    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["watch", *words])
    assert isinstance(ran.exception, rexmit.Error)
    assert ran.exception.usage
    assert said in ran.exception.what
    assert not (tmp_path / "o").exists()

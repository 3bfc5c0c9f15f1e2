"""Two transfers packet by packet: where the senders part, on the terminal and as a picture."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.show.captures import ISN_CLIENT, ISN_SERVER, MSS, Sent, transfer, write_captures
from tests.show.conftest import make_row, write_folder
from tests.steps import PLAIN

from rexmit.cli import app
from rexmit.comparison.beside import rows
from rexmit.comparison.packets import part
from rexmit.ladder.steps import Step

runner = CliRunner()
Change = Callable[[Sent], Sent | None]


def folder(path: Path, *transfers: list[Sent]) -> Path:
    row = {
        "config": "tlp",
        "isn_server": ISN_SERVER,
        "isn_client": ISN_CLIENT,
        "client_port": 40000,
    }
    made = [make_row(repetition=number, **row) for number in range(len(transfers))]
    write_folder(path, made)
    for number, packets in enumerate(transfers):
        write_captures(path, packets, f"0-{number}")
    return path


def changed(change: Change) -> list[Sent]:
    found = [change(packet) for packet in transfer()]
    return [packet for packet in found if packet is not None]


def is_probe(packet: Sent) -> bool:
    return "mechanism=tlp" in packet.comment


def run(*words: object) -> str:
    done = runner.invoke(app, ["diff", *map(str, words)], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def test_senders_that_do_not_part(tmp_path: Path) -> None:
    a = folder(tmp_path / "A", transfer(), transfer())
    b = folder(tmp_path / "B", transfer(), transfer())
    assert "no packet differs in 2 repetitions (times within 4 ms)" in run(a, b, "--packets", 0)


def test_where_senders_part_is_told_unasked(tmp_path: Path) -> None:
    a = folder(tmp_path / "A", transfer(), transfer())
    other = changed(lambda p: replace(p, comment=p.comment.replace("tlp", "rto")))
    b = folder(tmp_path / "B", transfer(), other)
    for side, mechanism in ((a, "tlp"), (b, "rto")):
        table = side / "transfers.parquet"
        pl.read_parquet(table).with_columns(mechanism=pl.lit(mechanism)).write_parquet(table)
        (side / "run.json").write_text(
            json.dumps({**json.loads((side / "run.json").read_text()), "tables": {}})
        )
    said = "the senders part at packet 33 (mechanism): A at 84.000 ms"
    text = run(a, b)
    assert "high-speed, tlp, 5 lost, repetition 1:" in text
    assert said in text
    assert "rexmit diff A B --packets 0/1" in text
    assert json.loads(run(a, b, "--json"))["parting"]["senders_part"]["place"] == 33
    assert "part at packet" not in run(a, a)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda p: replace(p, comment=p.comment.replace("tlp", "rto")) if is_probe(p) else p,
            (
                "the senders part at packet 33 (mechanism): A at 84.000 ms 41993-43441 FIN, PSH, "
                "ACK tlp; B at 84.000 ms 41993-43441 FIN, PSH, ACK rto"
            ),
        ),
        (
            lambda p: replace(p, ms=p.ms + 5) if is_probe(p) else p,
            "the senders part at packet 33 (time): A at 84.000 ms",
        ),
        (
            lambda p: replace(p, seq=p.seq - MSS) if is_probe(p) else p,
            "the senders part at packet 33 (range): A at 84.000 ms 41993-43441",
        ),
        (
            lambda p: replace(p, flags=p.flags & ~8) if is_probe(p) else p,
            "the senders part at packet 33 (push): A at 84.000 ms",
        ),
        (
            lambda p: None if p.server and p.ms > 100 else p,
            (
                "the senders part at packet 36 (number of packets): A at 104.600 ms 43442-43442; "
                "B sends no more"
            ),
        ),
        (
            lambda p: replace(p, ack=p.ack - MSS) if not p.server and p.ms == 45 else p,
            (
                "the clients part at packet 17 (acknowledgement): A at 50.000 ms ack 39097; "
                "B at 50.000 ms ack 37649"
            ),
        ),
    ],
)
def test_where_two_part(tmp_path: Path, change: Change, said: str) -> None:
    a = folder(tmp_path / "A", transfer(), transfer())
    b = folder(tmp_path / "B", transfer(), changed(change))
    text = run(a, b, "--packets", "tlp 5", "--ignore", "none")
    assert "high-speed, tlp, 5 lost, repetition 1" in text
    assert said in text
    assert "*" in text
    # The one that is asked for is shown, alike or not.
    assert "no packet differs in 1 repetition" in run(a, b, "--packets", "0/0")


def test_what_does_not_count_does_not_part(tmp_path: Path) -> None:
    later = changed(lambda p: replace(p, ms=p.ms + 5, flags=p.flags & ~8) if is_probe(p) else p)
    a, b = folder(tmp_path / "A", transfer()), folder(tmp_path / "B", later)
    assert "(push, time)" in run(a, b, "--packets", 0, "--ignore", "none")
    assert "(time)" in run(a, b, "--packets", 0)
    assert "(push)" in run(a, b, "--packets", 0, "--tolerance", "6ms", "--ignore", "none")
    assert "no packet differs" in run(a, b, "--packets", 0, "--ignore", "push,time")


def test_lines_stand_beside_each_other(tmp_path: Path) -> None:
    later = changed(lambda p: replace(p, ms=p.ms + 50) if p.ms > 80 else p)
    a, b = folder(tmp_path / "A", transfer()), folder(tmp_path / "B", later)
    text = run(a, b, "--packets", 0, "--all")
    lines = [line.split() for line in text.splitlines()]
    assert len([line for line in lines if "=" in line or "t" in line or "t*" in line]) >= 51
    (probe,) = [line for line in lines if "t*" in line]
    assert (probe[0], probe[-6]) == ("84.000", "134.000") or "134.000" in probe
    short = run(a, b, "--packets", 0)
    assert "packets before these (--all)" in short
    assert len(short.splitlines()) < len(text.splitlines())


def test_json_has_both_rows_of_packets(tmp_path: Path) -> None:
    other = changed(lambda p: None if is_probe(p) else p)
    a, b = folder(tmp_path / "A", transfer()), folder(tmp_path / "B", other)
    data = json.loads(run(a, b, "--packets", 0, "--json"))
    assert data["senders_part"]["place"] == 33
    assert data["senders_part"]["a"]["mechanism"] == "tlp"
    assert data["clients_part"] is None
    assert len(data["a"]["packets"]) == len(data["b"]["packets"]) + 1


@pytest.mark.parametrize(("name", "begins"), [("l.png", b"\x89PNG"), ("l.pdf", b"%PDF")])
def test_a_picture(tmp_path: Path, name: str, begins: bytes) -> None:
    other = changed(lambda p: replace(p, ms=p.ms + 9) if p.ms > 80 else p)
    a, b = folder(tmp_path / "A", transfer()), folder(tmp_path / "B", other)
    text = run(a, b, "--packets", 0, "--figure", tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert str(tmp_path / name) in text
    first = (tmp_path / name).read_bytes()
    run(a, b, "--packets", 0, "--figure", tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


def test_missing_captures_say_how_to_get_them(tmp_path: Path) -> None:
    a, b = folder(tmp_path / "A", transfer()), folder(tmp_path / "B", transfer())
    (b / "captures" / "0-0.h2.pcapng").unlink()
    done = runner.invoke(app, ["diff", str(a), str(b), "--packets", "0"])
    assert "no capture of flow 0" in str(done.exception)


def step(at: int, seq: int, **values: object) -> Step:
    plain = replace(PLAIN, sent_ns=at, arrived_ns=at + 10, payload_bytes=MSS, seq=seq, ack=1)
    return replace(plain, **values)  # type: ignore[arg-type]


def test_parting_counts_from_one_and_names_all_that_differs() -> None:
    a = [step(0, 1), step(5, 2)]
    b = [step(0, 1), step(90, 3, mechanism="rto", dropped=True)]
    found = part(a, b, 4)
    assert found is not None
    assert (found.place, found.at_ns) == (2, 5)
    assert found.what == ("range", "mechanism", "fate", "time")
    assert part(a, a, 0) is None
    assert part([], [], 0) is None


def test_lines_are_in_order_of_time_and_none_is_lost() -> None:
    a = [step(0, 1), step(5, 2), step(9, 4)]
    b = [step(0, 1), step(7, 3), step(9, 4)]
    lines = rows(a, b, 1)
    assert [(line.a is not None, line.b is not None) for line in lines] == [
        (True, True),
        (True, False),
        (False, True),
        (True, True),
    ]

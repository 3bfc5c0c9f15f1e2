"""`rexmit diff` of two captures, before and after."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.diff.conftest import WriteRuns, cell
from tests.diff.served import Site
from tests.trace.rows import connection, request, write_trace

import rexmit
from rexmit.cli import app
from rexmit.comparison.traces import places
from rexmit.comparison.traces.apart import Side, apart, named
from rexmit.comparison.traces.compare import Change, TraceComparison
from rexmit.comparison.traces.notes import notes
from rexmit.comparison.traces.observed import ALL_REQUESTS
from rexmit.errors import UserError

BEFORE = Site()
AFTER = replace(BEFORE, seed=3, start_s=1000)


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["diff", *map(str, words)], env={"COLUMNS": "200"})
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


def compared(tmp_path: Path, after: Site, **options: Any) -> TraceComparison:  # noqa: ANN401
    a, b = BEFORE.write(tmp_path / "before.pcap"), after.write(tmp_path / "after.pcap")
    found = rexmit.diff(a, b, **options)
    assert isinstance(found, TraceComparison)
    return found


def metrics(changes: tuple[Change, ...]) -> list[str]:
    return [f"{one.metric} {one.of}".rstrip() for one in changes]


def test_nothing_differs_between_a_capture_and_itself(tmp_path: Path) -> None:
    a = replace(BEFORE, lost_every=4).write(tmp_path / "a.pcap")
    status, text = run(a, a, "--worse-than", "0%")
    assert status == 0
    assert "kind of requests: nothing differs" in text
    assert "note: 8 connections are in both" in text
    assert "What" not in text


def test_captures_of_one_site_differ_by_chance(tmp_path: Path) -> None:
    found = compared(tmp_path, AFTER)
    assert {one.verdict for one in found.changes} == {"same"}
    assert not found.identical
    assert found.notes == ()


def test_a_slower_server_is_named(tmp_path: Path) -> None:
    found = compared(tmp_path, replace(AFTER, think_s=0.5))
    assert metrics(found.judged("worse")) == ["time server", "first-byte", "total"]
    server, _, total = found.judged("worse")
    assert str(total.place) == "GET a.org/report of 10.0.0.1:80"
    assert (total.a.n, total.b.n, server.a.n) == (24, 24, 8)
    assert total.apart.low is not None
    assert total.apart.high is not None
    assert 0.43 < total.apart.low < 0.45 < total.apart.high < 0.47
    assert server.a.value == pytest.approx(3 * 0.05, rel=0.05)
    assert total.weight_s == pytest.approx(24 * 0.45, rel=0.05)
    back = rexmit.diff(found.b, found.a)
    assert isinstance(back, TraceComparison)
    assert metrics(back.judged("better")) == metrics(found.judged("worse"))
    assert back.judged("worse") == ()


def test_more_loss_is_named(tmp_path: Path) -> None:
    found = compared(tmp_path, replace(AFTER, lost_every=3))
    worse = metrics(found.judged("worse"))
    assert set(worse) == {"time recovery-fast", "loss", "retransmitted", "waited"}
    loss = next(one for one in found.judged("worse") if one.metric == "loss")
    assert loss.a.value == 0
    assert loss.b.value == pytest.approx(1 / 31, rel=0.01)
    # The trips of what is sent again are of its repair.
    assert metrics(found.judged("better")) == ["time round-trip"]


def test_a_longer_path_is_named(tmp_path: Path) -> None:
    found = compared(tmp_path, replace(AFTER, rtt_s=0.08))
    assert metrics(found.judged("worse"))[0] == "time round-trip"
    assert set(metrics(found.judged("worse"))[1:]) == {"round-trip", "data-round-trip"}
    trip = next(one for one in found.judged("worse") if one.metric == "round-trip")
    assert trip.apart.difference == pytest.approx(0.06, rel=0.05)


def test_one_connection_each_shows_no_error(tmp_path: Path) -> None:
    one = replace(BEFORE, connections=1, requests=1)
    a = one.write(tmp_path / "a.pcap")
    b = replace(one, think_s=2.0, start_s=1000).write(tmp_path / "b.pcap")
    status, text = run(a, b, "--worse-than", "5%")
    assert status == 0
    assert "What got worse" not in text
    assert "What differs from a single one" in text
    assert "the first byte of the answer: 2.07 s, before 52 ms (+2.02 s; n 1, 1)" in text


def test_a_limit_is_of_what_got_worse(tmp_path: Path) -> None:
    a = BEFORE.write(tmp_path / "a.pcap")
    b = replace(AFTER, think_s=0.06).write(tmp_path / "b.pcap")
    assert run(a, b, "--worse-than", "10%")[0] == 1
    assert run(a, b, "--worse-than", "30%")[0] == 0
    assert run(b, a, "--worse-than", "10%")[0] == 0


def test_places_are_chosen_and_a_server_may_move(tmp_path: Path) -> None:
    moved = replace(AFTER, server="10.0.0.9", path="/new", think_s=0.5)
    a, b = BEFORE.write(tmp_path / "a.pcap"), moved.write(tmp_path / "b.pcap")
    with pytest.raises(UserError) as raised:
        run(a, b)
    assert raised.value.usage
    assert "have no server in common" in raised.value.what
    assert "a.pcap: 1 server: 10.0.0.1:80" in str(raised.value.hint)
    assert "--map host:10.0.0.1=10.0.0.9" in str(raised.value.hint)
    _, text = run(a, b, "--map", "host:10.0.0.1=10.0.0.9")
    assert "10.0.0.1:80 and 10.0.0.9:80, the server's program: 1.5" in text
    assert "only in A: GET a.org/report of 10.0.0.1:80" in text
    assert "only in B: GET a.org/new of 10.0.0.9:80" in text
    paths = ["host:10.0.0.1=10.0.0.9", "path:GET a.org/report=GET a.org/new"]
    found = rexmit.diff(a, b, maps=paths, metrics=["first-byte"])
    assert isinstance(found, TraceComparison)
    assert metrics(found.changes) == ["first-byte"]
    for cells in (["port=81"], {"path": "GET a.org/x"}):
        with pytest.raises(UserError, match="in common"):
            rexmit.diff(a, a, cells=cells)
    with pytest.raises(UserError) as raised:
        run(a, a, "--cell", "port=81")
    assert "a.pcap: none of 1 server: 10.0.0.1:80" in str(raised.value.hint)
    with pytest.raises(UserError, match="no axis network"):
        rexmit.diff(a, a, cells=["network=mobile"])
    with pytest.raises(UserError, match="no such quantity"):
        rexmit.diff(a, a, metrics=["t_total"])


def test_captures_folders_and_what_is_neither(tmp_path: Path, write_runs: WriteRuns) -> None:
    capture = BEFORE.write(tmp_path / "a.pcap")
    rexmit.trace(capture, out=tmp_path / "kept")
    assert "nothing differs" in run(capture, tmp_path / "kept")[1]
    assert "nothing differs" in run(tmp_path / "*.pcap", tmp_path / "kept")[1]
    folder, _ = write_runs(cell(0, [0.2]), cell(0, [0.2]))
    for words, told in (
        ((capture, folder), "is a run"),
        ((capture, tmp_path / "none.pcap"), "no such file"),
        ((capture, capture, "--packets", "0"), "--packets compares runs"),
        ((capture, capture, "--inexact"), "is about runs"),
    ):
        with pytest.raises(UserError, match=told) as raised:
            run(*words)
        assert raised.value.usage or "no such file" in told
    empty = tmp_path / "empty.pcap"
    shutil.copy(capture, empty)
    empty.write_bytes(empty.read_bytes()[:24])
    with pytest.raises(UserError, match="no TCP connection to compare"):
        run(capture, empty)


def test_what_to_know_before(tmp_path: Path) -> None:
    a, b = AFTER.write(tmp_path / "a.pcap"), BEFORE.write(tmp_path / "b.pcap")
    (order,) = json.loads(run(a, b, "--json")[1])["notes"]
    assert "begins after" in order
    rows = [connection(connection=n, start_s=100.0 * n) for n in range(2)]
    for row, place in zip(rows, ("sender", "receiver"), strict=True):
        row |= {"backward_position": place, "start_s": 0.0 if place == "sender" else 5000.0}
    one, other = (
        write_trace(tmp_path / name, connections=[row | {"connection": 0}])
        for name, row in zip("xy", rows, strict=True)
    )
    found = rexmit.diff(one, other)
    assert isinstance(found, TraceComparison)
    assert (
        "A was captured at another place than B (of what the server sends: sender, receiver"
        in found.notes[0]
    )


def test_very_many_places_are_compared_by_the_largest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MOST", 3)

    def write(name: str) -> rexmit.Trace:
        asked = [request(path=f"/{n % 5}", start_ns=n * 10**6) for n in range(24)]
        return write_trace(tmp_path / name, connections=[connection()], requests=asked)

    found = rexmit.diff(write("a"), write("b"))
    assert isinstance(found, TraceComparison)
    # Of the five paths the first four were asked for five times, the last one four times.
    assert [place.path for place in found.places] == ["GET /0", "GET /1", ALL_REQUESTS]
    assert found.only_a == found.only_b == ()
    assert "of 7 servers and kinds of requests the 3 are compared that have most" in found.notes[0]


def test_one_flow_of_very_many_connections_takes_no_time_of_its_square(tmp_path: Path) -> None:
    rows = [connection(connection=n, start_s=float(n)) for n in range(10_000)]
    trace = write_trace(tmp_path / "a", connections=rows)
    began_s = time.process_time()
    found = list(notes(trace, trace, ("a", "a"), []))
    assert time.process_time() - began_s < 2
    assert "1 connection is in both" in found[0]


def test_requests_without_an_answer_come_first(tmp_path: Path) -> None:
    def made(name: str, never: int) -> rexmit.Trace:
        none = {"first_ns": None, "last_ns": None}
        asked = [
            request(path="/x", start_ns=n * 10**6, **(none if n < never else {})) for n in range(40)
        ]
        return write_trace(tmp_path / name, connections=[connection()], requests=asked)

    found = rexmit.diff(made("a", 0), made("b", 20))
    assert isinstance(found, TraceComparison)
    assert metrics(found.judged("worse")) == ["unanswered"]
    assert (found.changes[0].a.value, found.changes[0].b.value) == (0, 0.5)
    some = rexmit.diff(found.a, made("c", 2))
    assert isinstance(some, TraceComparison)
    assert some.judged("worse") == ()


def test_a_share_differs_by_no_more_than_all(tmp_path: Path) -> None:
    one = replace(BEFORE, connections=1, requests=1)
    a, b = one.write(tmp_path / "a.pcap"), replace(one, seed=2).write(tmp_path / "b.pcap")
    found = rexmit.diff(a, b, metrics=["unanswered"])
    assert isinstance(found, TraceComparison)
    assert [(one.apart.low, one.apart.high) for one in found.changes] == [(-1, 1)]


def test_all_of_it_in_json_and_in_a_page(tmp_path: Path) -> None:
    a, b = BEFORE.write(tmp_path / "a.pcap"), replace(AFTER, rtt_s=0.08).write(tmp_path / "b.pcap")
    page = tmp_path / "page.html"
    _, text = run(a, b, "--json", "--html", page)
    told = json.loads(text)
    assert told["gate"] is None
    assert {one["verdict"] for one in told["changes"]} == {"worse", "other", "same"}
    assert page.stat().st_size > 50_000
    _, text = run(a, b, "--all")
    assert sum("round trip of the handshake" in line for line in text.splitlines()) == 2
    rows = rexmit.report_table(rexmit.diff(a, b), "changes", where="verdict=worse")
    assert rows["metric"].to_list()[0] == "time"


def test_foreign_text_is_escaped(tmp_path: Path) -> None:
    evil = "/\x1b]0;x\x07\u202eevil"
    asked = [request(path=evil, start_ns=n, first_ns=n + 10**9 * (n % 2)) for n in range(9)]
    slow = [one | {"first_ns": one["start_ns"] + 10**10, "last_ns": 10**10} for one in asked]
    for name, rows in (("a", asked), ("b", slow)):
        write_trace(tmp_path / name, connections=[connection()], requests=rows)
    _, text = run(tmp_path / "a", tmp_path / "b", "--all")
    assert "\\u202eevil" in text
    assert not set("\x1b\x07\u202e") & set(text)


@pytest.mark.parametrize(
    ("freedom", "reach"), [(1, 12.7062), (2, 4.30265), (7, 2.36462), (30, 2.04227), (1e9, 1.95996)]
)
def test_an_interval_is_students(freedom: float, reach: float) -> None:
    found = apart(Side(9, 1.0, 1.0, freedom), Side(9, 3.0, 0.0, freedom))
    assert found.low == pytest.approx(2 - reach, abs=1e-3)
    assert found.high == pytest.approx(2 + reach, abs=1e-3)
    edge = apart(Side(9, 0.0, 1.0, freedom), Side(9, reach, 0.0, freedom))
    assert edge.chance == pytest.approx(0.05, abs=1e-4)


def test_differences_are_named_together() -> None:
    # Alone 0.04 would be one; of four it has to be below 0.05 with all before it.
    assert named([0.04, None, 0.5, 0.6, 0.7]) == [False] * 5
    assert named([0.04]) == [True]
    assert named([0.04, 0.03, 0.02, None, 0.01]) == [True, True, True, False, True]
    exact = apart(Side(2, 1.0, 0.0, 1), Side(2, 2.0, 0.0, 1))
    assert (exact.low, exact.high, exact.chance) == (1, 1, 0)

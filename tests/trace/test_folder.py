"""A trace's folder: whole or not at all, in order, with nothing left behind."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest
from tests.trace.rows import Given, batch, connection, retransmission, write_trace

from rexmit.errors import UserError
from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import TABLES
from rexmit.tracing import folder as folders
from rexmit.tracing import inputs
from rexmit.tracing.folder import Writer, open_trace
from rexmit.tracing.options import Analysis
from rexmit.tracing.run import run
from rexmit.tracing.source import Facts, Stream, conformed


def test_written_and_read(tmp_path: Path) -> None:
    facts = Facts(packets=7, warnings=["w"], settings=["k=2"], named=["k=2"], stacks=["rfc"])
    write_trace(tmp_path / "t", connections=[connection()], facts=facts)
    trace = open_trace(tmp_path / "t")
    assert trace.facts == facts
    assert trace.settings == ("k=2",)
    assert trace.captures == ["x.pcap"]
    for name, columns in TABLES.items():
        assert dict(trace.scan(name).collect_schema()) == polars_schema(columns)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["t"]


def test_rows_stand_in_order_however_they_came(tmp_path: Path) -> None:
    with Writer(tmp_path / "t") as writer:
        for number in (3, 0, 2, 1, 4):
            rows = [retransmission(connection=number, time_ns=ns) for ns in (9, 5)]
            writer.add(batch(connections=[connection(connection=number)], retransmissions=rows))
        made = writer.finish(Facts(), {}, csv=True)
    assert made.scan("connections").collect()["connection"].to_list() == [0, 1, 2, 3, 4]
    retransmissions = made.scan("retransmissions").select("connection", "time_ns").collect().rows()
    assert retransmissions == [(n, ns) for n in range(5) for ns in (5, 9)]
    table = pl.read_csv(tmp_path / "t" / "retransmissions.csv")
    assert table.height == 10


def test_a_table_of_several_parts_keeps_the_order_in_which_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "PART_VALUES", 70)
    with Writer(tmp_path / "t") as writer:
        for number in (3, 0, 2, 1):
            writer.add(batch(connections=[connection(connection=number)]))
        made = writer.finish(Facts(), {})
    assert made.scan("connections").collect()["connection"].to_list() == [3, 0, 2, 1]


def test_a_passing_table_stays_in_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "PART_VALUES", 1)
    rows = [[connection(connection=3)], [connection(connection=1)], [connection(connection=2)]]
    with Writer(tmp_path / "t", passing=True) as writer:
        for some in rows:
            writer.add(batch(connections=some))
        trace = writer.finish(Facts(), {}, csv=True)
    # What fits in memory is in no file.
    assert {one.name for one in trace.path.iterdir()} == {"connections.parquet", "sides.parquet"}
    assert trace.scan("connections").collect()["connection"].to_list() == [3, 1, 2]
    assert trace.scan("retransmissions").collect().is_empty()


def test_an_error_leaves_nothing_and_the_old_trace(tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_trace(path, connections=[connection()])

    def interrupted() -> None:
        with Writer(path, replace=True) as writer:
            writer.add(batch(connections=[connection(), connection()]))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert open_trace(path).scan("connections").collect().height == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["t"]


def test_a_trace_is_replaced_if_wanted_and_anything_else_is_not(tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_trace(path, connections=[connection()])
    with pytest.raises(UserError, match="holds a trace already"):
        write_trace(path, connections=[])
    write_trace(path, connections=[], replace=True)
    assert open_trace(path).scan("connections").collect().is_empty()
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(UserError, match="holds other files"):
        write_trace(other)
    with pytest.raises(UserError, match="is a file"):
        write_trace(other / "thesis.tex")


def test_damaged_and_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder"):
        open_trace(tmp_path / "none")
    with pytest.raises(UserError, match="it holds no trace"):
        open_trace(tmp_path)
    path = write_trace(tmp_path / "t").path
    (path / "whatif.parquet").write_bytes(b"")
    with pytest.raises(UserError, match=r"whatif\.parquet: damaged: it has 0 bytes"):
        open_trace(path)
    # Without digests the table itself is read.
    meta = json.loads((path / "trace.json").read_text())
    del meta["tables"]
    (path / "trace.json").write_text(json.dumps(meta))
    with pytest.raises(UserError, match=r"whatif\.parquet: cannot be read"):
        open_trace(path)
    pl.DataFrame({"flow": []}).write_parquet(path / "whatif.parquet")
    with pytest.raises(UserError, match=r"column .*setting.* is missing"):
        open_trace(path)


def test_a_byte_that_flips_is_seen(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t").path
    dice = random.Random(2)  # noqa: S311 - no secret
    for name in TABLES:
        file = path / f"{name}.parquet"
        good = file.read_bytes()
        for _ in range(8):
            bad = bytearray(good)
            bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
            file.write_bytes(bad)
            with pytest.raises(UserError, match=rf"{name}\.parquet: damaged"):
                open_trace(path)
        file.write_bytes(good)
    open_trace(path)


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"format": 1, "facts": []}', '{"format": NaN}', "[" * 5000 + "]" * 5000]
)
def test_a_damaged_trace_json_is_named(tmp_path: Path, text: str) -> None:
    path = write_trace(tmp_path / "t").path
    (path / "trace.json").write_text(text)
    with pytest.raises(UserError, match=r"trace\.json: cannot be read"):
        open_trace(path)


def test_what_may_be_null_may_be_missing_and_nothing_else() -> None:
    rows = batch(retransmissions=[retransmission()])["retransmissions"]
    assert conformed("retransmissions", rows.drop("timer_s"))["timer_s"].to_list() == [None]
    with pytest.raises(ValueError, match="column copy is missing"):
        conformed("retransmissions", rows.drop("copy"))


def test_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(captures: object, analysis: Analysis) -> Stream:
        assert captures == [Path("a.pcap")]
        assert analysis.tables is None
        rows = [batch(connections=[connection(connection=number)]) for number in range(3)]
        return Given(rows, Facts(packets=5))

    monkeypatch.setattr(inputs, "Core", given)
    monkeypatch.chdir(tmp_path)
    Path("a.pcap").touch()
    trace = run([Path("a.pcap")], tmp_path / "t", Analysis())
    assert trace.scan("connections").collect().height == 3
    assert open_trace(tmp_path / "t").meta["command"] == "rexmit trace a.pcap"

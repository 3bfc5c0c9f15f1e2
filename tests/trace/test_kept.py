"""A trace that is kept: nothing takes its place silently, and captures that changed are noticed."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest
from tests.cluster.test_broken_store import Here
from tests.processes import run_command
from tests.program.conftest import REXMIT
from tests.show.captures import pcapng, transfer

import rexmit
from rexmit.errors import UserError
from rexmit.store.schema import without_formulas
from rexmit.tracing import on_cluster
from rexmit.webpage import of_trace


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "a.pcapng"
    pcapng(path, sorted(((p.ms, p, "") for p in transfer()), key=lambda entry: entry[0]))
    return path


def call(*words: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = run_command([*REXMIT, *map(str, words)])
    assert done.returncode == status, done.stderr
    return done


def everything(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_ino for path in sorted(folder.rglob("*"))}


def test_a_trace_is_replaced_where_it_was_asked_for(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "t"
    call("trace", capture, "--out", out)
    there = everything(out)
    for words in (["trace"], ["trace", "--csv"], ["paper", "unc-2007"]):
        refused = call(*words, capture, "--out", out, status=1).stderr
        assert refused.splitlines()[0] == f"rexmit: {out} holds a trace already"
        assert "--replace" in refused
        assert everything(out) == there
    call("trace", capture, "--out", out, "--replace", "--csv")
    assert (out / "connections.csv").is_file()


@pytest.mark.parametrize("tables", [("retransmissions",), ("sides", "connections", "requests")])
def test_tables_that_were_asked_for_are_those_of_a_whole_trace(
    capture: Path, tmp_path: Path, tables: tuple[str, ...]
) -> None:
    whole = rexmit.trace(capture, out=tmp_path / "whole")
    out = tmp_path / "t"
    words = ("trace", capture, "--out", out, "--csv", "--tables", ",".join(tables), "--json")
    told = json.loads(call(*words).stdout)
    assert {path.stem for path in out.iterdir()} == {"trace", *tables}
    kept = rexmit.trace(out)
    for name in tables:
        rows = kept.scan(name).collect()
        assert rows.equals(whole.scan(name).collect())
        assert told["tables"][name] == rows.height
    missing = "account" if "connections" in tables else "connections"
    assert call("trace", out, status=1).stderr.splitlines() == [
        f"rexmit: {out} has no table {missing}, only {', '.join(tables)}",
        "  analyse the captures again, without --tables",
    ]
    (out / f"{tables[0]}.parquet").unlink()
    with pytest.raises(UserError, match=tables[0]):
        rexmit.trace(out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tables", "sides"], "--tables needs --out"),
        (["--tables", "side", "--out", "t"], "--tables side: there is no such table"),
        (["--tables", "sides", "--out", "t", "--by", "host"], "--tables keeps tables alone"),
        (["--tables", "sides", "--out", "t", "--cluster", "local:2"], "does not go with --cluster"),
    ],
)
def test_tables_that_cannot_be_kept_alone(capture: Path, words: list[str], said: str) -> None:
    assert said in call("trace", capture, *words, status=2).stderr.splitlines()[0]


def test_no_text_of_a_csv_is_a_formula(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["=1+1", "+1", "-1+1", "@SUM(1)", "\t=1", "-", "a=1", "", None]
    shown = without_formulas(pl.LazyFrame({"text": texts, "number": [-1] * 9})).collect()
    assert shown["text"].to_list() == [*(f"'{text}" for text in texts[:5]), *texts[5:]]
    assert shown["number"].to_list() == [-1] * 9
    monkeypatch.chdir(tmp_path)
    capture.rename("=1+1.pcapng")
    made = rexmit.trace("=1+1.pcapng", out="t", csv=True)
    rows = csv.DictReader(io.StringIO(Path("t/connections.csv").read_text()))
    assert {row["capture"] for row in rows} == {"'=1+1.pcapng"}
    assert set(made.scan("connections").collect()["capture"]) == {"=1+1.pcapng"}


def test_the_library_refuses_too(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "t"
    rexmit.trace(capture, out=out)
    with pytest.raises(UserError, match="holds a trace already") as caught:
        rexmit.trace(capture, out=out)
    assert "replace" in (caught.value.hint or "")
    assert rexmit.trace(capture, out=out, replace=True).facts.packets


def test_what_else_lies_there_is_never_replaced(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "t"
    rexmit.trace(capture, out=out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"notes\.txt beside its trace"):
        rexmit.trace(capture, out=out, replace=True)
    assert (out / "notes.txt").read_text() == "mine"


def test_a_trace_that_came_meanwhile_is_not_replaced(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, out = tmp_path / "other", tmp_path / "t"
    rexmit.trace(capture, out=other)

    def somebody(_: object) -> None:
        if not out.exists():
            shutil.copytree(other, out)

    with pytest.raises(UserError, match="holds a trace already"):
        rexmit.trace(capture, out=out, progress=somebody)
    monkeypatch.undo()
    assert rexmit.trace(out).facts.packets


def test_an_analysis_that_replaces_goes_on(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_cluster, "open_cluster", lambda _: nullcontext(Here()))
    out, second = tmp_path / "t", tmp_path / "b.pcapng"
    shutil.copy(capture, second)
    rexmit.trace(capture, out=out)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(on_cluster, "_merge", fail)
        with pytest.raises(UserError, match="holds a trace already"):
            rexmit.trace(second, out=out, cluster="local:1")
        with pytest.raises(OSError, match="No space"):
            rexmit.trace(second, out=out, cluster="local:1", replace=True)
    with pytest.raises(UserError, match="was interrupted") as caught:
        rexmit.trace(second, out=out, cluster="local:1", replace=True)
    assert "resume" in (caught.value.hint or "")
    with pytest.raises(UserError, match="holds a trace already"):
        rexmit.trace([capture, second], out=out, cluster="local:1", resume=True)
    made = rexmit.trace(second, out=out, cluster="local:1", resume=True)
    assert made.captures == [str(second)]
    assert rexmit.trace(out).captures == [str(second)]
    assert rexmit.trace(out).changed == []


def test_a_capture_that_changed_is_told_in_one_line(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "t"
    call("trace", capture, "--out", out)
    assert "since it was analysed" not in call("show", out).stdout
    size = capture.stat().st_size
    with capture.open("ab") as file:
        file.write(bytes(1_500))
    line = f"{capture} is 1.5 kB longer than when it was analysed"
    for words in (("show", out), ("trace", out)):
        assert " ".join(call(*words).stdout.split()).count(line) == 1
        (told,) = json.loads(call(*words, "--json").stdout)["changed"]
        assert told == {"capture": str(capture), "bytes_then": size, "bytes_now": size + 1_500}
    # As the page for the browser has it.
    (overview,) = of_trace.part(rexmit.trace(out), connections=None, limit=0).sections
    assert "1.5 kB longer than when it was analysed" in str(overview.blocks)
    (changed,) = rexmit.trace(out).changed
    assert changed.bytes_now - changed.bytes_then == 1_500

    os.truncate(capture, size)
    assert "was written to since it was analysed" in str(rexmit.trace(out).changed[0])
    os.truncate(capture, size - 24)
    assert "24 B shorter" in str(rexmit.trace(out).changed[0])
    capture.unlink()
    assert rexmit.trace(out).changed == []

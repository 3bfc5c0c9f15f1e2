"""A connection whose analysis fails is left out and named, and can be cut out; no other is lost."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import re
import shlex
import threading
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.trace.rows import connection
from tests.trace.test_core import capture
from tests.trace.test_floods import made

import rexmit
from rexmit import _core
from rexmit.cli import app
from rexmit.present.show import show
from rexmit.tracing import failures
from rexmit.tracing.page import Page
from rexmit.tracing.sections.page import page_blocks
from rexmit.tracing.source import Facts, Failure, File
from rexmit.tracing.summary import summary
from rexmit.tracing.watch.tally import Tally

runner = CliRunner()

FAULTY = 2_003
"""A port of one connection of `capture`."""


def plant(patch: pytest.MonkeyPatch) -> None:
    """The analysis fails at the eighth packet of the connection with the port `FAULTY`."""
    patch.setattr(_core, "Trace", partial(_core.Trace, fault=(FAULTY, 8)))


def numbers_apart(trace: rexmit.Trace, table: str) -> pl.DataFrame:
    """All but the connections' numbers, in which there is a gap."""
    rows = trace.scan(table).collect().drop("capture", "connection", strict=False)
    return rows.filter(~pl.col("flow").str.contains(rf":{FAULTY}\b")).sort(
        "flow", maintain_order=True
    )


def unpacked(page: str) -> str:
    """What a page for the browser has in its packs."""
    packs = re.findall(r">\s*([A-Za-z0-9+/=\s]{100,})</script>", page)
    raw = [gzip.decompress(base64.b64decode(pack)) for pack in packs]
    return b"".join(raw).decode(errors="replace")


@pytest.mark.parametrize("jobs", [1, 2])
def test_all_others_are_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(capture(9))
    whole = rexmit.trace(path, jobs=jobs)
    plant(monkeypatch)
    trace = rexmit.trace(path, jobs=jobs, out=tmp_path / "out")
    # As it is read again.
    for one in (trace, rexmit.trace(tmp_path / "out")):
        assert one.facts.failed == 1
        assert one.facts.failed_packets == 3
        (failure,) = one.facts.failures
        assert {failure.client_port, failure.server_port} == {FAULTY, 80}
        assert failure.start_s == 1_003.0
        assert "fault.rs" in failure.defect
    for table in ("connections", "retransmissions"):
        rows = numbers_apart(trace, table)
        assert rows.height == 8
        assert rows.equals(numbers_apart(whole, table))
    assert trace.scan("connections").collect().height == 8
    # No traceback of a panic.
    assert "panicked" not in "".join(capfd.readouterr())


@pytest.mark.tools  # of libpcap
def test_every_page_names_it_and_the_command_cuts_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a b.pcap"
    path.write_bytes(capture(9))
    browser = tmp_path / "page.html"
    with monkeypatch.context() as patch:
        plant(patch)
        told = json.loads(runner.invoke(app, ["trace", str(path), "--json"]).stdout)
        shown = runner.invoke(app, ["trace", str(path)], env={"COLUMNS": "2000"}).stdout
        shown = " ".join(shown.split())
        out = ["--out", str(tmp_path / "out")]
        assert runner.invoke(app, ["trace", str(path), *out]).exit_code == 0
        report = runner.invoke(app, ["report", str(tmp_path / "out"), "--out", str(browser)])
        assert report.exit_code == 0, report.output
    counted, named = told["warnings"][:2]
    assert "1 connection was left out: its analysis failed" in counted
    assert told["facts"]["failures"][0]["server_port"] == 80
    assert f":{FAULTY} to " in named
    assert ", begun 1970-01-01 00:16:43 UTC" in named
    for page in (shown, unpacked(browser.read_text())):
        assert "its analysis failed" in page
        assert f":{FAULTY} to " in page
    command = shlex.split(named.partition("this writes: ")[2])
    assert command[:3] == ["rexmit", "trace", str(path)]
    assert " ".join(command[:2]) in shown
    monkeypatch.chdir(tmp_path)
    cut = runner.invoke(app, command[1:])
    assert cut.exit_code == 0, cut.output
    trace = rexmit.trace(tmp_path / "failed.pcapng")
    assert trace.facts.packets == 10
    flows = trace.scan("connections").collect()["flow"]
    assert [f":{FAULTY} " in flow for flow in flows] == [True]


def test_an_analysis_without_an_end_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(capture(60),))
    writer.start()
    try:
        seen: list[Tally] = []
        rexmit.watch(
            pipe,
            out=tmp_path / "out",
            rotation=rexmit.Rotation(rotate="1h"),
            hear=lambda now: seen.append(now.tally),
        )
    finally:
        writer.join()
    assert (seen[-1].failed, seen[-1].connections) == (1, 59)
    trace = rexmit.trace(tmp_path / "out")
    assert trace.scan("connections").collect().height == 59
    assert trace.facts.failed == 1
    assert [failure.client_port for failure in trace.facts.failures] == [FAULTY]


def test_of_very_many_some_are_named(tmp_path: Path) -> None:
    named = tuple(
        Failure(100.0 + n, "2001:db8::1", 5_000 + n, "2001:db8::2", 443, "a.rs:7: a defect")
        for n in range(16)
    )
    facts = Facts(
        failed=1_000, failed_packets=20, failures=named, files=(File("-", 9, 100.0, 200.0),)
    )
    counted, *each, more = failures.warnings(facts)
    assert counted.startswith("1,000 connections were left out: their analysis failed")
    assert len(each) == 5
    assert "[2001:db8::1]:5015 to [2001:db8::2]:443" in each[-1]
    # What a pipe held is not there any more.
    assert "rexmit trace CAPTURE --filter 'host 2001:db8::1 and host" in each[-1]
    assert more == "995 more connections left out like that"
    assert not list(failures.warnings(Facts()))
    trace = made(tmp_path, [connection()], facts)
    written = io.StringIO()
    show(page_blocks(Page(trace, summary(trace), (), None)), Console(file=written, width=1_000))
    assert "995 more connections" in written.getvalue()

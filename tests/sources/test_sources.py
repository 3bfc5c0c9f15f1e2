"""Captures of object stores and web servers: the same tables as of files, whatever fails."""

from __future__ import annotations

import gzip
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal
from tests.sources.liar import lying_store
from tests.sources.servers import Web, s3_server, web_server

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.sources import Remote, find, objects, reader
from rexmit.store.trace_schema import TABLES


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three captures with losses, of one time each."""
    out = tmp_path_factory.mktemp("captures")
    rexmit.synth(mix="campus,wireless,server-farm", connections=90, seed=5, out=out / "made")
    folder = out / "day"
    folder.mkdir()
    made = sorted((out / "made").rglob("*-sender.pcapng"))[:3]
    assert len(made) == 3
    for hour, capture in enumerate(made):
        (folder / f"{hour:02}.pcapng.gz").write_bytes(gzip.compress(capture.read_bytes()))
    return folder


@pytest.fixture
def web(captures: Path) -> Iterator[Web]:
    with web_server({path.name: path.read_bytes() for path in captures.iterdir()}) as server:
        yield server


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges so small that every capture has many."""
    monkeypatch.setattr(reader, "FIRST_BYTES", 1000)
    monkeypatch.setattr(reader, "MOST_BYTES", 7000)


def _tables(trace: rexmit.Trace) -> dict[str, pl.DataFrame]:
    return {name: trace.scan(name).drop("capture", strict=False).collect() for name in TABLES}


def _assert_same(one: rexmit.Trace, other: rexmit.Trace) -> None:
    theirs = _tables(other)
    for name, rows in _tables(one).items():
        assert_frame_equal(rows, theirs[name], check_exact=True)
    assert one.facts.packets == other.facts.packets > 1000


@pytest.mark.tools
@pytest.mark.usefixtures("small")
def test_a_store_gives_the_tables_of_files(
    captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = rexmit.trace(sorted(captures.iterdir()), whatif=())
    with s3_server(captures.parent) as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        words = ["trace", "s3://day/*.pcapng.gz", "--out", str(tmp_path / "t"), "--whatif", "none"]
        told = CliRunner().invoke(app, words, catch_exceptions=False)
        assert told.exit_code == 0, told.output
        kept = rexmit.trace(tmp_path / "t")
        _assert_same(kept, files)
        assert kept.captures == [f"s3://day/{hour:02}.pcapng.gz" for hour in range(3)]
        found, _ = find(["s3://day/"])
        assert [str(capture) for capture in found] == kept.captures
        found, _ = find(["s3://day/**/0[12]*"])
        assert [str(capture) for capture in found] == kept.captures[1:]
        with pytest.raises(UserError, match=r"s3://day/\*\.erf: no object fits"):
            find(["s3://day/*.erf"])
        found, missing = find(["s3://day/00.pcapng.gz", "s3://day/07.pcapng.gz"])
        assert [str(capture) for capture in found] == kept.captures[:1]
        assert missing == ["s3://day/07.pcapng.gz: there is no such object; it is left out"]
        with pytest.raises(UserError, match=r"s3://night/.*no such bucket"):
            find(["s3://night/*"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
        objects.store.cache_clear()
        with pytest.raises(UserError, match="the store refuses") as caught:
            find(["s3://day/*"])
        assert "AWS_ACCESS_KEY_ID" in (caught.value.hint or "")
    objects.store.cache_clear()
    began = time.monotonic()
    with pytest.raises(UserError, match="s3://day/") as caught:
        find(["s3://day/*"])
    assert "is the network there" in (caught.value.hint or "")
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
def test_a_cloud_is_asked_only_where_the_user_says_so(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    objects.store.cache_clear()
    with lying_store(b"") as cloud:
        # Where a machine of a cloud would ask.
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", cloud.address)
        monkeypatch.setenv("GCE_METADATA_HOST", cloud.address.removeprefix("http://"))
        monkeypatch.setenv("AZURE_MSI_ENDPOINT", cloud.address)
        hint = {"s3": "AWS_ACCESS_KEY_ID", "gs": "GOOGLE_APPLICATION_CREDENTIALS", "az": "AZURE_"}
        for address in (f"{scheme}://day/*", f"{scheme}://day/00.pcap"):
            with pytest.raises(UserError, match=f"{scheme}://day: it is not said who asks") as said:
                find([address])
            assert f"set {hint[scheme]}" in (said.value.hint or "")
            assert "REXMIT_CLOUD_METADATA=1" in (said.value.hint or "")
        assert not cloud.asked
        if scheme == "s3":
            # The others ask by names of their own.
            monkeypatch.setenv("REXMIT_CLOUD_METADATA", "1")
            with pytest.raises(UserError, match="s3://day/"):
                find(["s3://day/*"])
            assert cloud.asked
    objects.store.cache_clear()


@pytest.mark.usefixtures("small")
def test_a_web_server_that_fails_now_and_then(captures: Path, web: Web) -> None:
    files = rexmit.trace(sorted(captures.iterdir()), whatif=())
    web.trouble = ["busy", "", "cut", "", "", "busy", "cut"]
    names = [f"{web.address}/{name}" for name in sorted(web.files)]
    _assert_same(rexmit.trace(names, whatif=()), files)
    assert not web.trouble
    with pytest.raises(UserError, match="a web server does not say which files it has"):
        find([f"{web.address}/"])
    with pytest.raises(UserError, match="there is no such object"):
        find([f"{web.address}/none.pcap"])


def test_what_is_wrong_with_one_is_a_line(captures: Path, web: Web, tmp_path: Path) -> None:
    alone = rexmit.trace(captures / "00.pcapng.gz", whatif=())
    web.files["bad.pcap"] = b"GIF89a" * 100
    half = web.files["01.pcapng.gz"]
    web.files["half.pcapng.gz"] = half[: len(half) // 2] + bytes(len(half) // 2)
    (tmp_path / "empty.pcap").touch()
    names = ["00.pcapng.gz", "bad.pcap", "gone.pcap"]
    words = [*(f"{web.address}/{name}" for name in names), str(tmp_path / "no.pcap")]
    trace = rexmit.trace(words, whatif=())
    _assert_same(trace, alone)
    gone, local, bad = trace.facts.warnings
    assert gone.endswith("gone.pcap: there is no such object; it is left out")
    assert local.endswith("no.pcap: there is no such file; it is left out")
    assert "bad.pcap: no capture of a known format" in bad
    assert bad.endswith("; it is left out")
    trace = rexmit.trace([captures / "00.pcapng.gz", f"{web.address}/half.pcapng.gz"], whatif=())
    (told,) = trace.facts.warnings
    assert "half.pcapng.gz: " in told
    assert told.endswith("; what follows it is left out")
    assert trace.facts.packets > alone.facts.packets


@pytest.mark.usefixtures("small")
def test_what_changes_while_it_is_read_is_not_read_on(web: Web) -> None:
    (capture,), _ = find([f"{web.address}/00.pcapng.gz"])
    assert isinstance(capture, Remote)
    opened = capture.open()
    assert opened.read(10) == web.files["00.pcapng.gz"][:10]
    web.files["00.pcapng.gz"] = web.files["00.pcapng.gz"][:-1] + b"x"
    with pytest.raises(OSError, match="it has changed since it was found"):
        list(iter(lambda: opened.read(1 << 20), b""))


def test_no_more_is_asked_for_than_is_read_and_held(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "FIRST_BYTES", 10_000)
    monkeypatch.setattr(reader, "MOST_BYTES", 20_000)
    name, data = "00.pcapng.gz", web.files["00.pcapng.gz"]
    opened = Remote(web.address, name, len(data), f'"{hash(data):x}"').open()
    assert opened.read(5_000) == data[:5_000]
    time.sleep(0.2)
    assert max(end for _, _, end in web.asked) <= 10_000 + 20_000 * reader.AHEAD
    assert opened.read(6_000) == data[5_000:10_000]
    rest = b"".join(iter(lambda: opened.read(1 << 20), b""))
    assert rest == data[10_000:]
    with pytest.raises(UserError, match="nothing is known of ftp://"):
        find(["ftp://host/file"])


def test_patterns_of_files(tmp_path: Path) -> None:
    for name in ("b.pcap", "a.pcap", "c.txt", "sub/d.pcap"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found, _ = find([f"{tmp_path}/*.pcap"])
    assert found == [tmp_path / "a.pcap", tmp_path / "b.pcap"]
    found, _ = find([f"{tmp_path}/**/*.pcap"])
    assert tmp_path / "sub/d.pcap" in found
    with pytest.raises(UserError, match="no file fits"):
        find([f"{tmp_path}/*.erf"])


def test_a_name_that_is_not_utf_8(captures: Path, tmp_path: Path) -> None:
    bad = tmp_path / os.fsdecode(b"bad\xff.pcapng.gz")
    shutil.copyfile(captures / "00.pcapng.gz", bad)
    for word in (bad, tmp_path / "*.gz"):
        with pytest.raises(UserError, match=r"bad\\xff.pcapng.gz: the name is not UTF-8"):
            find([word])


def test_a_name_that_looks_like_an_option(
    captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(captures / "00.pcapng.gz", "-a.pcapng.gz")
    (found,), _ = find(["./-a.pcapng.gz"])
    assert found == tmp_path / "-a.pcapng.gz"
    assert find(["-"])[0] == [Path("-")]

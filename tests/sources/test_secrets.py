"""Passwords and signatures in addresses: refused, kept nowhere."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.sources.liar import lying_store

from rexmit.addresses import shown
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.sources import find
from rexmit.sources.capture import identity

CAPTURE = Path(__file__).parents[1] / "real/captures/dcerpc.pcap"

BAD = (
    "https://me:TOPSEC@host/x.pcap",
    "https://TOPSEC@host/x.pcap",
    "https://me:TOP/TOPSEC?x#y@host/x.pcap",
    "HTTPS://me:TOPSEC@host:80/x.pcap",
    "https://host/x.pcap?X-Amz-Signature=TOPSEC",
    "https://host/x.pcap?TOPSEC",
    "https://host:8080/x.pcap?user=a@TOPSEC",
    "s3://me:TOPSEC@bucket/x.pcap",
    "s3://bucket/x.pcap?X-Amz-Signature=TOPSEC&x=y",
    "gs://bucket/x.pcap?X-Goog-Signature=TOPSEC",
    "az://container/x.pcap?sv=2024&sig=TOPSEC",
    "abfss://me:TOPSEC@account.dfs.core.windows.net/x.pcap",
)


def told(*words: str) -> str:
    """What a command says, on either output."""
    result = CliRunner().invoke(app, list(words))
    if isinstance(result.exception, UserError):
        return result.exception.text()
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.mark.parametrize(
    ("text", "as_shown"),
    [
        ("https://me:word@host:80/a@b.pcap", "https://host:80/a@b.pcap"),
        ("https://host:8080/a@b.pcap", "https://host:8080/a@b.pcap"),
        ("https://[::1]:80/a@b", "https://[::1]:80/a@b"),
        ("https://host/a?b=c", "https://host/a"),
        ("no http:/me:word@host/a", "no http:/host/a"),
        ("a https://h/x?y=1,https://u:p@h/z b", "a https://h/x,https://h/z b"),
        ("s3://bucket/0?.pcap: no object", "s3://bucket/0?.pcap: no object"),
        ("s3://bucket/x?versionId=1", "s3://bucket/x"),
        ("abfss://container@account/x", "abfss://container@account/x"),
        ("me@host: what?", "me@host: what?"),
        ("1http://u:p@h/x é.http:/u:p@h/x", "1http://h/x é.http:/h/x"),
        ("/home/me@host/x?y", "/home/me@host/x?y"),
    ],
)
def test_an_address_as_it_is_shown(text: str, as_shown: str) -> None:
    assert shown(text) == as_shown


@pytest.mark.parametrize("address", BAD)
def test_it_is_refused_and_not_repeated(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        find([address])
    assert caught.value.usage
    assert caught.value.hint
    assert "kept and shown" in caught.value.what
    out = str(tmp_path / "out")
    for words in (
        ["trace", address, "--out", out],
        ["paper", "unc-2007", address, "--out", out],
        ["trace", "--json", address, str(CAPTURE)],
        ["trace", address, "--cluster", "local:1", "--out", out],
        ["trace", str(CAPTURE), "--out", address],
        ["run", "smoke", "--engine", "model", "--out", address],
        ["report", address, "-o", out],
        ["show", address],
        ["plot", address],
        ["diff", address, address],
    ):
        said = told(*words)
        assert said
        assert "TOPSEC" not in said, words
    assert not list(tmp_path.iterdir())


def test_nothing_of_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password TOPSECPW\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("REXMIT_FOLLOW_REDIRECTS", "1")
    with lying_store(CAPTURE.read_bytes()) as store, lying_store(store.capture, "127.0.0.2") as two:
        store.elsewhere = two.address
        name = f"{store.address}/redir-host.pcap"
        out, page = tmp_path / "out", tmp_path / "page.html"
        said = told("trace", name, "--out", str(out), "--whatif", "none", "--html", str(page))
        (found,), _ = find([name])
        assert identity(found)["name"] == name
    files = [page, *(file for file in out.rglob("*") if file.is_file())]
    assert len(files) > 5
    for text in (said.encode(), *(file.read_bytes() for file in files)):
        assert b"TOPSEC" not in text
        assert b"Signature" not in text


def test_a_long_text_takes_no_time() -> None:
    for text in ("a" * 60_000, "." * 60_000, "a," * 30_000, "1a-" * 20_000):
        began_s = time.process_time()
        assert shown(f"{text} x:/y {text}") == f"{text} x:/y {text}"
        assert time.process_time() - began_s < 1

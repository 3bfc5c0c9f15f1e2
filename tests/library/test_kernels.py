"""Stacks, kernels, commands in them, and the filter on this host."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

import rexmit


def test_a_stack_and_its_settings() -> None:
    page = rexmit.stack("linux-3.10")
    assert page.name in [one.name for one in rexmit.list_stacks()]
    settings = {one.name: one for one in page.settings}
    assert settings["min_rto"].value == "200ms"
    assert settings["min_rto"].source
    with pytest.raises(rexmit.Error, match=r"there is no stack linux-3\.1"):
        rexmit.stack("linux-3.1")


def test_a_cache_with_remains_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path))
    assert rexmit.list_kernels() == []
    (tmp_path / "kernels" / "6.12.0-hz250-abc").mkdir(parents=True)
    (left,) = rexmit.list_kernels()
    assert (left.name, left.kernel, left.fault) == ("6.12.0-hz250-abc", None, "damaged")
    assert left.as_json() == {
        "name": "6.12.0-hz250-abc",
        "default": False,
        "current": False,
        "fault": "damaged",
    }


def test_a_kernel_that_cannot_be_built() -> None:
    with pytest.raises(rexmit.Error, match="HZ 77 is not possible"):
        rexmit.build_kernel(hz=77)


@pytest.mark.kernel
def test_a_command_in_a_kernel(tmp_path: Path) -> None:
    script = "uname -r; ip -o -4 addr show; echo no >&2; echo kept > $REXMIT_SCRATCH/f; exit 3"
    ended = rexmit.kernel_exec(
        ["sh", "-c", script],
        net="tlp-2013",
        settings={"network": "mobile"},
        host="h2",
        keep=tmp_path / "kept",
    )
    assert (ended.status, ended.stderr) == (3, b"no\n")
    release, *addresses = ended.stdout.decode().splitlines()
    default = next(one for one in rexmit.list_kernels() if one.default)
    assert default.kernel is not None
    assert release.startswith(default.kernel.version)
    assert any("10.0.0.2" in line for line in addresses)
    assert (tmp_path / "kept" / "f").read_text() == "kept\n"
    seen: list[bytes] = []
    ended = rexmit.kernel_exec(["echo", "a"], env={"A": "b"}, on_stdout=seen.append)
    assert (b"".join(seen), ended.stdout) == (b"a\n", b"")


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """In place of the guest's program."""
    file = folder / "rexmit-guest"
    file.write_text(f"#!{sys.executable}\nimport json, sys, time\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    monkeypatch.setattr("rexmit.library.tcpfilter.guest_binary", lambda: file)


def test_the_filter_yields_rows_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(
        tmp_path,
        monkeypatch,
        "while True: print(json.dumps({'words': sys.argv[1:]}), flush=True); time.sleep(0.01)",
    )
    rows = rexmit.tcpfilter(5, queue=7)
    words = ["tcpfilter", "5", "--mode", "sequence", "--queue", "7", "--json"]
    assert list(islice(rows, 2)) == [{"words": words}, {"words": words}]
    rows.close()
    assert next(rows, None) is None


def test_a_filter_that_cannot_listen_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "sys.exit('no NFQUEUE')")
    with pytest.raises(rexmit.Error, match="no NFQUEUE"):
        list(rexmit.tcpfilter(pattern="data 3"))

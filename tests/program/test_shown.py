"""Names that others chose: nothing of them is hidden, on a terminal, in a pipe or in a page."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from tests.program.conftest import REXMIT
from tests.show.captures import pcapng, transfer

from rexmit import outputs

BAD: Final = (
    "\x1b[31mred\x1b]8;;http:x.invalid\x07link\x9b2J\x7f\r\x08"
    "\u202egnp\u2066\u200b\u2028\u2029\ufeff\u00ad\U000e0041"
)
NAME: Final = f"è日 [red]{BAD}'"
"""A file may have it."""

FORBIDDEN: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0041]"
)

STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")


def call(*words: object, folder: Path, terminal: bool = False) -> subprocess.CompletedProcess[str]:
    """What a command says; where a terminal is forced, without the styles of Rich."""
    forced = {"FORCE_COLOR": "1", "TERM": "xterm-256color"} if terminal else {}
    done = subprocess.run(
        [*REXMIT, *map(str, words)], cwd=folder, capture_output=True, timeout=300, check=False,
        env={**os.environ, "PYTHONUTF8": "1", **forced},
    )  # fmt: skip
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err
    for text in (out, err):
        assert "\x1b[31mred" not in text
        assert "\x1b]" not in text
        plain = STYLE.sub("", text) if terminal else text
        assert not FORBIDDEN.search(plain), ascii(plain)
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def planted(data: Any) -> Any:  # noqa: ANN401 - JSON
    """Plain data with what is bad at the end of each text that is a sentence or a path."""
    if isinstance(data, dict):
        return {key: planted(value) for key, value in data.items()}
    if isinstance(data, list):
        return [planted(value) for value in data]
    free = isinstance(data, str) and (" " in data or "/" in data)
    return data + BAD if free else data


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A capture of a bad name, in a folder of one, with comments to match."""
    path = tmp_path / NAME / f"{NAME}.pcapng"
    path.parent.mkdir()
    packets = sorted(((p.ms, p, NAME) for p in transfer()), key=lambda entry: entry[0])
    pcapng(path, packets)
    return path


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_nothing_of_a_captures_name_is_hidden(
    capture: Path, tmp_path: Path, *, terminal: bool
) -> None:
    kept = capture.parent / f"kept{NAME}"
    traced = call("trace", capture, "--out", kept, folder=tmp_path, terminal=terminal)
    assert traced.returncode == 0
    assert "[red]\\u001b[31m" in traced.stdout + traced.stderr
    assert call("show", kept, folder=tmp_path, terminal=terminal).returncode == 0
    told = call("trace", capture, "--json", folder=tmp_path, terminal=terminal)
    assert NAME in texts_of(json.loads(told.stdout))
    meta = kept / "trace.json"
    meta.write_text(json.dumps(planted(json.loads(meta.read_text()))))
    for words in (("show", kept), ("show", kept, "--json"), ("trace", f"{kept}none")):
        call(*words, folder=tmp_path, terminal=terminal)
    shutil.rmtree(kept)
    kept.mkdir()
    (kept / "trace.json").write_text(BAD)
    assert call("show", kept, folder=tmp_path, terminal=terminal).returncode == 1


def test_nothing_of_a_runs_record_is_hidden(tmp_path: Path) -> None:
    run = tmp_path / NAME
    done = call("run", "smoke", "--engine", "model", "--out", run, folder=tmp_path)
    assert done.returncode == 0
    meta = run / "run.json"
    meta.write_text(json.dumps(planted(json.loads(meta.read_text()))))
    for words in (("show", run), ("show", run, "--json"), ("diff", run, run), ("plot", run)):
        for terminal in (False, True):
            call(*words, folder=tmp_path, terminal=terminal)


def test_nothing_of_a_name_is_hidden_in_a_page(capture: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert call("report", capture, "-o", page, folder=tmp_path).returncode == 0
    text = page.read_text(encoding="utf-8")
    head = text[: text.index("</head>")]
    assert not FORBIDDEN.search(head[head.index("<title>") : head.index("</title>")])
    chunks = re.findall(r'<script type="application/x-rexmit-columns"[^>]*>([^<]+)', text)
    packed = [gzip.decompress(base64.b64decode(chunk)) for chunk in chunks]
    about = [data[4 : 4 + int.from_bytes(data[:4], "little")].decode() for data in packed]
    said = "".join(texts_of(json.loads(one)) for one in about)
    assert "\\u001b[31mred" in said
    assert not FORBIDDEN.search(said.replace("\t", ""))


def texts_of(data: Any) -> str:  # noqa: ANN401 - JSON
    """All texts in plain data."""
    if isinstance(data, dict):
        return "".join(map(texts_of, data.values()))
    if isinstance(data, list):
        return "".join(map(texts_of, data))
    return data if isinstance(data, str) else ""


def test_a_command_with_a_bad_name_works_in_a_shell() -> None:
    words = ["printf", "%s|", NAME, "plain", "two words", "it's", os.fsdecode(b"\xff\xc3"), "a\nb"]
    command = outputs.shell(words)
    assert outputs.shown(command) == command
    said = subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout
    assert said == b"".join(os.fsencode(word) + b"|" for word in words[2:])
    assert outputs.shell(["a", "two words"]) == shlex.join(["a", "two words"])


def test_what_is_hidden_is_shown_as_in_json() -> None:
    for text in (NAME, "\u0000\u0085\udcff", "plain ü ñ 日本 عربى 😀 a\nb"):
        said = outputs.shown(text)
        assert json.loads(f'"{said}"', strict=False) == text
        assert not FORBIDDEN.search(said)
    assert outputs.shown("ü ñ 日本 عربى 😀\n") == "ü ñ 日本 عربى 😀\n"

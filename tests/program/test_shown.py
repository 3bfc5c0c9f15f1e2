"""Names that others chose: nothing of them is hidden, on a terminal, in a pipe or in a page.

Every command is tried with them.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl
import pytest
from tests.fuzz.test_command_line import SCENARIO, options
from tests.lab.conftest import Zygote
from tests.program.names import BAD, NAME, hold, planted, texts_of
from tests.show.captures import pcapng, transfer
from tests.show.planted import plant

from rexmit import _core
from rexmit.errors import EXIT_CANNOT_TELL
from rexmit.kernels.kernel import Kernel, save
from rexmit.store.checked import WORDS
from rexmit_validate.agree.draw import draw
from rexmit_validate.agree.folder import About, Folder


@dataclass
class Desk:
    """A folder in which all has bad names, and no kernel."""

    folder: Path
    zygote: Zygote

    def __call__(self, *words: str, styled: bool = False) -> tuple[int, str, str]:
        """The status of a command, and what it says on both outputs, but for its styles."""
        styles = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "9999"}
        env = {
            **os.environ,
            **(styles if styled else {}),
            "PYTHONUTF8": "1",
            "HOME": str(self.folder),
            "REXMIT_CACHE": str(self.folder / "cache"),
            "REXMIT_GUEST": str(self.folder / "guest"),
        }
        done = self.zygote(words, env, self.folder)
        assert "Traceback" not in done.err, done.err
        out = hold(done.out.decode(), styled=styled)
        return done.status, out, hold(done.err, styled=styled)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with closing(Zygote()) as zygote:
        yield laid(Desk(tmp_path_factory.mktemp("desk") / NAME, zygote))


def laid(desk: Desk) -> Desk:
    """With all that commands read."""
    folder = desk.folder
    folder.mkdir()
    packets = sorted(((p.ms, p, NAME) for p in transfer()), key=lambda entry: entry[0])
    pcapng(folder / f"{NAME}.pcapng", packets, NAME)
    named = re.sub(r"\b(near|a)( =)", lambda one: json.dumps(one[1] + NAME) + one[2], SCENARIO)
    for name, text in (("good", SCENARIO), ("bad", named)):
        (folder / f"{name}{NAME}.toml").write_text(text)
    made = [
        desk("trace", f"{NAME}.pcapng", "--out", f"trace{NAME}"),
        desk("run", "smoke", "--engine", "model", "--capture", "--out", f"run{NAME}"),
        desk("validate", "synth", "--mix", "campus", "--connections", "3", "--out", f"synth{NAME}"),
    ]
    assert [status for status, _, _ in made] == [0, 0, 0], made
    for name, record in (("trace", "trace.json"), ("run", "run.json"), ("synth", "truth.json")):
        file = folder / f"{name}{NAME}" / record
        file.write_text(json.dumps(planted(json.loads(file.read_text()))))
    for name in ("trace", "run"):
        for file in (folder / f"{name}{NAME}").glob("*.parquet"):
            rows = pl.read_parquet(file, glob=False)
            free = [n for n, kind in rows.schema.items() if kind == pl.String and n not in WORDS]
            plant(file.parent, file, rows.with_columns(pl.col(free) + BAD))
    kernel = folder / "cache" / "kernels" / f"kernel{NAME}"
    kernel.mkdir(parents=True)
    (kernel / "linux").touch(0o755)
    described = Kernel(
        name=NAME,
        version=NAME,
        hash=NAME,
        recipe=NAME,
        compiler=NAME,
        built=NAME,
        path=kernel / "linux",
        series="6.12",
        hz=250,
        patches=(NAME,),
        source=f"tree {NAME}",
        size=0,
        seconds=1.0,
        steps=1,
    )
    save(described, kernel)
    about = About(f"6.1.0-hz250-{NAME}", "6.1.0", 250, NAME, NAME, seed=5)
    cases = {0: draw(_core, 5, 0)}
    Folder.begin(folder / f"agree{NAME}", about, cases).add(0, {"error": NAME})
    return desk


CAPTURE, TRACE, RUN = f"{NAME}.pcapng", f"trace{NAME}", f"run{NAME}"
SYNTH, AGREE = f"synth{NAME}", f"agree{NAME}"

COMMANDS: Final[dict[str, Sequence[Sequence[str]]]] = {
    "run": [
        (f"good{NAME}.toml", "--engine", "model", "--out", f"new{NAME}"),
        (f"good{NAME}.toml", "--engine", "model", "--out", f"new{NAME}"),
        (f"good{NAME}.toml", "--engine", "model", "--out", f"json{NAME}", "--json"),
        (f"bad{NAME}.toml",),
        ("smoke", "--engine", "model", "--out", TRACE),
        ("smoke", "--kernel", NAME),
        ("smoke", "--kernel", f"kernel{NAME}"),
        ("smoke", "--engine", "model", "--stack", NAME),
        ("smoke", "--engine", "model", "--set", f"network={NAME}"),
        ("smoke", "--engine", "model", "--cluster", NAME),
        (NAME,),
        (f"{RUN}/run.json", "--engine", "model", "--out", f"again{NAME}"),
    ],
    "show": [
        *(
            (RUN, *more)
            for more in ((), ("--json",), ("--repairs",), ("--full",), ("--losses", "9"))
        ),
        *((RUN, "--flow", "0", *more) for more in ((), ("--all",), ("--json",))),
        (RUN, RUN),
        *((TRACE, *more) for more in ((), ("--json",), ("--flow", NAME), ("--at", NAME))),
        *(
            (CAPTURE, *more)
            for more in ((), ("--flow", "0"), ("--flow", "9"), ("--flow", "0", "--json"))
        ),
        *(
            (CAPTURE, "--flow", "0", "--figure", f"{NAME}.{form}")
            for form in ("svg", "xpl", "qlog")
        ),
        (NAME,),
    ],
    "plot": [
        (RUN, "--format", "png"),
        (RUN, "--json", "--format", "png", "--out", f"figures{NAME}"),
        (RUN, "--format", NAME),
        (NAME,),
    ],
    "diff": [
        *((RUN, RUN, *more) for more in ((), ("--json",), ("--all",), ("--metric", NAME))),
        *((RUN, RUN, *more) for more in (("--cell", f"network={NAME}"), ("--map", NAME))),
        *((RUN, RUN, "--packets", cell) for cell in ("0", NAME)),
        (RUN, NAME),
        *((CAPTURE, CAPTURE, *more) for more in ((), ("--map", f"host:{NAME}=a"), ("--all",))),
        (CAPTURE, NAME),
    ],
    "trace": [
        *((CAPTURE, *more) for more in ((), ("--json",), ("--by", "host"), ("--by", NAME))),
        *((CAPTURE, *more) for more in (("--host", NAME), ("--from", NAME), ("--filter", NAME))),
        *(
            (CAPTURE, *more)
            for more in (("--host", "10.9.9.9"), ("--whatif", NAME), ("--stacks", NAME))
        ),
        (CAPTURE, "--annotate", f"annotated{NAME}.pcapng"),
        (CAPTURE, CAPTURE, "--points", f"{NAME},b"),
        (CAPTURE, "--html", f"{NAME}.html"),
        (CAPTURE, "--out", TRACE),
        (CAPTURE, NAME),
        *((TRACE, *more) for more in ((), ("--json",), ("--by", "host"), ("--host", "10.0.0.1"))),
        (NAME,),
        (f"*{NAME}",),
    ],
    "watch": [
        (NAME,),
        (NAME, "--every", NAME),
        (NAME, "--rotate", NAME, "--out", f"always{NAME}"),
        ("lo", "--rotate", "1h", "--metrics", NAME, "--out", f"always{NAME}"),
    ],
    "paper tlp-2013": [
        *((RUN, *more) for more in ((), ("--json",), ("--table1",), ("--claims",))),
        (RUN, RUN),
        (RUN, "--format", "png", "--out", f"paper{NAME}"),
        (RUN, "--html", f"paper{NAME}.html"),
        (NAME,),
    ],
    "paper mptcp-2017": [(RUN,), (NAME,)],
    "paper unc-2007": [
        (CAPTURE, "--out", f"study{NAME}"),
        *((CAPTURE, *more) for more in ((), ("--json",), ("--claims",), ("--format", NAME))),
        (TRACE,),
        (NAME,),
    ],
    "report": [
        *((one, "-o", f"page{NAME}.html") for one in (CAPTURE, TRACE, RUN, AGREE, NAME)),
        (TRACE, "-o", f"page{NAME}.html", "--json"),
        *((TRACE, "--table", table) for table in ("connections", "retransmissions", NAME)),
        (TRACE, "--table", "connections", "--where", NAME),
        (TRACE, "--table", "connections", "--sort", NAME),
        (RUN, "--table", "transfers"),
    ],
    "stacks": [(NAME,), ("linux-6.12", NAME)],
    "tcpfilter": [("--pattern", NAME), (NAME,)],
    "doctor": [(NAME,), ()],
    "kernel build": [(NAME,), (".",), ("6.12", "--patch", NAME)],
    "packetdrill": [(NAME,), (CAPTURE,), (CAPTURE, "--packetdrill", NAME)],
    "kselftest": [(NAME,), ("net", "--scripts-from", NAME), ("net", "--scripts-from", CAPTURE)],
    "bisect": [
        (NAME, "--good", NAME),
        ("smoke", "--worse-than", "5%", "--good", NAME, "--tree", "."),
        ("smoke", "--worse-than", NAME, "--good", "HEAD"),
    ],
    "series": [("--commits", NAME), ("--commits", f"{NAME}..{NAME}", NAME), ("--commits", "a..b")],
    "kernel list": [(), ("--json",)],
    "kernel remove": [(NAME,), ("--objects",)],
    "kernel exec": [("--kernel", NAME, "--", "true"), ("--net", NAME, "--", "true")],
    "kernel add": [(NAME,), (CAPTURE,), (CAPTURE, "--name", NAME), (CAPTURE, "--modules", NAME)],
    "validate agree": [
        ("--kernel", NAME),
        *(("--again", AGREE, *more) for more in ((), ("--json",), ("--stack", NAME))),
        *(("--case", f"{AGREE}/{case}", "--show") for case in ("0", NAME)),
        ("--case", NAME),
    ],
    "validate truth": [("--kernel", NAME, "--out", f"truth{NAME}"), ("--kinds", NAME)],
    "validate score": [
        (SYNTH,),
        (SYNTH, "--json"),
        (SYNTH, "--parts", "--worst", "3"),
        (NAME,),
        (TRACE,),
    ],
    "validate synth": [
        ("--mix", NAME),
        ("--mix", f"{NAME}.toml"),
        ("--mix", "campus", "--connections", "2", "--out", f"new-synth{NAME}"),
        ("--mix", "campus", "--connections", "2", "--out", TRACE),
    ],
    "validate troubles": [
        ("--again", NAME),
        ("--again", f"new-synth{NAME}"),
        ("--troubles", NAME),
        ("--kernel", NAME, "--out", f"new-troubles{NAME}"),
    ],
    "validate whatif": [
        ("--stack", NAME),
        ("--setting", NAME),
        ("--stack", "linux-3.10", "--setting", "k=2", "--out", TRACE),
    ],
    "validate sensitivity": [
        (NAME,),
        ("tlp-2013-bench", "--unknowns", NAME),
        ("tlp-2013-bench", "--set", NAME),
    ],
}
"""What of theirs each command is given."""


def test_every_command_is_tried() -> None:
    assert {command for command, _ in options()} <= COMMANDS.keys()


@pytest.mark.parametrize(
    ("command", "styled"),
    [
        *((command, False) for command in COMMANDS),
        *((command, True) for command in ("run", "show", "diff", "trace", "validate score")),
    ],
)
def test_nothing_is_hidden(desk: Desk, command: str, *, styled: bool) -> None:
    for words in COMMANDS[command]:
        status, out, err = desk(*command.split(), *words, styled=styled)
        assert status in (0, 1, 2, EXIT_CANNOT_TELL), (words, err)
        assert out or err, words
        if "--json" in words and status == 0:
            json.loads(out)


def test_data_has_the_names_as_they_are(desk: Desk) -> None:
    _, out, _ = desk("trace", CAPTURE, "--json")
    assert NAME in texts_of(json.loads(out))


@pytest.mark.parametrize("about", [CAPTURE, TRACE, RUN, AGREE])
def test_nothing_is_hidden_in_a_page(desk: Desk, about: str) -> None:
    assert desk("report", about, "-o", "page.html")[0] == 0
    text = (desk.folder / "page.html").read_text(encoding="utf-8")
    hold(text[text.index("<title>") : text.index("</title>")])
    chunks = re.findall(r'<script type="application/x-rexmit-columns"[^>]*>([^<]+)', text)
    packed = [gzip.decompress(base64.b64decode(chunk)) for chunk in chunks]
    heads = [data[4 : 4 + int.from_bytes(data[:4], "little")].decode() for data in packed]
    said = hold("".join(texts_of(json.loads(head)) for head in heads))
    assert "\\u001b[31mred" in said

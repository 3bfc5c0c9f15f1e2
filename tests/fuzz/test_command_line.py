"""Odd values of every option and argument: an exit status and a message, never a traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.targets import SEEDS
from tests.lab.conftest import Done, Zygote

from rexmit.cli import app

VALUES = [
    *("", " ", "-1", "0", "1", "1e309", "nan", "-inf", "0.5", "٣"),
    *("ü€\u202e", "a\nb", "0..99999999", "%", "=", ",", "1,1", "{}", "a=b", "a:b=c", "1/1"),
    *("/dev/null", "/proc/self/mem", "missing/folder/x", ".", "run"),
]

SCENARIO = """
format = 1
seed = 1
repeat = 2
networks.near = { rate = "100Mbit", delay = "2.5ms" }
configs.a = {}
workload.segments = 10
loss.segments = "1..2"
"""

CAPTURE = str(SEEDS / "capture" / "a.pcapng")

WORDS = {
    "run": ("tiny.toml", "--engine", "model"),
    "show": ("run",),
    "plot": ("missing",),
    "diff": ("run", "run"),
    "validate agree": ("--cases", "1"),
    "validate sensitivity": ("tiny.toml",),
    "trace": (CAPTURE,),
    "watch": ("missing",),
    "paper tlp-2013": ("run",),
    "paper mptcp-2017": ("run",),
    "paper unc-2007": (CAPTURE,),
    "report": ("run",),
    "doctor": (),
    "validate score": ("run",),
    "stacks": ("linux-3.10",),
    "validate synth": ("--connections", "1"),
    "validate troubles": ("--troubles", "healthy"),
    "validate truth": ("--connections", "1"),
    "validate whatif": ("--engine", "kernel"),
    "tcpfilter": ("5",),
    "packetdrill": ("missing.pkt",),
    "bisect": ("missing.pkt", "--tree", "missing", "--good", "HEAD"),
    "series": ("--tree", "missing", "--commits", "HEAD~1..HEAD"),
    "kselftest": ("net/packetdrill", "--scripts-from", "missing"),
    "kernel build": ("9.9",),
    "kernel list": (),
    "kernel remove": ("--objects",),
    "kernel exec": ("--", "true"),
    "kernel add": ("/nowhere/bzImage",),
}
"""What follows each command where nothing else is given: little work, or none without kernels."""


def options() -> list[tuple[str, str | None]]:
    """Every command with the name of each of its options that takes a value; None: its argument."""

    def walk(group: click.Group, before: str) -> Iterator[tuple[str, str | None]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from walk(command, f"{before}{name} ")
                continue
            for parameter in command.params:
                if isinstance(parameter, click.Argument):
                    yield f"{before}{name}", None
                elif not getattr(parameter, "is_flag", False):
                    yield f"{before}{name}", parameter.opts[-1]

    return sorted(set(walk(app, "")), key=str)


@dataclass
class Desk:
    """A folder with a run in it, and no kernel and no guest program anywhere."""

    folder: Path
    zygote: Zygote

    def __call__(self, *words: str) -> Done:
        """Run rexmit there."""
        env = {
            **os.environ,
            "HOME": str(self.folder),
            "REXMIT_CACHE": str(self.folder / "cache"),
            "REXMIT_GUEST": str(self.folder / "guest"),
        }
        return self.zygote(words, env, self.folder)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """What the odd values are given to."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "tiny.toml").write_text(SCENARIO, encoding="utf-8")
    desk = Desk(folder, Zygote())
    desk("run", "tiny.toml", "--engine", "model", "--out", "run").ok()
    yield desk
    desk.zygote.close()


def test_every_command_has_words_here() -> None:
    assert {command for command, _ in options()} <= WORDS.keys()


@pytest.mark.slow
@settings(
    derandomize=True,
    database=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(chosen=st.sampled_from(options()), value=st.sampled_from(VALUES))
def test_an_odd_value_ends_in_a_message(
    desk: Desk, chosen: tuple[str, str | None], value: str
) -> None:
    command, option = chosen
    words = WORDS[command]
    given = (value, *words[1:]) if option is None else (option, value, *words)
    done = desk(*command.split(), *given)
    assert done.status in (0, 1, 2, 125), (command, given, done.status, done.err)
    assert "Traceback" not in done.err, (command, given)
    assert "panicked" not in done.err, (command, given)
    assert done.status == 0 or done.err, (command, given)

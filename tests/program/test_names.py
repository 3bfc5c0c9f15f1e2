"""What `rexmit --help` shows, and names that commands had before."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.processes import run_command

from rexmit.cli.renamed import now
from rexmit_validate.cli import app

FIRST = [
    *("run", "show", "plot", "diff", "trace", "watch", "report", "stacks", "tcpfilter"),
    *("doctor", "packetdrill", "kselftest", "bisect", "series", "kernel", "paper", "validate"),
]


def rexmit(*words: str) -> subprocess.CompletedProcess[str]:
    return run_command([sys.executable, "-m", "rexmit", *words])


def listed(text: str) -> list[str]:
    """The commands of a help page."""
    lines = text.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines if not line.startswith("   ")]


def test_help_shows_what_users_need_first() -> None:
    done = rexmit("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert listed(done.stdout) == FIRST


def test_what_judges_rexmit_is_a_group() -> None:
    done = rexmit("validate", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert listed(done.stdout) == list(app.listed)


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("trace -i lo --filter tcp", "watch lo --filter tcp"),
        ("trace --filter tcp -ilo", "watch --filter tcp lo"),
        ("trace --interface=lo", "watch lo"),
        ("trace --interface lo --json", "watch lo --json"),
        ("trace - --rotate 1h --out o", "watch - --rotate 1h --out o"),
        ("trace --rotate=1h p --out o", "watch --rotate=1h p --out o"),
        ("trace --study --claims a.pcap b", "paper unc-2007 --claims a.pcap b"),
        ("trace a.pcap -- --study", "trace a.pcap -- --study"),
        ("show runs/a --table1 --losses 3", "paper tlp-2013 runs/a --table1 --losses 3"),
        ("show runs/a runs/b --claims", "paper tlp-2013 runs/a runs/b --claims"),
        ("show runs/a", "show runs/a"),
    ],
)
def test_what_trace_and_show_did_has_commands_of_its_own(words: str, new: str) -> None:
    assert now(words.split())[2] == new.split()


def test_an_option_that_became_a_command_says_so() -> None:
    done = rexmit("trace", "-i", "nothing0")
    assert done.returncode == 2
    assert "`rexmit trace -i` is now `rexmit watch`" in done.stderr.splitlines()[0]
    assert "nothing0: there is no such interface" in done.stderr

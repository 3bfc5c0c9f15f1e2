"""What a user wants of every command: a file, the environment, options behind any command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes import run_command

import rexmit
from rexmit import configuration, outputs

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests/real/captures/http-continue.pcap"


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the file of a user is, who has a home of their own."""
    monkeypatch.delenv("REXMIT_CONFIG")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".config/rexmit/config.toml"
    path.parent.mkdir(parents=True)
    yield path
    configuration.use(configuration.Configuration())


def call(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command, of the user who is set up."""
    return run_command([sys.executable, "-m", "rexmit", *words], env={**os.environ, **environment})


def test_the_document_shows_a_file_as_it_may_be(at: Path) -> None:
    text = (ROOT / "docs/how-to/install.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(color = .*?)```", text, re.DOTALL)
    at.write_text(shown)
    assert configuration.read() == configuration.Configuration(
        at, "never", at.parents[2] / "measurements", names=False
    )


def test_the_environment_names_another_file_or_none(
    at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert configuration.read().path is None
    at.write_text('color = "always"')
    assert configuration.read().path == at
    elsewhere = at.parents[2] / "elsewhere/rexmit/config.toml"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text("names = false")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(elsewhere.parents[1]))
    assert configuration.read().path == elsewhere
    monkeypatch.setenv("REXMIT_CONFIG", "~/.config/rexmit/config.toml")
    assert configuration.read() == configuration.Configuration(at, "always")
    monkeypatch.setenv("REXMIT_CONFIG", "")
    assert configuration.read().path is None
    monkeypatch.setenv("REXMIT_CONFIG", "nowhere.toml")
    with pytest.raises(rexmit.Error, match=r"cannot read nowhere\.toml"):
        configuration.read()


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        ("\ncolour = 'never'", ":2: there is no key colour", "did you mean color?"),
        ("[trace]\nnames = true", ":1: there is no key trace", "keys: color, folder, names"),
        ("color = true", ":1: color: True is no such setting", 'give "auto", "always" or "never"'),
        ("# mine\nnames = 'no'", ":2: names: 'no' is no such setting", "give true or false"),
        ("folder = ''", ":1: folder: '' is no such setting", "give a text"),
        ("names = true\nnames", ":2: Expected '='", "no valid TOML"),
    ],
)
def test_what_is_wrong_has_its_line_and_what_to_do(
    at: Path, text: str, what: str, remedy: str
) -> None:
    at.write_text(text)
    with pytest.raises(rexmit.Error) as error:
        configuration.read()
    assert f"{at}{what}" in error.value.what
    assert remedy in str(error.value.hint)
    assert "REXMIT_CONFIG=" in str(error.value.hint)
    # A command says so; what says what is missing says it among the rest.
    assert f"{at}{what}" in call("stacks").stderr
    told = call("doctor", "settings")
    assert told.returncode == 1
    assert f"{at}{what}" in told.stdout


def test_doctor_says_which_file_was_read(at: Path) -> None:
    assert str(at) in call("doctor", "settings").stdout
    at.write_text("names = false")
    (found,) = rexmit.doctor(["settings"])
    assert (found.found, found.missing) == (str(at), False)
    assert "REXMIT_CONFIG is empty" in call("doctor", "settings", REXMIT_CONFIG="").stdout


def test_names_stay_out_wherever_a_capture_is_read(at: Path) -> None:
    words = ("report", str(CAPTURE.with_name("fragroute.pcap")), "--table", "requests")
    before = call(*words).stdout
    at.write_text("names = false")
    after = call(*words).stdout
    assert ("slashdot.org" in before, "slashdot.org" in after) == (True, False)
    assert len(before.splitlines()) == len(after.splitlines())


def test_runs_and_pages_go_into_the_folder(at: Path) -> None:
    folder = at.parents[2] / "measured"
    at.write_text('folder = "~/measured"')
    small = ("--set", "repeat=1", "--set", "loss.segments=1", "--json")
    done = call("run", "smoke", "--engine", "model", *small)
    assert Path(json.loads(done.stdout)["run"]).parent == folder, done.stderr
    assert call("report", str(CAPTURE)).stdout.startswith(f"{folder}/report.html: ")
    assert not (at.parents[2] / "runs").exists()


def test_who_imports_rexmit_reads_no_file(at: Path) -> None:
    at.write_text("nonsense")
    assert rexmit.trace(CAPTURE).names


COLORS = [
    # The command line, the environment, the file: none, or on no terminal.
    (False, {}, "auto", (False, False)),
    (False, {}, "never", (True, False)),
    (False, {}, "always", (False, True)),
    (False, {"NO_COLOR": "1"}, "always", (True, False)),
    (False, {"NO_COLOR": ""}, "always", (False, True)),
    (False, {"CLICOLOR": "0"}, "always", (True, False)),
    (False, {"CLICOLOR": "1"}, "auto", (False, False)),
    (False, {"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, "never", (False, True)),
    (False, {"CLICOLOR_FORCE": "0"}, "auto", (False, False)),
    (False, {"FORCE_COLOR": "1"}, "auto", (False, True)),
    (True, {"CLICOLOR_FORCE": "1"}, "always", (True, False)),
]


@pytest.mark.parametrize(("typed", "environment", "asked", "expected"), COLORS)
def test_colours_are_as_asked_for_last(
    monkeypatch: pytest.MonkeyPatch,
    typed: bool,
    environment: dict[str, str],
    asked: str,
    expected: tuple[bool, bool],
) -> None:
    for name in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(outputs, "without_colors", typed)
    monkeypatch.setattr(configuration, "_current", configuration.Configuration(color=asked))
    console = outputs.console()
    assert (console.no_color, console.is_terminal) == expected


@pytest.mark.parametrize("place", [0, 2])
def test_options_of_every_command_stand_before_it_or_behind(place: int) -> None:
    words = ["trace", str(CAPTURE)]
    told = call(*words[:place], "-v", *words[place:])
    assert f"rexmit: reads {CAPTURE}" in told.stderr
    assert re.search(r"took [\d.]+ s, [\d.]+ s of processor time, \d+ MB", told.stderr)
    words = ["show", str(CAPTURE)]
    styled = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    color = re.compile(r"\x1b\[[\d;]*3\d")
    assert color.search(call(*words, **styled).stdout)
    plain = call(*words[:place], "--no-color", *words[place:], **styled).stdout
    assert not color.search(plain)


def test_an_error_says_where_it_arose_for_who_asks() -> None:
    for words in (["-v", "trace", "nowhere.pcap"], ["trace", "nowhere.pcap", "--verbose"]):
        told = call(*words)
        assert told.returncode == 1
        assert "rexmit: Traceback" in told.stderr
        assert "there is no such file" in told.stderr
    assert "Traceback" not in call("trace", "nowhere.pcap").stderr


def test_quiet_says_no_more_than_is_wrong(tmp_path: Path) -> None:
    out = str(tmp_path / "annotated.pcapng")
    assert "annotated.pcapng" in call("trace", str(CAPTURE), "--annotate", out).stderr
    assert call("trace", str(CAPTURE), "--annotate", out, "-q").stderr == ""
    assert "nowhere.pcap" in call("-q", "trace", "nowhere.pcap").stderr


def test_groups_of_commands_take_them_too() -> None:
    done = call("kernel", "list", "-q", "--no-color")
    assert done.returncode == 0, done.stderr
    assert "--no-color" in call("kernel", "list", "--help").stdout

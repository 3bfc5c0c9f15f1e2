"""Signals: whatever command they come in, at whatever moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rexmit.interrupt import Interrupted, installed, nothing, spared, undo_rest, undone_by
from rexmit.store.files import whole_file

REXMIT = (sys.executable, "-m", "rexmit")
TLP = ("tlp-2013", "--engine", "model", "--set", "repeat=500")
LONG = {
    "run": ("run", *TLP, "--out", "out/run"),
    "sensitivity": (
        "validate",
        "sensitivity",
        "tlp-2013-bench",
        "--repeat",
        "500",
        "--out",
        "out/s",
    ),
    "synth": ("validate", "synth", "--mix", "campus", "--connections", "200000", "--out", "out/s"),
    "whatif": ("validate", "whatif", "--out", "out/w"),
}
"""Commands that work for a long time, in a folder of their own."""

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

PATIENCE_S = 60.0
"""For what takes a moment where nothing else goes on."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "out").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return tmp_path


def started(*words: str, before: str = "") -> subprocess.Popen[str]:
    """rexmit, started by a shell that does `before`."""
    return subprocess.Popen(
        ["sh", "-c", f'{before}\nexec "$@"', "sh", *REXMIT, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("command", LONG)
def test_a_signal_ends_a_command_that_is_at_work(
    command: str, number: signal.Signals, folder: Path
) -> None:
    with started(*LONG[command]) as program:
        until = time.monotonic() + PATIENCE_S
        while not any((folder / "out").rglob("*")) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.3)
        program.send_signal(number)
        _, said = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 128 + number, said
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith(("rexmit: stopped", "  to go on: "))
    assert not list((folder / "tmp").iterdir())
    assert not [path for path in folder.rglob("*") if path.name.endswith(".tmp")]


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_at_any_moment_of_the_start_gives_no_traceback(number: signal.Signals) -> None:
    # From when Python has come as far as this program until well into the work.
    for delay_ms in range(0, 700, 50):
        with started("run", *TLP, "--out", f"out/{delay_ms}") as program:
            until = time.monotonic() + PATIENCE_S
            while not _sees_to_signals(program.pid) and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(delay_ms / 1000)
            program.send_signal(number)
            out, said = program.communicate(timeout=PATIENCE_S)
        assert program.returncode == 128 + number, (delay_ms, said)
        assert "Traceback" not in said
        assert "Exception ignored" not in said
        assert out == ""


def _sees_to_signals(pid: int) -> bool:
    """The process has a handler for SIGHUP, which Python by itself has not."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGHUP - 1) & 1)
    return False


@pytest.mark.parametrize("command", ["run", "synth"])
def test_nohup_works(command: str) -> None:
    # What nohup(1) does; a shell does the same with INT for what it starts behind a `&`.
    with started(*LONG[command], before="trap '' HUP INT") as program:
        time.sleep(1.5)
        for _ in range(3):
            program.send_signal(signal.SIGHUP)
            program.send_signal(signal.SIGINT)
            time.sleep(0.1)
        assert program.poll() is None
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 143


DEAF = """
import hashlib, time
from rexmit import interrupt
interrupt.HEARD_S = interrupt.UNDONE_S = 0.2
interrupt.install()
def undo(): open("undone", "w").close()
with interrupt.undone_by(undo):
    print("ready", flush=True)
    {what}
"""


@pytest.mark.parametrize(
    "what",
    [
        "hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)",
        "try: time.sleep(600)\n    except BaseException: time.sleep(600)",
    ],
    ids=["native code", "an exception that is lost"],
)
def test_where_python_does_not_hear_a_signal_the_program_ends_all_the_same(
    what: str, folder: Path
) -> None:
    words = [sys.executable, "-c", DEAF.format(what=what)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        program.send_signal(signal.SIGTERM)
        _, said = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 143
    assert said == b"rexmit: stopped\n"
    assert (folder / "undone").exists()


def test_one_signal_raises_and_those_after_it_do_not() -> None:
    undone = []

    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(PATIENCE_S)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            undone.append("all of it")

    with installed(), undone_by(nothing):
        with pytest.raises(Interrupted) as stopped:
            work()
        assert stopped.value.exit_status == 143
    assert undone == ["all of it"]


class _Ends:
    """Has a destructor in which a signal comes."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)


def test_a_signal_that_comes_in_a_destructor_is_not_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    undone = []

    def work() -> None:
        try:
            one = _Ends()
            del one
            undone.append("not yet")
            time.sleep(PATIENCE_S)
        finally:
            undone.append("all of it")

    with installed(), undone_by(nothing), pytest.raises(Interrupted):
        work()
    assert undone == ["not yet", "all of it"]
    assert "Exception ignored" not in capsys.readouterr().err


def test_a_spared_signal_is_none() -> None:
    heard: list[int] = []

    def spare(number: int) -> bool:
        heard.append(number)
        return len(heard) == 1

    def interrupt_twice() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        assert heard == [signal.SIGINT]
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(PATIENCE_S)

    with installed(), undone_by(nothing), spared(spare), pytest.raises(Interrupted):
        interrupt_twice()
    assert heard == [signal.SIGINT] * 2


def test_what_was_begun_and_not_yet_entered_is_undone_at_the_end(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()

    def write() -> None:
        begun = whole_file(place / "table")
        begun.__enter__()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE_S)

    with installed():
        # The exception holds what was begun, as it does until a program ends.
        with pytest.raises(Interrupted) as stopped:
            write()
        assert stopped.value.number == signal.SIGTERM
        assert list(place.iterdir())
        undo_rest()
    assert not list(place.iterdir())


def test_where_there_is_nothing_to_undo_the_program_ends_at_once() -> None:
    code = "from rexmit import interrupt; import os, signal; interrupt.install(); {}".format(
        "os.kill(os.getpid(), signal.SIGTERM); print('went on')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, b"", b"rexmit: stopped\n")


def test_what_signals_meant_before_they_mean_again() -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    with installed():
        assert [signal.getsignal(number) for number in NUMBERS] != before
    assert [signal.getsignal(number) for number in NUMBERS] == before

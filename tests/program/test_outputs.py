"""Disks that are full, folders that are not there, outputs that cannot be written."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from tests.processes import run_command
from tests.program.conftest import REXMIT, Call
from tests.show.captures import pcapng, transfer

SMALL_RUN = ("run", "smoke", "--engine", "model", "--out", "run")
PLENTY = ("--set", "repeat=400")


@pytest.fixture
def capture(tmp_path: Path) -> str:
    path = tmp_path / "a.pcapng"
    pcapng(path, sorted(((p.ms, p, "") for p in transfer()), key=lambda entry: entry[0]))
    return str(path)


def one_line(done: subprocess.CompletedProcess[str], *said: str, status: int = 1) -> None:
    """The command failed with one clear message and left nothing behind."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("rexmit: ")]
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    for text in said:
        assert text in lines[-1], done.stderr
    assert ".tmp" not in done.stderr.rpartition("left: ")[2]


FULL = "No space left on device"


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("trace", "CAPTURE", "--out", "t"), "t"),
        (("trace", "CAPTURE", "--out", "t", "--csv"), "t"),
        (("paper", "unc-2007", "CAPTURE", "--out", "t"), "t"),
        (("validate", "synth", "--mix", "campus", "--connections", "2000", "--out", "s"), "s"),
        (SMALL_RUN, "run"),
        (("validate", "sensitivity", "tlp-2013-bench", "--repeat", "2", "--out", "s"), "s"),
        (("validate", "whatif", "--stack", "linux-3.10", "--setting", "k=2", "--out", "w"), "w"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_a_full_disk_is_one_line(
    on_full_disk: Call, capture: str, words: tuple[str, ...], where: str
) -> None:
    done = on_full_disk(*(capture if word == "CAPTURE" else word for word in words))
    one_line(done, FULL, where)


def test_a_disk_that_fills_up_during_a_run_is_one_line_and_the_run_goes_on(
    on_full_disk: Call,
) -> None:
    # Whichever cell ends first, of 250 to 620 kB, has room; all twelve have not.
    done = on_full_disk(*SMALL_RUN, *PLENTY, room="1500k")
    one_line(done, FULL, "run/")
    assert "go on: rexmit run smoke" in done.stderr


def test_captures_that_find_no_room_are_one_line_that_names_where_they_go(
    on_full_disk: Call,
) -> None:
    done = on_full_disk(*SMALL_RUN, "--capture", room="1M")
    one_line(done, FULL, "run/captures/")


def test_figures_on_a_full_disk_are_one_line(on_full_disk: Call) -> None:
    prepare = shlex.join([*REXMIT, *SMALL_RUN]) + " >&2"
    one_line(on_full_disk("plot", "run", prepare=prepare), FULL, "run/figures")
    done = on_full_disk("plot", "run", "--out", "new/p", prepare=f"{prepare}; trap 'ls >&2' EXIT")
    one_line(done, FULL, "new/p")
    assert "new" not in done.stderr.rpartition("left: ")[2].split(), "no empty folder is left"


COMMANDS = (
    ("--help",),
    ("stacks",),
    ("stacks", "linux-6.12"),
    ("stacks", "--json"),
    ("validate", "synth", "--list"),
    ("kernel", "list", "--json"),
    ("trace", "CAPTURE"),
    ("trace", "CAPTURE", "--json"),
    ("show", "CAPTURE", "--flow", "0"),
    (*SMALL_RUN, "--json"),
)


@pytest.mark.parametrize(
    ("redirection", "why"),
    [(">/dev/full", FULL), (">&-", "Bad file descriptor")],
    ids=["full", "closed"],
)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_standard_output_that_cannot_be_written_is_one_line(
    words: tuple[str, ...], redirection: str, why: str, capture: str, tmp_path: Path
) -> None:
    line = shlex.join([*REXMIT, *(capture if word == "CAPTURE" else word for word in words)])
    done = run_command(["sh", "-c", f"{line} {redirection}"], cwd=tmp_path)
    one_line(done, "standard output", why)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("diff run run --worse-than 5% --ktap >/dev/full", ("standard output", FULL)),
        ("diff run run --worse-than 5% --junit file/x", ("file/x", "Not a directory")),
        ("diff run run --worse-than 5% --html file/x", ("file/x", "Not a directory")),
        ("packetdrill no.pkt --packetdrill /bin/true --junit file/x", ("file/x",)),
        ("kselftest net/packetdrill --junit nowhere/x", ("nowhere/x", "No such file")),
        ("bisect --tree no --good a --bad b no.pkt --junit file/x", ("file/x",)),
        ("series --tree no --commits a..b --junit file/x", ("file/x",)),
        ("validate agree --junit file/x", ("file/x",)),
        ("validate agree --html file/x", ("file/x",)),
        ("kernel build no", ()),
    ],
)
def test_a_command_that_judges_cannot_tell_where_it_cannot_write(
    words: str, said: tuple[str, ...], tmp_path: Path
) -> None:
    if words.startswith("diff"):
        run_command([*REXMIT, *SMALL_RUN], cwd=tmp_path)
    (tmp_path / "file").touch()
    done = run_command(["sh", "-c", f"{shlex.join(REXMIT)} {words}"], cwd=tmp_path)
    one_line(done, *said, status=125)


def test_a_command_that_judges_cannot_tell_a_reader_that_has_gone(tmp_path: Path) -> None:
    run_command([*REXMIT, *SMALL_RUN], cwd=tmp_path)
    line = f"{shlex.join(REXMIT)} diff run run --worse-than 5% --ktap; echo $? >&2"
    done = run_command(["bash", "-c", f"({line}) > >(exec true)"], cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == "125"


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "2>&- <&-"])
def test_a_standard_error_that_cannot_be_written_ends_no_work(
    redirection: str, tmp_path: Path
) -> None:
    line = shlex.join([*REXMIT, *SMALL_RUN])
    done = subprocess.run(
        ["sh", "-c", f"{line} {redirection}"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert (tmp_path / "run" / "transfers.parquet").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "CAPTURE", "--out", "x" * 300),
        (*SMALL_RUN[:-1], "x" * 300),
        ("validate", "synth", "--mix", "campus", "--connections", "10", "--out", "x" * 300),
        ("show", "x" * 300),
        ("diff", "x" * 300, "y" * 300),
        ("plot", "x" * 300),
        ("validate", "score", "x" * 300),
    ],
    ids=lambda words: words[0],
)
def test_a_name_that_is_too_long_is_one_line(
    words: tuple[str, ...], capture: str, tmp_path: Path
) -> None:
    done = run_command(
        [*REXMIT, *(capture if word == "CAPTURE" else word for word in words)], cwd=tmp_path
    )
    one_line(done, "File name too long")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (SMALL_RUN, 1),
        (("trace", "CAPTURE"), 0),
        (("stacks",), 0),
        (("kernel", "list"), 0),
        (("show", "run"), 1),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else str(words),
)
def test_a_working_folder_that_was_removed_gives_no_traceback(
    words: tuple[str, ...], status: int, capture: str, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = shlex.join([*REXMIT, *(capture if word == "CAPTURE" else word for word in words)])
    done = run_command(["sh", "-c", f"rmdir {shlex.quote(str(gone))}; {line}"], cwd=gone)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    if status:
        one_line(done)


@pytest.mark.parametrize(
    "words",
    [
        SMALL_RUN,
        ("trace", "CAPTURE"),
        ("validate", "synth", "--mix", "campus"),
        (
            "validate",
            "agree",
        ),
        (
            "validate",
            "truth",
        ),
        (
            "validate",
            "whatif",
        ),
        ("kernel", "build"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("jobs", ["99999999999999999999", "0", "-1", "x"])
def test_an_absurd_number_of_jobs_is_wrong_usage(
    words: tuple[str, ...], jobs: str, capture: str, tmp_path: Path
) -> None:
    done = run_command(
        [*REXMIT, *(capture if word == "CAPTURE" else word for word in words), "-j", jobs],
        cwd=tmp_path,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr

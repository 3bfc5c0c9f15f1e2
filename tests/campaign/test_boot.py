"""One boot: its events, output, end, and that nothing of it stays behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.campaign.conftest import GUEST, Lab
from tests.processes import run_command

from rexmit.engines.boot import (
    BootOptions,
    Event,
    GuestBoot,
    GuestDiedError,
    GuestHungError,
    watch,
)
from rexmit.engines.command import Command, execute
from rexmit.engines.guest import programs
from rexmit.engines.shares import PrivateFolder
from rexmit.engines.tail import LineTail, LineTooLongError, Tail, last_lines
from rexmit.errors import UserError
from rexmit.guest import guest_binary

OPTIONS = BootOptions(kernel=Path("/no/kernel"), core=0, seed=0x1234)
EXEC: dict[str, Any] = {"version": 1, "exec": {"argv": ["ls"]}}


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").exists()


def share_of(boot: GuestBoot) -> Path:
    """Where the folder is that the guest was given."""
    return boot.channel.path(".").readlink()


def test_arguments_are_the_contracts() -> None:
    options = BootOptions(kernel=Path("/k"), core=3, seed=255, memory="128M")
    words = " ".join(options.arguments(Path("/s")))
    assert words == (
        "boot --kernel /k --share /s --core 3 --seed 00000000000000ff --memory 128M "
        "--share-limit 4096M --scratch-limit 64M"
    )
    assert "--core" not in BootOptions(kernel=Path("/k")).arguments(Path("/s"))


@pytest.mark.parametrize(("text", "expected"), [(b"seccomp=<on/auto/off>\n", True), (b"x", False)])
def test_a_kernel_that_knows_seccomp_is_told_to_stop_programs_by_it(
    tmp_path: Path, text: bytes, *, expected: bool
) -> None:
    kernel = tmp_path / "linux"
    kernel.write_bytes(b"\x7fELF" + text)
    assert ("--seccomp" in BootOptions(kernel=kernel).arguments(Path("/s"))) is expected


@pytest.mark.usefixtures("lab")
def test_watch_hands_over_events_and_output() -> None:
    events: list[Event] = []
    output = bytearray()
    with GuestBoot(OPTIONS, EXEC) as boot:
        share = share_of(boot)
        last = watch(boot, on_event=events.append, outputs={"stdout": output.extend})
        assert boot.clean
        assert boot.console_tail() == ["Linux version 6.12.0-fake"]
    assert last["status"] == 7
    assert [event["type"] for event in events] == ["hello", "exit"]
    assert bytes(output) == b"one\ntwo\n"
    assert not share.exists()


def test_watch_tells_of_a_death(lab: Lab) -> None:
    lab.fake(exec="die")
    output = bytearray()
    with GuestBoot(OPTIONS, EXEC) as boot, pytest.raises(GuestDiedError, match="134") as error:
        watch(boot, outputs={"stdout": output.extend})
    assert error.value.console_tail == ["Linux version 6.12.0-fake"]
    assert bytes(output) == b"one\ntwo\n"


def test_watch_ends_a_silent_guest(lab: Lab, tmp_path: Path) -> None:
    lab.fake(start="silent", log=str(tmp_path / "log"))
    with GuestBoot(OPTIONS, EXEC) as boot, pytest.raises(GuestHungError, match="booting"):
        watch(boot, hang_limit_s=2.0)
    (entry,) = lab.boots(tmp_path / "log")
    assert not alive(entry["pid"])


def test_leaving_kills_and_cleans_up(lab: Lab, tmp_path: Path) -> None:
    lab.fake(start="silent", log=str(tmp_path / "log"))
    with GuestBoot(OPTIONS, EXEC) as boot:
        while not (tmp_path / "log").exists() or not (tmp_path / "log").read_text():
            time.sleep(0.01)
        (entry,) = lab.boots(tmp_path / "log")
        assert alive(entry["pid"])
        share = share_of(boot)
    assert not alive(entry["pid"])
    assert not share.parent.exists()
    assert boot.usage is not None
    assert boot.usage.peak_memory_bytes > 1_000_000


def test_a_guest_that_cannot_start_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rexmit.engines.shares.temporary_root", lambda: tmp_path)
    with pytest.raises(OSError, match="none"):
        GuestBoot(OPTIONS, EXEC, guest=Path("/none"))
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_program_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rexmit.engines.shares.temporary_root", lambda: tmp_path)
    alive = PrivateFolder()
    leave = (
        "import os, signal; from pathlib import Path; from rexmit.engines import shares;"
        f"shares.temporary_root = lambda: Path({str(tmp_path)!r});"
        "print(shares.PrivateFolder().path, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = run_command([sys.executable, "-c", leave], timeout=30)
    left = Path(done.stdout.strip())
    assert left.parent == tmp_path
    assert left.is_dir()
    (tmp_path / "rexmit-of-others").mkdir()
    mine = PrivateFolder()
    assert not left.exists()
    assert alive.path.is_dir()
    assert (tmp_path / "rexmit-of-others").is_dir()
    for folder in (alive, mine):
        folder.remove()
        assert not folder.path.exists()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    """An open file."""
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


def test_lines_still_being_written_wait(file: int) -> None:
    tail = LineTail(file)
    assert tail.lines() == []
    os.write(file, b"one\ntw")
    assert tail.lines() == [b"one"]
    os.write(file, b"o\n")
    assert tail.lines() == [b"two"]
    assert tail.lines() == []


def test_a_line_without_an_end_is_not_read_for_ever(
    file: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rexmit.engines.tail.LONGEST_LINE", 3 << 20)
    tail = LineTail(file)
    os.write(file, b"x" * (3 << 20))
    assert tail.lines() == []
    os.write(file, b"x" * (2 << 20))
    with pytest.raises(LineTooLongError):
        tail.lines()


def test_what_was_read_takes_no_room(file: int) -> None:
    tail = Tail(file)
    piece = bytes(range(256)) * 4096
    for _ in range(20):
        os.write(file, piece)
        assert tail.read() == piece
        assert tail.read() == b""
    assert os.fstat(file).st_blocks * 512 <= 2 << 20


def test_what_is_written_meanwhile_waits(file: int) -> None:
    tail = Tail(file)
    os.write(file, bytes(3 << 20))
    read = 0
    for piece in tail.pieces():
        read += len(piece)
        os.write(file, bytes(2 << 20))
        assert read <= 3 << 20
    assert read == 3 << 20
    assert len(tail.read()) == 1 << 20


@pytest.mark.parametrize("status", [None, "x", -1, 2**70, []])
def test_a_command_without_a_status_is_a_death(lab: Lab, status: object) -> None:
    lab.fake(exec="odd", status=status)
    ignored: list[bytes] = []
    with pytest.raises(GuestDiedError, match="without a status"):
        execute(
            Command(["ls"]),
            OPTIONS,
            on_stdout=ignored.append,
            on_stderr=ignored.append,
            hang_limit_s=10,
        )


def test_last_lines_are_as_a_terminal_shows_them(file: int) -> None:
    assert last_lines(file, 3) == []
    os.write(file, b"a\r\n\rb\r\r\n\r\n\xff c \r\nd")
    assert last_lines(file, 3) == ["b", "\ufffd c", "d"]
    os.write(file, b"x" * 100_000 + b"\nend\n")
    assert last_lines(file, 1) == ["end"]


def test_where_the_guest_program_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXMIT_GUEST", str(GUEST))
    assert guest_binary() == GUEST
    monkeypatch.setenv("REXMIT_GUEST", str(tmp_path / "none"))
    with pytest.raises(UserError, match="no guest program at"):
        guest_binary()


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def which(name: str, path: str) -> str | None:
        assert "/usr/sbin" in path.split(os.pathsep)
        return f"/x/{name}" if name == "tc" else None

    monkeypatch.setattr("shutil.which", which)
    assert programs(["tc"])["nginx"] is None
    with pytest.raises(UserError, match="not installed: nginx, lynx") as error:
        programs(["tc", "nginx", "lynx"])
    assert error.value.hint == "install them: apt-get install lynx nginx-light"

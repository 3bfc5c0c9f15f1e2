"""Somebody else gives names that rexmit is about to use to links to a file that only the caller may
write, to the same file by another name, to pipes: that file stays as it was.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from tests.processes import run_command
from tests.program.conftest import REXMIT
from tests.show.captures import pcapng, transfer

import rexmit
from rexmit.errors import UserError
from rexmit.kernels import cache
from rexmit.store import files, opening
from rexmit.store.folder import RunFolder
from rexmit.tracing.journal import Journal
from rexmit.tracing.watch.pieces import opened
from rexmit_validate.agree.folder import About, Folder

PRECIOUS: Final = "precious\n"

Plant = Callable[[Path], None]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file that nobody may touch, alone in a folder."""
    path = tmp_path / "private" / "file"
    path.parent.mkdir()
    path.write_text(PRECIOUS)
    return path


@pytest.fixture(params=["link", "hard link", "dangling link"])
def plant(request: pytest.FixtureRequest, victim: Path) -> Plant:
    """Gives a name to what leads to the victim, or to a name beside it."""

    def planted(place: Path) -> None:
        if request.param == "hard link":
            place.hardlink_to(victim)
        else:
            place.symlink_to(victim if request.param == "link" else victim.with_name("new"))

    return planted


def untouched(victim: Path) -> None:
    assert victim.read_text() == PRECIOUS
    assert victim.stat().st_mode & 0o777 == 0o644
    assert list(victim.parent.iterdir()) == [victim]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder where others may write."""
    path = tmp_path / "shared"
    path.mkdir()
    path.chmod(0o1777)
    return path


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "a.pcapng"
    pcapng(path, sorted(((p.ms, p, "") for p in transfer()), key=lambda entry: entry[0]))
    return path


# What is planted before.


def foreseen(name: str) -> list[str]:
    """What a temporary file or folder for `name` could be called by who knows the process."""
    return [f".{name}.{os.getpid()}.tmp", f".{name}.tmp", f"{name}.tmp", f".{name}.new"]


def test_a_name_that_can_be_foreseen_is_not_used(place: Path, victim: Path, plant: Plant) -> None:
    for name in (*foreseen("x"), *foreseen("t")):
        plant(place / name)
    files.write_text(place / "x", "ours")
    with files.whole_folder(place / "t") as made:
        files.write_text(made / "x", "ours")
    assert (place / "x").read_text() == "ours"
    assert (place / "t" / "x").read_text() == "ours"
    untouched(victim)


def test_a_link_is_replaced_and_not_what_it_leads_to(
    place: Path, victim: Path, plant: Plant
) -> None:
    plant(place / "x")
    plant(place / "t")
    files.write_text(place / "x", "ours")
    with files.whole_folder(place / "t"):
        pass
    assert not (place / "x").is_symlink()
    assert not (place / "t").is_symlink()
    assert sorted(path.name for path in place.iterdir()) == ["t", "x"]
    untouched(victim)


COMMANDS: Final = {
    "report": ("report", "CAPTURE", "-o", "out"),
    "page": ("trace", "CAPTURE", "--html", "out"),
    "trace": ("trace", "CAPTURE", "--out", "out", "--csv"),
    "study": ("paper", "unc-2007", "CAPTURE", "--out", "out"),
    "annotated": ("trace", "CAPTURE", "--annotate", "out"),
    "figure": ("show", "CAPTURE", "--figure", "out.png"),
    "run": ("run", "smoke", "--engine", "model", "--capture", "--out", "out"),
    "corpus": ("validate", "synth", "--mix", "campus", "--connections", "5", "--out", "out"),
    "sensitivity": ("validate", "sensitivity", "tlp-2013-bench", "--repeat", "1", "--out", "out"),
    "predictions": ("validate", "whatif", "--stack", "rfc", "--setting", "k=2", "--out", "out"),
}

PLANTED: Final = """
import os, sys
victim, names, command = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
for name in names:
    os.symlink(victim, name.replace("PID", str(os.getpid())))
os.execvp(command[0], command)
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_command_writes_through_a_link(
    words: tuple[str, ...], place: Path, victim: Path, capture: Path
) -> None:
    out = "out.png" if "out.png" in words else "out"
    names = [f".{out}.PID.tmp", f".{out}.tmp", f"{out}.partial"]
    done = run_command(
        [
            *(sys.executable, "-c", PLANTED, str(victim), ",".join(names), *REXMIT),
            *(str(capture) if word == "CAPTURE" else word for word in words),
        ],
        cwd=place,
    )
    assert done.returncode == 0, done.stderr
    assert (place / out).exists()
    assert not (place / out).is_symlink()
    untouched(victim)


# Who watches the folder plants while it is written.


def test_a_folder_that_is_taken_away_is_filled_all_the_same(place: Path, victim: Path) -> None:
    with files.whole_folder(place / "t") as made:
        (seen,) = place.iterdir()
        seen.rename(place / "taken")
        seen.symlink_to(victim.parent)
        files.write_text(made / "file", "ours")
        opening.inner_folder(made / "parts")
    assert (place / "taken" / "file").read_text() == "ours"
    untouched(victim)


def test_a_folder_above_that_is_taken_away_is_written_all_the_same(
    place: Path, victim: Path
) -> None:
    above = place / "above"
    above.mkdir()
    with files.whole_file(above / "file") as file:
        above.rename(place / "taken")
        above.symlink_to(victim.parent)
        file.write(b"ours")
    assert (place / "taken" / "file").read_text() == "ours"
    untouched(victim)


# Names that stay, and folders within ours.


def begin_run(out: Path) -> None:
    with RunFolder(out).locked():
        pass


def begin_journal(out: Path) -> None:
    with Journal(out, "p", {}).open([Path(__file__)], resume=False):
        pass


def begin_agreement(out: Path) -> None:
    folder = Folder.begin(out, About("6.12", "6.12.1", 1000, "k", "g", 1), {})
    folder.add(0, {"error": "none"})


def begin_file(out: Path) -> None:
    files.write_text(out, "ours")


def begin_build(out: Path) -> None:
    with cache.building("key", waiting=lambda: None), cache.workplace():
        assert cache.root() == out


@pytest.mark.parametrize(
    ("begin", "name"),
    [
        (begin_run, "partial"),
        (begin_run, "partial/lock"),
        (begin_journal, "partial"),
        (begin_journal, "partial/parts"),
        (begin_journal, "partial/lock"),
        (begin_journal, "partial/parts/here"),
        (begin_agreement, "kernel.jsonl"),
        (begin_build, ".lock"),
        (begin_build, ".locks"),
        (begin_build, ".locks/key"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
@pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
def test_what_stays_is_what_it_was(
    begin: Callable[[Path], None],
    name: str,
    kind: str,
    place: Path,
    victim: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = place / "kernels"
    monkeypatch.setenv("REXMIT_CACHE", str(place))
    out.mkdir()
    if begin is begin_agreement:
        begin(out)
        (out / name).unlink()
    planted = out / name
    planted.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        is_folder = name.endswith(("partial", "parts", ".locks"))
        planted.symlink_to(victim.parent if is_folder else victim)
    elif kind == "hard link":
        planted.hardlink_to(victim)
    else:
        os.mkfifo(planted)
    with pytest.raises((UserError, OSError), match=r"no plain file|no folder"):
        begin(out)
    untouched(victim)


def test_a_link_that_the_user_made_is_followed(place: Path, tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (place / "runs").symlink_to(tmp_path / "large")
    begin_run(place / "runs" / "one")
    files.write_text(place / "runs" / "x", "ours")
    assert (tmp_path / "large" / "x").read_text() == "ours"
    (place / "always").symlink_to(tmp_path / "private")
    (tmp_path / "private").mkdir()
    with opened(place / "always") as pieces:
        assert pieces.next().parent == place / "always"


def of_another(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    """From here on these are of another user than the caller."""
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, 65534, 65534, follow_symlinks=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_a_link_of_another_user_is_not(
    place: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For root nor what else they arranged in their own folder."""
    link = place / "out"
    link.symlink_to(victim.parent)
    of_another(monkeypatch, link, place)
    for write, out in (
        (begin_run, link),
        (begin_run, link / "below"),
        (begin_file, link / "x"),
    ):
        with pytest.raises((UserError, OSError), match="link of another user"):
            write(out)
    untouched(victim)
    files.write_text(link, "ours")
    assert link.read_text() == "ours"
    untouched(victim)


# What is no file and not replaced.


@pytest.mark.slow
def test_a_pipe_is_written_to_and_stays(place: Path, capture: Path) -> None:
    script = f"""
        {sys.executable} -m rexmit report {capture} -o >(tail -c 8 > shell) >&2 || exit
        {sys.executable} -m rexmit report {capture} -o /dev/stdout 2>&1 | head -c 15 > stdout
        mkfifo pipe
        tail -c 8 pipe > named &
        {sys.executable} -m rexmit report {capture} -o pipe || exit
        wait
    """
    subprocess.run(["bash", "-c", script], cwd=place, check=True)
    assert Path("/dev/stdout").is_symlink()
    assert (place / "pipe").is_fifo()
    assert (place / "stdout").read_text() == "<!doctype html>"
    for name in ("shell", "named"):
        assert (place / name).read_text() == "</html>\n", name


def test_a_pipe_of_another_user_is_not(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether somebody reads it or not: it is not waited for."""
    os.mkfifo(place / "x")
    of_another(monkeypatch, place / "x")
    # What waits all the same comes to an end here, with a pipe that was read.
    reading = threading.Timer(20, lambda: (place / "x").open("rb").close())
    reading.start()
    for has_reader in (False, True):
        reader = os.open(place / "x", os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
        with pytest.raises(PermissionError, match="a pipe or a device of another user"):
            files.write_text(place / "x", "ours")
        if reader is not None:
            os.close(reader)
    waited = not reading.is_alive()
    reading.cancel()
    assert not waited


def test_the_library_does_as_the_commands_do(place: Path, victim: Path, capture: Path) -> None:
    for name in foreseen("page.html"):
        (place / name).symlink_to(victim)
    rexmit.report(capture, place / "page.html")
    untouched(victim)
